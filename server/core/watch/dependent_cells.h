// The cells that a path depends on.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/path/line_of_sight.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Returns every cell that an agent of `footprint` x `footprint` cells covers on the straight lines between
// consecutive points, and the cells that the rule inspects along them. While their walkability and costs are
// unchanged, so are the path and its cost. The cells are the bits of `flipped`; words are unique and sorted
// by word index, then row.
//
// Costs O(n log n) in the steps of the path times the footprint.
std::vector<WordChange> DependentCells(absl::Span<const Cell> points, SightRule rule, int footprint);

}  // namespace waystar::core
