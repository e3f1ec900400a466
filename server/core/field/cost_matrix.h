// What it costs to go from each of some cells to each of others.
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

// Of either list.
inline constexpr std::size_t kMaxMatrixSide = 1024;
// Sources times targets.
inline constexpr std::size_t kMaxMatrixEntries = 65536;

struct CostMatrixQuery {
  // From 1 to kMaxMatrixSide of each; a cell may come more than once.
  absl::Span<const Cell> sources;
  absl::Span<const Cell> targets;
  Agent agent;
};

// Computed as by ComputeWalkMatrix; the passages are the portals of the map, and the ways by other maps of
// the world and back. An entry is what FindPathThroughPortals says.
//
// Errors: INVALID_ARGUMENT / MISSING_FIELD and RESOURCE_EXHAUSTED / TOO_MANY_ITEMS with "sources" or
// "targets", the latter with "targets" for more than kMaxMatrixEntries too; OUT_OF_RANGE / OFF_MAP with
// "sources[i]" or "targets[i]"; INVALID_ARGUMENT / BAD_VALUE with "footprint"; and what ends searches early,
// see StatusOfEnd.
absl::StatusOr<CostMatrix> ComputeCostMatrix(const GridMap& map, World& world, const CostMatrixQuery& query,
                                             const Budget& budget, Scratch& scratch,
                                             FieldScratch& field_scratch);

}  // namespace waystar::core
