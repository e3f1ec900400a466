// Cost matrices on one map, on foot and through given passages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/field/field_scratch.h"
#include "server/core/field/passage_costs.h"
#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/search/agent.h"
#include "server/core/search/query.h"

namespace waystar::core {

// Up to this many pairs each get a search of their own.
inline constexpr std::size_t kFewPairs = 4;

struct WalkMatrixQuery {
  // Cells on the map.
  absl::Span<const Cell> starts;
  absl::Span<const Cell> goals;
  Agent agent;
  // They are ignored for up to kFewPairs pairs.
  absl::Span<const Passage> passages;
  // Whether a path leads from one cell to the other, and a search for it; both take passages into account.
  absl::FunctionRef<bool(Cell from, Cell to)> leads;
  absl::FunctionRef<absl::StatusOr<PathResult>(const PathQuery& query)> search;
};

struct CostMatrix {
  static constexpr double kUnreachable = -1.0;

  // Row by row, a row for each start with an entry for each goal: the cost that a path query between the
  // two finds, up to rounding below a hundred-millionth of it. It is kUnreachable where no path leads, and
  // where start or goal is blocked.
  std::vector<double> costs;
  std::uint64_t expanded = 0;
};

// Computes the matrix. Where all steps cost the same, the jump points are explored once for all starts, and
// passages are put between the walks. Where there are too many jump points, and where cells differ in cost,
// each start, or each goal if they are fewer, is flooded from, unless some pairs tell that a search for
// each takes less time. Maps too large for a flood get a search for each pair.
//
// Returns the errors of StatusOfEnd, and those of `search`; RESOURCE_EXHAUSTED / REGION_TOO_LARGE if it ran
// out of its budget.
absl::StatusOr<CostMatrix> ComputeWalkMatrix(const GridMap& map, const WalkMatrixQuery& query,
                                             const Budget& budget, FieldScratch& scratch);

}  // namespace waystar::core
