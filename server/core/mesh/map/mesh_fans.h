// Fans of a mesh: the polygons around a vertex that are connected by edges at the vertex.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/mesh_spec.h"

namespace waystar::core {

// Gives each fan its own vertex: where polygons meet only in a vertex, all fans but one get a new vertex at
// the same position. No path leads from one fan to another there, so search state of the vertex in one fan is
// not valid in the others. Costs O(corners) times the corners of a polygon.
//
// Returns INVALID_ARGUMENT / BAD_SIZE with field "vertices" if this makes more than kMaxMeshVertices, or the
// error of `stop`.
// REQUIRES: `neighbours` is the result of MatchMeshEdges for the spec.
absl::Status SplitFans(MeshSpec& spec, const std::vector<PolygonNumber>& neighbours,
                       const StopCheck* stop = nullptr);

}  // namespace waystar::core
