// Matrices of path lengths between two lists of places on a navigation mesh.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/mesh_scratch.h"
#include "server/core/search/query.h"

namespace waystar::core {

struct MeshMatrix {
  static constexpr double kUnreachable = -1.0;

  // One row per start with an entry per goal: the length that SearchMesh finds, or kUnreachable if there is
  // no path.
  std::vector<double> lengths;
  // Sums over all searches.
  SearchStatistics statistics{.algorithm = Algorithm::kPolyanya};
};

// Computes the matrix with one search per distinct unordered pair of places, since a path has the same length
// in both directions. Places in different connected parts are not searched. The budget applies to all
// searches together.
//
// Returns RESOURCE_EXHAUSTED / REGION_TOO_LARGE if the searches need more expansions or memory than allowed,
// and the errors of StatusOfEnd.
// REQUIRES: the places are ones that NavMesh::FindNearest could return.
absl::StatusOr<MeshMatrix> ComputeMeshMatrix(const NavMesh& mesh, absl::Span<const MeshPlace> starts,
                                             absl::Span<const MeshPlace> goals, const Budget& budget,
                                             MeshScratch& scratch);

}  // namespace waystar::core
