// Cost matrices on one map, on foot and through given passages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/field/jump_graph.h"
#include "server/core/grid/field/passages.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/search/agent.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Maximum number of pairs that are searched individually.
inline constexpr std::size_t kFewPairs = 4;

// Returns true if matrices on the map are computed over jump points.
inline bool MayJump(const GridMap& map) {
  return map.HasUniformCost() && map.settings().connectivity != Connectivity::kSix;
}

struct WalkMatrixQuery {
  // Cells on the map.
  absl::Span<const Cell> starts;
  absl::Span<const Cell> goals;
  Agent agent;
  // Ignored for up to kFewPairs pairs.
  absl::Span<const Passage> passages;
  // `leads` returns true if a path connects the cells, and `search` finds it; both may use passages.
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

// Returns a matrix for the query with all entries kUnreachable.
CostMatrix EmptyMatrix(const WalkMatrixQuery& query);

// These two functions fill an empty matrix and add to `expanded`.
//
// Searches pair by pair until that has cost `most_cells` flooded cells: each pair examines `doors` portals
// besides its expansions. Returns true if the matrix is filled; false if the cost or the scratch memory of a
// search does not allow it. Returns the errors of `search`.
absl::StatusOr<bool> FillByPairs(const WalkMatrixQuery& query, std::uint64_t doors, std::uint64_t most_cells,
                                 CostMatrix& matrix);
// Floods scratch.ground(), which has been read, from each start, or from each goal if there are fewer.
// Returns the errors of StatusOfEnd.
absl::Status FillByFloods(const WalkMatrixQuery& query, const Budget& budget, FieldScratch& scratch,
                          CostMatrix& matrix);

}  // namespace waystar::core
