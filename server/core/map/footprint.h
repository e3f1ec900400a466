// Where agents larger than a cell may stand.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/core/map/bit_plane.h"

namespace waystar::core {

// The longest side of an agent, in cells.
inline constexpr int kMaxFootprint = 32;

// INVALID_ARGUMENT / BAD_VALUE with field "footprint" unless it is from 1 to kMaxFootprint.
absl::Status CheckFootprint(int footprint);

// The cells (x, y) of which all cells from there to (x + side - 1, y + side - 1) are set and on the plane.
// REQUIRES: 1 <= side <= kMaxFootprint.
BitPlane Eroded(const BitPlane& cells, int side);

// Brings `eroded`, which was Eroded(cells, side) before `changes`, up to date and returns what that changed
// in it. Costs in proportion to the changes.
std::vector<WordChange> RepairEroded(const BitPlane& cells, int side, absl::Span<const WordChange> changes,
                                     BitPlane& eroded);

}  // namespace waystar::core
