// Checks of the parts of a navigation mesh.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Checks each vertex and polygon by itself, at the rounded positions. Returns the errors of NavMesh::Create.
absl::Status CheckMeshParts(const MeshSpec& spec, const StopCheck* stop);

// One side of an edge: from a corner of a polygon to the next.
struct HalfEdge {
  // Its ends, the one with the lower number first.
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  // Index of the first corner in the list of all corners.
  std::uint32_t corner = 0;
  PolygonNumber polygon = 0;
  // True if it leads from `high` to `low`.
  bool is_back = false;

  auto key() const { return std::tuple(low, high, is_back, corner); }
  bool IsAlong(const HalfEdge& other) const { return low == other.low && high == other.high; }
};

// Returns the edges of MeshPolygons, sorted by key(), or the error of `stop`. vertex_at(corner) returns the
// vertex at each corner in the list of all corners.
template <typename Polygons, typename VertexAt>
absl::StatusOr<std::vector<HalfEdge>> SortedEdges(const Polygons& polygons, std::size_t corner_count,
                                                  const VertexAt& vertex_at, const StopCheck* stop) {
  std::vector<HalfEdge> edges;
  edges.reserve(corner_count);
  std::uint32_t first = 0;
  for (std::size_t i = 0; i < polygons.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop, i));
    const std::uint32_t count = polygons[i].corner_count;
    for (std::uint32_t k = 0; k < count; ++k) {
      const std::uint32_t from = vertex_at(first + k);
      const std::uint32_t to = vertex_at(first + (k + 1 < count ? k + 1 : 0));
      edges.push_back(
          {std::min(from, to), std::max(from, to), first + k, static_cast<PolygonNumber>(i), from > to});
    }
    first += count;
  }
  WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
  std::sort(edges.begin(), edges.end(),
            [](const HalfEdge& a, const HalfEdge& b) { return a.key() < b.key(); });
  WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
  return edges;
}

// Removes the vertices that no polygon uses; the others keep their order.
void DropUnusedVertices(MeshSpec& spec);

// Returns the neighbours of the spec, derived from common edges if it has none, or the errors of
// NavMesh::Create for adjacent polygons.
// REQUIRES: CheckMeshParts holds.
absl::StatusOr<std::vector<PolygonNumber>> MatchMeshEdges(const MeshSpec& spec, const StopCheck* stop);

// Maximum depth of a dent, in units of 2^-20, of a polygon whose coordinates are at most `reach` from 0: the
// error of single-precision coordinates, with some tolerance, plus that of rounding to 2^-20.
constexpr double LoopSlack(double reach) { return reach * kFixedScale / (1 << 21) + 2.0; }

// Fault of the loop of a polygon.
enum class LoopFault : std::uint8_t {
  kNone,
  // The loop runs clockwise or has no area.
  kNotCounterclockwise,
  // A corner lies deeper inside the convex hull than `slack`, or the loop runs back or crosses itself.
  kNotConvex,
};

// REQUIRES: there are at least three points.
LoopFault FindLoopFault(absl::Span<const FixedPoint> loop, double slack);

// Gives each fan its own vertex: where polygons meet only in a vertex, all fans but one get a new vertex at
// the same position. No path leads from one fan to another there, so search state of the vertex in one fan is
// not valid in the others. Costs O(corners) times the corners of a polygon.
//
// Returns INVALID_ARGUMENT / BAD_SIZE with field "vertices" if this makes more than kMaxMeshVertices, or the
// error of `stop`.
// REQUIRES: `neighbours` is the result of MatchMeshEdges for the spec.
absl::Status SplitFans(MeshSpec& spec, const std::vector<PolygonNumber>& neighbours,
                       const StopCheck* stop = nullptr);

// Distance between two walls: more than `low` and at most `high` seen from above, and at most `height`
// vertically.
struct MeshGap {
  double low = 0.0;
  double high = 0.0;
  double height = 0.0;
};

// Returns the number of walls with such a gap between their middle and a wall of another polygon in
// approximately the opposite direction: polygons that overlap or leave a slit between them. Walls of adjacent
// polygons do not count. Costs O(log walls) per wall if few others are near; counting stops early where it
// would take seconds. Returns the error of `stop`.
absl::StatusOr<std::int64_t> CountMeshGaps(const NavMesh& mesh, const MeshGap& gap,
                                           const StopCheck* stop = nullptr);

}  // namespace waystar::core
