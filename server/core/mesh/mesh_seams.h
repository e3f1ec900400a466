// Finds what edges have in common that run along each other and have vertices of their own.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/mesh_spec.h"
#include "server/core/mesh/mesh_weld.h"
#include "server/core/mesh/vertex_tree.h"

namespace waystar::core {

// An edge of a polygon, whose loop runs counterclockwise.
struct SeamEdge {
  // Its ends, the one with the least number first.
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  // Vertices at the places where these ends were before they were joined with others.
  std::uint32_t low_place = 0;
  std::uint32_t high_place = 0;
  PolygonNumber polygon = 0;
  // True if the loop leads from `high` to `low`.
  bool is_back = false;
  // True if it has no polygon on the other side. Other edges are not split.
  bool is_open = false;
};

struct SeamSplits {
  // For each edge the vertices at which it is to be split, in no certain order. Shares are counted from
  // `low`.
  std::vector<std::vector<VertexOnEdge>> vertices;
  // WeldReport::overlaps.
  std::vector<std::pair<PolygonNumber, PolygonNumber>> overlaps;
};

// Returns where to split open edges, so that edges with polygons on opposite sides have vertices in common
// wherever they run along each other within the tolerance: at the ends of other open edges, and if
// `has_seams`, at new vertices, added to `vertices`, where a stretch ends along which their heights agree.
// Without seams nothing says what an agent climbs: there a ramp is not joined along the foot of its side.
//
// Returns TooManyWeldCorners, or the error of `stop`. It costs O(n log n) where few edges lie near each
// other. REQUIRES: tolerance.plan > 0.
absl::StatusOr<SeamSplits> SplitSeams(std::vector<WorldPoint>& vertices, const std::vector<SeamEdge>& edges,
                                      const WeldTolerance& tolerance, bool has_seams, const StopCheck* stop);

// Returns INVALID_ARGUMENT / BAD_SIZE: a polygon has more than kMaxWeldCorners corners.
absl::Status TooManyWeldCorners();

}  // namespace waystar::core
