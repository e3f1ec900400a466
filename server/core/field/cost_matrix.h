// Matrices of the costs of going from each of some cells to each of others.
#pragma once

#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/field/field_scratch.h"
#include "server/core/field/walk_matrix.h"
#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/portal/world.h"
#include "server/core/search/agent.h"
#include "server/core/search/query.h"
#include "server/core/search/scratch.h"

namespace waystar::core {

// The most entries of either list.
inline constexpr std::size_t kMaxMatrixSide = 1024;
// The most entries of the matrix: starts times goals.
inline constexpr std::size_t kMaxMatrixEntries = 65536;

// Returns RESOURCE_EXHAUSTED / TOO_MANY_ITEMS with "goals" for more than kMaxMatrixEntries.
absl::Status CheckMatrixSize(std::size_t starts, std::size_t goals);

struct CostMatrixQuery {
  // From 1 to kMaxMatrixSide of each; a cell may occur more than once.
  absl::Span<const Cell> starts;
  absl::Span<const Cell> goals;
  Agent agent;
};

// Computes the matrix as ComputeWalkMatrix does; the passages are the portals of the map, and the ways by
// other maps of the world and back. An entry is the cost that FindPathThroughPortals finds. Before the ways
// by other maps are measured, each pair is searched for as long as that takes no longer than they may. Where
// it takes less time than to measure them, and the maps together have at most kMaxFieldCells, each start, or
// each goal if they are fewer, is flooded from over all of these maps.
//
// Returns INVALID_ARGUMENT / MISSING_FIELD and RESOURCE_EXHAUSTED / TOO_MANY_ITEMS with "starts" or
// "goals", the latter with "goals" for more than kMaxMatrixEntries too; OUT_OF_RANGE / OFF_MAP with
// "starts[i]" or "goals[i]"; INVALID_ARGUMENT / BAD_VALUE with "footprint"; and the errors of StatusOfEnd.
absl::StatusOr<CostMatrix> ComputeCostMatrix(const GridMap& map, World& world, const CostMatrixQuery& query,
                                             const Budget& budget, Scratch& scratch,
                                             FieldScratch& field_scratch);

}  // namespace waystar::core
