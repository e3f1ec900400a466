// Scans along a row or column for the next cell where a jump must stop, 64 cells at a time.
//
// Block-based scanning: Harabor, Grastien, "Improving Jump Point Search" (2014).
#pragma once

#include <array>
#include <bit>
#include <cstddef>

#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/cells/grid_moves.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// A row or column of walkable cells, with the adjacent lines of lower and higher number.
using LineBits = BitPlane::ThreeRows;

inline LineBits RowLine(const WalkCells& walk, int y) { return walk.rows().RowsAround(y); }
inline LineBits ColumnLine(const WalkCells& walk, int x) { return walk.columns().RowsAround(x); }

// Return the window around the cell at `position` of a row or column.
inline unsigned WindowInRow(const LineBits& row, int position) {
  return ThreeBits(row.low, position) | ThreeBits(row.own, position) << 3 |
         ThreeBits(row.high, position) << 6;
}
inline unsigned WindowInColumn(const LineBits& column, int position) {
  return kMirroredWindows[WindowInRow(column, position)];
}

// Returns the cells of word `i` at which a run towards higher positions stops: blocked cells, and jump
// points, beside which a wall ends so that cells are reached that no earlier diagonal leads to.
template <CornerRule kRule>
Word ForwardStops(const LineBits& line, std::size_t i) {
  const auto turns = [&](const Word* side) {
    if constexpr (kRule == CornerRule::kNoCornerCutting) {
      const Word before = side[i] << 1 | (i == 0 ? 0 : side[i - 1] >> (kWordBits - 1));
      return side[i] & ~before;
    } else {
      const Word after = side[i] >> 1 | side[i + 1] << (kWordBits - 1);
      return after & ~side[i];
    }
  };
  Word jumps = turns(line.low) | turns(line.high);
  if constexpr (kRule == CornerRule::kOneSideFree) {
    jumps &= line.own[i] >> 1 | line.own[i + 1] << (kWordBits - 1);
  }
  return jumps | ~line.own[i];
}

// ForwardStops for a run towards lower positions.
template <CornerRule kRule>
Word BackwardStops(const LineBits& line, std::size_t i) {
  const auto turns = [&](const Word* side) {
    if constexpr (kRule == CornerRule::kNoCornerCutting) {
      const Word before = side[i] >> 1 | side[i + 1] << (kWordBits - 1);
      return side[i] & ~before;
    } else {
      const Word after = side[i] << 1 | (i == 0 ? 0 : side[i - 1] >> (kWordBits - 1));
      return after & ~side[i];
    }
  };
  Word jumps = turns(line.low) | turns(line.high);
  if constexpr (kRule == CornerRule::kOneSideFree) {
    jumps &= line.own[i] << 1 | (i == 0 ? 0 : line.own[i - 1] >> (kWordBits - 1));
  }
  return jumps | ~line.own[i];
}

// Return the first position after `from`, or before it, at which a run stops: a jump point or a blocked cell,
// possibly the one just outside the line.
template <CornerRule kRule>
int ScanForward(const LineBits& line, int from) {
  const auto first_bit = static_cast<unsigned>(from) + 2;
  std::size_t i = first_bit / kWordBits;
  Word stops = ForwardStops<kRule>(line, i) & ~Word{0} << (first_bit % kWordBits);
  while (stops == 0) {
    stops = ForwardStops<kRule>(line, ++i);
  }
  return static_cast<int>(i) * kWordBits + std::countr_zero(stops) - 1;
}

template <CornerRule kRule>
int ScanBackward(const LineBits& line, int from) {
  const auto first_bit = static_cast<unsigned>(from);
  std::size_t i = first_bit / kWordBits;
  Word stops = BackwardStops<kRule>(line, i) & ~Word{0} >> (kWordBits - 1 - first_bit % kWordBits);
  while (stops == 0) {
    stops = BackwardStops<kRule>(line, --i);
  }
  return static_cast<int>(i) * kWordBits + (kWordBits - 1 - std::countl_zero(stops)) - 1;
}

// Returns true if a run from `from` towards higher (kStep 1) or lower (kStep -1) positions ends at a jump
// point.
template <CornerRule kRule, int kStep>
bool FindsJump(const LineBits& line, int from) {
  return TestBit(line.own, kStep > 0 ? ScanForward<kRule>(line, from) : ScanBackward<kRule>(line, from));
}

// Returns true if a run that reaches `position` stops there.
template <CornerRule kRule, int kStep>
bool IsStop(const LineBits& line, int position) {
  const auto bit = static_cast<unsigned>(position) + 1;
  const Word stops =
      kStep > 0 ? ForwardStops<kRule>(line, bit / kWordBits) : BackwardStops<kRule>(line, bit / kWordBits);
  return (stops >> (bit % kWordBits) & 1U) != 0;
}

// Visits the runs towards higher positions that a change beyond position `from` of a line affects. If the run
// from there finds a jump point only in `now` or only in `before`, calls visit(position, finds) for all cells
// whose run changed. Cells between two stops see the same, so one check decides for all.
template <CornerRule kRule, typename Visitor>
void VisitForwardRun(const LineBits& before, const LineBits& now, int from, Visitor visit) {
  if (from < 0) {
    return;
  }
  const bool finds = FindsJump<kRule, 1>(now, from);
  if (finds == FindsJump<kRule, 1>(before, from)) {
    return;
  }
  for (int position = from; position >= 0; --position) {
    visit(position, finds);
    if (IsStop<kRule, 1>(now, position)) {
      break;
    }
  }
}

// VisitForwardRun for a change before position `from` of a line of `length` and runs towards lower positions.
template <CornerRule kRule, typename Visitor>
void VisitBackwardRun(const LineBits& before, const LineBits& now, int length, int from, Visitor visit) {
  if (from >= length) {
    return;
  }
  const bool finds = FindsJump<kRule, -1>(now, from);
  if (finds == FindsJump<kRule, -1>(before, from)) {
    return;
  }
  for (int position = from; position < length; ++position) {
    visit(position, finds);
    if (IsStop<kRule, -1>(now, position)) {
      break;
    }
  }
}

// Result of the runs from the cells of one word.
struct WordRuns {
  // Cells from which a run ends at a jump point.
  Word finds = 0;
  // True if a run that enters from the previous word ends at a jump point.
  bool leads = false;
};

// Returns the result of runs towards higher positions in word `i`. `beyond` is `leads` of the next word.
template <CornerRule kRule>
WordRuns ForwardRuns(const LineBits& line, std::size_t i, bool beyond) {
  const Word stops = ForwardStops<kRule>(line, i);
  if (stops == 0) {
    return {beyond ? ~Word{0} : 0, beyond};
  }
  const Word jumps = stops & line.own[i];
  Word found = jumps >> 1 | Word{beyond} << (kWordBits - 1);
  Word open = ~stops >> 1;
  for (int distance = 1; distance < kWordBits; distance *= 2) {
    found |= open & found >> distance;
    open &= open >> distance;
  }
  return {found & line.own[i], ((jumps | (~stops & found)) & 1) != 0};
}

// ForwardRuns towards lower positions.
template <CornerRule kRule>
WordRuns BackwardRuns(const LineBits& line, std::size_t i, bool beyond) {
  const Word stops = BackwardStops<kRule>(line, i);
  if (stops == 0) {
    return {beyond ? ~Word{0} : 0, beyond};
  }
  const Word jumps = stops & line.own[i];
  Word found = jumps << 1 | Word{beyond};
  Word open = ~stops << 1;
  for (int distance = 1; distance < kWordBits; distance *= 2) {
    found |= open & found << distance;
    open &= open << distance;
  }
  return {found & line.own[i], ((jumps | (~stops & found)) >> (kWordBits - 1)) != 0};
}

// Fills `forward` and `backward` with the cells of a line of `length` from which a run in that direction ends
// at a jump point. Calls note_forward(i) and note_backward(i) for each word after whose end a run finds a
// jump point.
template <CornerRule kRule, typename ForwardNote, typename BackwardNote>
void MarkRunsToJumps(const LineBits& line, int length, Word* forward, Word* backward,
                     ForwardNote note_forward, BackwardNote note_backward) {
  const auto words = static_cast<std::size_t>(WordsPerRow(length)) - 1;
  bool beyond = false;
  for (std::size_t i = words; i-- > 0;) {
    if (beyond) {
      note_forward(i);
    }
    const WordRuns runs = ForwardRuns<kRule>(line, i, beyond);
    forward[i] = runs.finds;
    beyond = runs.leads;
  }
  beyond = false;
  for (std::size_t i = 0; i < words; ++i) {
    if (beyond) {
      note_backward(i);
    }
    const WordRuns runs = BackwardRuns<kRule>(line, i, beyond);
    backward[i] = runs.finds;
    beyond = runs.leads;
  }
}

template <CornerRule kRule>
void MarkRunsToJumps(const LineBits& line, int length, Word* forward, Word* backward) {
  const auto ignore = [](std::size_t) {};
  MarkRunsToJumps<kRule>(line, length, forward, backward, ignore, ignore);
}

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
