// Finds edges that run along each other without common vertices, and where to split them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/map/mesh_weld.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// A vertex between the ends of an edge.
struct VertexOnEdge {
  // Position along the edge: 0 at the first end, 1 at the second.
  double share = 0.0;
  std::uint32_t vertex = 0;
};

// An edge of a polygon with a counterclockwise loop.
struct SeamEdge {
  // Its ends, the one with the lower number first.
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  // Vertices at the positions of these ends before they were merged with others.
  std::uint32_t low_place = 0;
  std::uint32_t high_place = 0;
  PolygonNumber polygon = 0;
  // True if the loop leads from `high` to `low`.
  bool is_back = false;
  // True if there is no polygon on the other side. Other edges are not split.
  bool is_open = false;
};

struct SeamSplits {
  // For each edge, the vertices at which to split it, in no particular order. Shares are counted from `low`.
  std::vector<std::vector<VertexOnEdge>> vertices;
  // See WeldReport::overlaps.
  std::vector<std::pair<PolygonNumber, PolygonNumber>> overlaps;
};

// Returns where to split open edges so that edges with polygons on opposite sides share vertices wherever
// they run along each other within the tolerance. Edges are split at the ends of other open edges. If
// `has_seams`, they are also split at both ends of a stretch along which their heights agree, by new vertices
// appended to `vertices`. Without seams the height that an agent can climb is unknown, and a ramp must not be
// joined along the foot of its side.
//
// Returns TooManyWeldCorners, or the error of `stop`. Costs O(n log n) if few edges are near each other.
// REQUIRES: tolerance.plan > 0.
absl::StatusOr<SeamSplits> SplitSeams(std::vector<WorldPoint>& vertices, const std::vector<SeamEdge>& edges,
                                      const WeldTolerance& tolerance, bool has_seams, const StopCheck* stop);

// Returns the error INVALID_ARGUMENT / BAD_SIZE for a polygon with more than kMaxWeldCorners corners.
absl::Status TooManyWeldCorners();

}  // namespace waystar::core
