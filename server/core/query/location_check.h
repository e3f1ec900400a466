// Checks of locations that need only the kind of the map.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/core/elements/map_kind.h"
#include "server/core/query/route_query.h"

namespace waystar::core {

// Checks that a location is set and fits a grid. Returns INVALID_ARGUMENT / MISSING_FIELD with `field`,
// BAD_VALUE with a subfield such as "start.position.x" for a coordinate that is not finite, and
// FAILED_PRECONDITION / WRONG_MAP_KIND with "start.node".
absl::Status CheckLocationOnGrid(absl::string_view field, const Location& location);
// As above for a waypoint graph, which has no cells. FindGraphPath checks the coordinates.
absl::Status CheckLocationOnGraph(absl::string_view field, const Location& location);

// As above for a navigation mesh, which has neither cells nor nodes.
absl::Status CheckLocationOnMesh(absl::string_view field, const Location& location);

// Returns INVALID_ARGUMENT / BAD_VALUE with "snap.radius" unless it is finite and above 0, and with
// "snap.height" unless it is finite and at least 0; FAILED_PRECONDITION / WRONG_MAP_KIND with "snap.height"
// if the map is not a mesh.
absl::Status CheckSnap(const std::optional<Snap>& snap, MapKind kind);

}  // namespace waystar::core
