// Encoding of the values of maps, such as obstacles and profiles.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "server/core/codec/value_reader.h"
#include "server/core/codec/value_writer.h"
#include "server/core/elements/obstacle.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/movement_profile.h"
#include "server/core/mesh/map/mesh_portal.h"
#include "server/geometry/shape.h"

namespace waystar::core {

// Readers check only the form. The caller checks that a map may have the values.

void WriteSettings(const GridSettings& settings, ValueWriter& to);
GridSettings ReadSettings(ValueReader& from);

void WriteShape(const Shape& shape, ValueWriter& to);
Shape ReadShape(ValueReader& from);

void WriteObstacle(const Obstacle& obstacle, ValueWriter& to);
Obstacle ReadObstacle(ValueReader& from);

void WritePortal(const Portal& portal, ValueWriter& to);
Portal ReadPortal(ValueReader& from);
void WriteMeshPortal(const MeshPortal& portal, ValueWriter& to);
MeshPortal ReadMeshPortal(ValueReader& from);

void WriteProfile(const NamedProfile& profile, ValueWriter& to);
NamedProfile ReadProfile(ValueReader& from);

void WriteTags(const std::vector<std::string>& tags, ValueWriter& to);
std::vector<std::string> ReadTags(ValueReader& from);

void WriteTime(absl::Time time, ValueWriter& to);
absl::Time ReadTime(ValueReader& from);

}  // namespace waystar::core
