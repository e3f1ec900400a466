// Ray casting on waypoint graphs: the first obstruction of sight between two positions.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "server/core/graph/map/sight_line.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

struct GraphRayHit {
  bool is_blocked = false;
  // Point where the ray first touches something, or its end, with the ray's height there.
  WorldPoint position;
  // Fraction of the ray's length up to there.
  double fraction = 1.0;
  // Id of the named obstacle touched there. Empty if the ray is free, touches a cell of the reference grid,
  // or leaves that grid.
  std::string obstacle;

  friend bool operator==(const GraphRayHit&, const GraphRayHit&) = default;
};

// Casts a ray between two positions, which are rounded to the nearest 2^-20 like those of nodes. It is
// blocked exactly if SightMap::IsClear returns false: obstacles and cells that are not walkable block with
// their edges and corners, and so does everything outside the reference grid. A ray that starts on an
// obstruction has fraction 0.
//
// The point of first touch is computed in floating point from exact differences, to about 2^-20 in each
// coordinate. If a ray only grazes an obstacle, it may be any point at which the two are that close. Of
// several things touched within 2^-20 of each other, the obstacle with the smallest id is reported, and a
// cell only if there is no obstacle. The result is the same on every machine and does not depend on the order
// in which obstacles were put.
//
// Costs O(vertices) per part of an obstacle near the ray, and several nanoseconds per row, and per 64 cells,
// of the grid that the ray crosses.
//
// Returns INVALID_ARGUMENT / BAD_VALUE with a field such as "from.position.x" or "to.position.z" for a
// coordinate out of range.
absl::StatusOr<GraphRayHit> CastGraphRay(const WaypointGraph& graph, const WorldPoint& from,
                                         const WorldPoint& to);

// CastGraphRay for named obstacles only, without the grid.
// REQUIRES: the positions are in range.
GraphRayHit CastRayAtObstacles(const SightMap& sight, const WorldPoint& from, const WorldPoint& to);

}  // namespace waystar::core
