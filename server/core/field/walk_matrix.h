// What it costs to go from each of some cells of a map to each of others, on foot and through passages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/field/field_scratch.h"
#include "server/core/field/passages.h"
#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/search/agent.h"
#include "server/core/search/query.h"

namespace waystar::core {

// Up to so many pairs are not worth more than a search each.
inline constexpr std::size_t kFewPairs = 4;

struct WalkMatrixQuery {
  // On the map.
  absl::Span<const Cell> sources;
  absl::Span<const Cell> targets;
  Agent agent;
  // Not looked at for kFewPairs.
  absl::Span<const Passage> passages;
  // Whether a path leads from one cell to the other, and what single searches find: passages included.
  absl::FunctionRef<bool(Cell from, Cell to)> leads;
  absl::FunctionRef<absl::StatusOr<PathResult>(const PathQuery& query)> search;
};

struct CostMatrix {
  static constexpr double kUnreachable = -1.0;

  // Row by row, a row for each source with an entry for each target: what the path query between the two
  // says, but for rounding below a hundred-millionth of it. kUnreachable where no path leads, and where
  // source or target is blocked.
  std::vector<double> costs;
  std::uint64_t expanded = 0;
};

// Where all steps cost the same, the jump points are explored once for all sources, and passages are put
// between the walks. Where there are too many jump points, and where cells differ in cost, each source, or
// each target if they are fewer, is flooded from, unless some pairs tell that a search for each takes less
// time. Maps too large for a flood get a search for each pair.
//
// Errors: what ends searches early, see StatusOfEnd, and those of `search`; RESOURCE_EXHAUSTED /
// REGION_TOO_LARGE if it ran out of its budget.
absl::StatusOr<CostMatrix> ComputeWalkMatrix(const GridMap& map, const WalkMatrixQuery& query,
                                             const Budget& budget, FieldScratch& scratch);

}  // namespace waystar::core
