// The polygons that a path leads through.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "server/core/graph/world_point.h"
#include "server/core/mesh/nav_mesh.h"

namespace waystar::core {

// Sets `corridor` to polygons that a path with these corners leads through in order, each adjoining the next
// along an edge that the path touches. The first is one of the start's polygons, and the last one of the
// goal's: see FindPolygonsAround. Integers decide. Returns false if there are none, as may be where polygons
// are dented. It costs O(corners of the polygons that the path touches). REQUIRES: consecutive corners differ
// in the plan, there is one at least, and coordinates are multiples of 2^-20.
bool FindCorridor(const NavMesh& mesh, absl::Span<const WorldPoint> corners,
                  absl::Span<const PolygonNumber> start_polygons,
                  absl::Span<const PolygonNumber> goal_polygons, std::vector<PolygonNumber>& corridor);

}  // namespace waystar::core
