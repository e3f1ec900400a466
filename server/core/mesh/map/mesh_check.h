// Validation of the parts of a navigation mesh.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Returns the errors of NavMesh::Create for single vertices and polygons. Uses the rounded positions of
// vertices.
absl::Status CheckMeshParts(const MeshSpec& spec, const StopCheck* stop);

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

}  // namespace waystar::core
