// The cells that a path depends on.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/bit_plane.h"
#include "server/core/grid/cell.h"
#include "server/core/path/line_of_sight.h"

namespace waystar::core {

// Returns every cell that an agent of `footprint` x `footprint` cells covers on its way along the straight
// lines between consecutive points, and those that the rule asks about on that way: as long as the
// walkability and the costs of these stay, so do the path and its cost. The cells are those set in `flipped`,
// sorted by word index, then by row, each word once.
//
// It costs O(n log n) in the steps of the path times the footprint.
std::vector<WordChange> DependentCells(absl::Span<const Cell> points, SightRule rule, int footprint);

}  // namespace waystar::core
