// Legal diagonal steps of 64 cells of a row at once.
#pragma once

#include <cstddef>

#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/cells/grid_settings.h"

namespace waystar::core {

// Return word `i` of a row, shifted so that each cell's bit is that of its neighbour to the right or left.
inline Word FromRight(const Word* row, std::size_t i) { return row[i] >> 1 | row[i + 1] << (kWordBits - 1); }
inline Word FromLeft(const Word* row, std::size_t i) {
  return row[i] << 1 | (i == 0 ? 0 : row[i - 1] >> (kWordBits - 1));
}

// Returns the diagonal steps into cells of `target` that the rule allows, given where the two cells beside
// each step are walkable.
inline Word LegalDiagonals(CornerRule rule, Word target, Word one_side, Word other_side) {
  switch (rule) {
    case CornerRule::kNoCornerCutting:
      return target & one_side & other_side;
    case CornerRule::kOneSideFree:
      return target & (one_side | other_side);
    case CornerRule::kAlways:
      return target;
  }
  return 0;
}

}  // namespace waystar::core
