// Walkable positions of agents larger than one cell.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Maximum side of an agent, in cells.
inline constexpr int kMaxFootprint = 32;

// Calls visit(cell) for the cells covered by an agent of `side` x `side` cells at `position`.
template <typename Visitor>
void ForEachCellUnder(Cell position, int side, Visitor visit) {
  for (int y = position.y; y < position.y + side; ++y) {
    for (int x = position.x; x < position.x + side; ++x) {
      visit(Cell{x, y});
    }
  }
}

// Returns INVALID_ARGUMENT / BAD_VALUE with field "footprint" unless `footprint` is from 1 to kMaxFootprint.
absl::Status CheckFootprint(int footprint);

// Returns the cells (x, y) for which all cells from (x, y) to (x + side - 1, y + side - 1) are set and on the
// plane.
// REQUIRES: 1 <= side <= kMaxFootprint.
BitPlane Eroded(const BitPlane& cells, int side);

// Updates `eroded`, which was Eroded(cells, side) before `changes`, and returns its changes. Cost is
// proportional to the changes.
std::vector<WordChange> RepairEroded(const BitPlane& cells, int side, absl::Span<const WordChange> changes,
                                     BitPlane& eroded);

}  // namespace waystar::core
