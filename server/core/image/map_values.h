// The plain values of maps, such as obstacles and profiles, in a map image.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "server/core/grid/grid_settings.h"
#include "server/core/image/block_reader.h"
#include "server/core/image/block_writer.h"
#include "server/core/map/movement_profile.h"
#include "server/core/map/obstacle.h"
#include "server/core/map/portal.h"

namespace waystar::core {

// What is read has the right form; whoever uses it checks that the values are ones that a map can have.

void WriteSettings(const GridSettings& settings, BlockWriter& to);
GridSettings ReadSettings(BlockReader& from);

void WriteObstacle(const Obstacle& obstacle, BlockWriter& to);
Obstacle ReadObstacle(BlockReader& from);

void WritePortal(const Portal& portal, BlockWriter& to);
Portal ReadPortal(BlockReader& from);

void WriteProfile(const NamedProfile& profile, BlockWriter& to);
NamedProfile ReadProfile(BlockReader& from);

void WriteTags(const std::vector<std::string>& tags, BlockWriter& to);
std::vector<std::string> ReadTags(BlockReader& from);

void WriteTime(absl::Time time, BlockWriter& to);
absl::Time ReadTime(BlockReader& from);

}  // namespace waystar::core
