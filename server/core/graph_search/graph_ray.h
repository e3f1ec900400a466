// Ray casting on waypoint graphs: what first stands in the way of sight between two positions.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "server/core/graph/sight_map.h"
#include "server/core/graph/waypoint_graph.h"
#include "server/core/graph/world_point.h"

namespace waystar::core {

struct GraphRayHit {
  bool is_blocked = false;
  // Where the ray first touches something, or its end. The height is that of the ray there.
  WorldPoint position;
  // How far that is, as a part of the whole way.
  double fraction = 1.0;
  // The id of the named obstacle that is touched there. It is empty if the ray is free, or touches a cell of
  // the reference grid or leaves that grid.
  std::string obstacle;

  friend bool operator==(const GraphRayHit&, const GraphRayHit&) = default;
};

// Casts a ray between two positions, which are rounded to the nearest 2^-20 as those of nodes are. It is
// blocked exactly if SightMap::IsClear says so: obstacles and cells that are not walkable block with their
// edges and corners, and so does what lies off the reference grid. A ray that begins on something has the
// fraction 0.
//
// The place of the first touch is computed from exact differences with floating point: it is right to 2^-20
// or so in each coordinate. Where a ray only grazes an obstacle it may be any place at which the two are that
// near to each other. Of several things that are touched within 2^-20 of each other, the obstacle with the
// smallest id is named, and a cell only if there is none. The result is the same on every machine, and does
// not depend on the order in which obstacles were put.
//
// It costs O(vertices) for each part of an obstacle near the ray, and some nanoseconds for each row and each
// 64 cells of the grid that the ray passes.
//
// Returns INVALID_ARGUMENT / BAD_VALUE with "from.position.x", "to.position.z" and the like for a coordinate
// out of range.
absl::StatusOr<GraphRayHit> CastGraphRay(const WaypointGraph& graph, const WorldPoint& from,
                                         const WorldPoint& to);

// As CastGraphRay, for what `sight` holds but the grid: named obstacles alone. REQUIRES: the positions are in
// range.
GraphRayHit CastRayAtObstacles(const SightMap& sight, const WorldPoint& from, const WorldPoint& to);

}  // namespace waystar::core
