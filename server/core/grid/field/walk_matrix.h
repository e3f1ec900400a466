// Cost matrices on one map, on foot and through given passages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/grid/field/field_scratch.h"
#include "server/core/grid/field/passage_costs.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/search/agent.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Up to this many pairs are searched individually.
inline constexpr std::size_t kFewPairs = 4;

struct WalkMatrixQuery {
  // Cells on the map.
  absl::Span<const Cell> starts;
  absl::Span<const Cell> goals;
  Agent agent;
  // Ignored for up to kFewPairs pairs.
  absl::Span<const Passage> passages;
  // Returns true if a path leads from one cell to the other; and a search for that path. Both take passages
  // into account.
  absl::FunctionRef<bool(Cell from, Cell to)> leads;
  absl::FunctionRef<absl::StatusOr<PathResult>(const PathQuery& query)> search;
};

struct CostMatrix {
  static constexpr double kUnreachable = -1.0;

  // One row per start with an entry per goal: the cost that a path query finds, within a relative rounding
  // error of 1e-8; kUnreachable if there is no path, or if start or goal is blocked.
  std::vector<double> costs;
  std::uint64_t expanded = 0;
};

// Computes the matrix. Where all steps cost the same, jump points are explored once for all starts, and
// passages are inserted between the walks. If there are too many jump points, or costs differ, a flood runs
// from each start, or from each goal if there are fewer, unless a sample of pairs shows that one search per
// pair is faster. Maps too large for a flood get one search per pair.
//
// Returns the errors of StatusOfEnd and of `search`; RESOURCE_EXHAUSTED / REGION_TOO_LARGE if it exceeded its
// budget.
absl::StatusOr<CostMatrix> ComputeWalkMatrix(const GridMap& map, const WalkMatrixQuery& query,
                                             const Budget& budget, FieldScratch& scratch);

}  // namespace waystar::core
