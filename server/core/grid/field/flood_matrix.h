// Cost matrices by a flood from each start, or from each goal if there are fewer.
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/core/grid/field/field_scratch.h"
#include "server/core/grid/field/passage_costs.h"
#include "server/core/grid/field/walk_matrix.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar::core {

struct FloodMatrixQuery {
  // Cells of the ground.
  absl::Span<const Cell> starts;
  absl::Span<const Cell> goals;
  absl::Span<const Passage> passages;
  // Returns true if a path leads from one cell to the other; false if either is blocked.
  absl::FunctionRef<bool(Cell from, Cell to)> leads;
};

// Fills the reachable entries of a matrix over scratch.ground(), which has been read. Adds to `expanded`.
// Returns the errors of StatusOfEnd.
//
// REQUIRES: matrix.costs has an entry for each start and goal.
absl::Status FillByFloods(const FloodMatrixQuery& query, const Budget& budget, FieldScratch& scratch,
                          CostMatrix& matrix);

}  // namespace waystar::core
