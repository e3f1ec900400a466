// Fans of a mesh: the polygons around a vertex that are joined with each other by edges at the vertex.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/mesh_spec.h"

namespace waystar::core {

// Gives each fan a vertex of its own: where polygons meet in a vertex alone, all but one fan get a new vertex
// at the same place. No path leads from one fan to another there, so what is known of the vertex in one says
// nothing about the others. It costs O(corners), times the corners of a polygon.
//
// Returns INVALID_ARGUMENT / BAD_SIZE with field "vertices" if there are more than kMaxMeshVertices then, and
// the error of `stop`. REQUIRES: `neighbours` is what MatchMeshEdges returned for the spec.
absl::Status SplitFans(MeshSpec& spec, const std::vector<PolygonNumber>& neighbours,
                       const StopCheck* stop = nullptr);

}  // namespace waystar::core
