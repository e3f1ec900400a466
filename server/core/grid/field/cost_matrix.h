// Matrices of path costs between two lists of cells.
#pragma once

#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/grid/field/jump_graph.h"
#include "server/core/grid/field/walk_matrix.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/portal/grid_portal_net.h"
#include "server/core/grid/search/agent.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Maximum length of either list.
inline constexpr std::size_t kMaxMatrixSide = 1024;
// Maximum number of entries of the matrix: starts times goals.
inline constexpr std::size_t kMaxMatrixEntries = 65536;

// Returns RESOURCE_EXHAUSTED / TOO_MANY_ITEMS with "goals" for more than kMaxMatrixEntries.
absl::Status CheckMatrixSize(std::size_t starts, std::size_t goals);

struct CostMatrixQuery {
  // 1 to kMaxMatrixSide cells each; a cell may occur more than once.
  absl::Span<const Cell> starts;
  absl::Span<const Cell> goals;
  Agent agent;
};

// Computes the matrix as ComputeWalkMatrix does. The passages are the portals of the map and the round trips
// through other maps of the world. An entry is the cost that FindPathThroughPortals finds. Before the round
// trips are measured, pairs are searched one by one as long as that takes no longer than measuring. If it is
// faster than measuring and the maps together have at most kMaxFieldCells, a flood over all maps runs from
// each start, or from each goal if there are fewer.
//
// Returns INVALID_ARGUMENT / MISSING_FIELD or RESOURCE_EXHAUSTED / TOO_MANY_ITEMS with "starts" or "goals";
// the errors of CheckMatrixSize; OUT_OF_RANGE / OFF_MAP with "starts[i]" or "goals[i]"; INVALID_ARGUMENT /
// BAD_VALUE with "footprint"; and the errors of StatusOfEnd.
absl::StatusOr<CostMatrix> ComputeCostMatrix(const GridMap& map, World& world, const CostMatrixQuery& query,
                                             const Budget& budget, Scratch& scratch,
                                             FieldScratch& field_scratch);

}  // namespace waystar::core
