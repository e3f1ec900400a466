// Checks of the parts of a navigation mesh.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/graph/world_point.h"
#include "server/core/mesh/mesh_spec.h"

namespace waystar::core {

// Returns the errors of NavMesh::Create that are about a single vertex or polygon. It looks at the places
// that vertices have once they are rounded.
absl::Status CheckMeshParts(const MeshSpec& spec, const StopCheck* stop);

// Returns what MeshSpec::neighbours says, derived from common edges if the spec has none, or the errors of
// NavMesh::Create that are about polygons beside each other. REQUIRES: CheckMeshParts holds.
absl::StatusOr<std::vector<PolygonNumber>> MatchMeshEdges(const MeshSpec& spec, const StopCheck* stop);

// How deep a polygon may be dented, in units of 2^-20, whose coordinates are at most `reach` from 0: as far
// as coordinates in single precision may be off, with some room, and as rounding to 2^-20 moves them.
constexpr double LoopSlack(double reach) { return reach * kFixedScale / (1 << 21) + 2.0; }

// What is wrong with the loop of a polygon.
enum class LoopFault : std::uint8_t {
  kNone,
  // It runs clockwise, or has no area.
  kNotCounterclockwise,
  // A corner lies deeper inside of the convex hull than `slack`, or the loop runs back or crosses itself.
  kNotConvex,
};

// REQUIRES: there are at least three points.
LoopFault FindLoopFault(absl::Span<const FixedPoint> loop, double slack);

}  // namespace waystar::core
