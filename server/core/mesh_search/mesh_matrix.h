// Matrices of the lengths of paths from each of some places on a navigation mesh to each of others.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/mesh/nav_mesh.h"
#include "server/core/mesh_search/mesh_scratch.h"
#include "server/core/search/query.h"

namespace waystar::core {

struct MeshMatrix {
  static constexpr double kUnreachable = -1.0;

  // Row by row, a row for each start with an entry for each goal: the length that SearchMesh finds for the
  // two, or kUnreachable where no path leads.
  std::vector<double> lengths;
  // The sums over all searches.
  SearchStatistics statistics{.algorithm = Algorithm::kPolyanya};
};

// Computes the matrix with a search for each pair of places that are not the same two as another pair, in
// either order: the same way leads there and back, so both have the same length. No search is made for places
// in different connected parts. The budget is one for all searches together.
//
// Returns RESOURCE_EXHAUSTED / REGION_TOO_LARGE if the searches would need more expansions or memory than
// they may have, and the errors of StatusOfEnd. REQUIRES: the places are ones that NavMesh::FindNearest could
// return.
absl::StatusOr<MeshMatrix> ComputeMeshMatrix(const NavMesh& mesh, absl::Span<const MeshPlace> starts,
                                             absl::Span<const MeshPlace> goals, const Budget& budget,
                                             MeshScratch& scratch);

}  // namespace waystar::core
