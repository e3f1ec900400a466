// What it costs to go from each of some cells to each of others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/field/agent.h"
#include "server/core/field/field_scratch.h"
#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
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

struct CostMatrix {
  static constexpr double kUnreachable = -1.0;

  // Row by row, a row for each source with an entry for each target: what the path query between the two
  // says, but for rounding below a hundred-millionth of it. kUnreachable where no path leads, and where
  // source or target is blocked.
  std::vector<double> costs;
  std::uint64_t expanded = 0;
};

// Where all steps cost the same, the jump points are explored once for all sources; where there are too many
// of them, and where cells differ in cost, each source, or each target if they are fewer, is flooded
// from. Maps too large for a flood get a search for each pair.
//
// Errors: INVALID_ARGUMENT / MISSING_FIELD and RESOURCE_EXHAUSTED / TOO_MANY_ITEMS with "sources" or
// "targets", the latter with "targets" for more than kMaxMatrixEntries too; OUT_OF_RANGE / OFF_MAP with
// "sources[i]" or "targets[i]"; INVALID_ARGUMENT / BAD_VALUE with "footprint"; and what ends searches early,
// see StatusOfEnd.
absl::StatusOr<CostMatrix> ComputeCostMatrix(const GridMap& map, const CostMatrixQuery& query,
                                             const Budget& budget, Scratch& scratch,
                                             FieldScratch& field_scratch);

}  // namespace waystar::core
