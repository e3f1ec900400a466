// Stop rules from which the bits of DiagonalJumpIndex are computed.
#pragma once

#include <array>
#include <cstddef>

#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/cells/corner_rule.h"
#include "server/core/grid/cells/grid_moves.h"
#include "server/core/grid/jumps/straight_scan.h"
#include "server/geometry/cell.h"

namespace waystar::core {

inline constexpr std::array<Direction, 4> kDiagonals = {Direction::kNorthEast, Direction::kSouthEast,
                                                        Direction::kSouthWest, Direction::kNorthWest};

// Returns word i of a row, shifted so that each bit is that of the cell `offset`, from -1 to 1, further on.
inline Word Shifted(const Word* row, std::size_t i, int offset) {
  if (offset > 0) {
    return row[i] >> 1 | row[i + 1] << (kWordBits - 1);
  }
  if (offset < 0) {
    return row[i] << 1 | (i == 0 ? 0 : row[i - 1] >> (kWordBits - 1));
  }
  return row[i];
}

// Returns, for word i of a row, the cells where a jump stops because of its neighbours: walls and forced
// neighbours. A step of the jump goes by `along` in the row and by `aside` to an adjacent row. Columns work
// the same way.
template <CornerRule kRule>
Word StopsNearby(const LineBits& line, int along, int aside, std::size_t i) {
  const Word* own = line.own;
  const Word* ahead = aside > 0 ? line.high : line.low;
  const Word* behind = aside > 0 ? line.low : line.high;
  const Word next_beside = Shifted(own, i, along);
  const Word next_ahead = Shifted(ahead, i, along);
  switch (kRule) {
    case CornerRule::kNoCornerCutting:
      return ~(own[i] & next_ahead & next_beside & ahead[i]);
    case CornerRule::kOneSideFree:
      return ~(own[i] & next_ahead & (next_beside | ahead[i])) |
             (~Shifted(own, i, -along) & Shifted(ahead, i, -along) & ahead[i]) |
             (~behind[i] & Shifted(behind, i, along) & next_beside);
    case CornerRule::kAlways:
      return ~(own[i] & next_ahead) | (~Shifted(own, i, -along) & Shifted(ahead, i, -along)) |
             (~behind[i] & Shifted(behind, i, along));
  }
}

// Calls visit with the rule as a compile-time constant.
template <typename Visitor>
auto WithRule(CornerRule rule, Visitor visit) {
  switch (rule) {
    case CornerRule::kNoCornerCutting:
      return visit.template operator()<CornerRule::kNoCornerCutting>();
    case CornerRule::kOneSideFree:
      return visit.template operator()<CornerRule::kOneSideFree>();
    case CornerRule::kAlways:
      return visit.template operator()<CornerRule::kAlways>();
  }
  return visit.template operator()<CornerRule::kNoCornerCutting>();
}

}  // namespace waystar::core
