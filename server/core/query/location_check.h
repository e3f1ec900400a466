// Checks of locations that need no map but its kind.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/core/map/map_kind.h"
#include "server/core/query/route_query.h"

namespace waystar::core {

// Checks that a location is given, and fits a grid. Returns INVALID_ARGUMENT / MISSING_FIELD with `field`,
// BAD_VALUE with a part of it such as "start.position.x" for a coordinate that is not finite, and
// FAILED_PRECONDITION / WRONG_MAP_KIND with "start.node".
absl::Status CheckLocationOnGrid(absl::string_view field, const Location& location);
// The same on a waypoint graph, which has no cells. Coordinates are for FindGraphPath to check.
absl::Status CheckLocationOnGraph(absl::string_view field, const Location& location);

// The same on a navigation mesh, which has neither cells nor nodes.
absl::Status CheckLocationOnMesh(absl::string_view field, const Location& location);

// Returns INVALID_ARGUMENT / BAD_VALUE with "snap.radius" unless that is a finite number above 0, and with
// "snap.height" unless that is one of 0 or more; FAILED_PRECONDITION / WRONG_MAP_KIND for a height on a map
// that is no mesh.
absl::Status CheckSnap(const std::optional<Snap>& snap, MapKind kind);

}  // namespace waystar::core
