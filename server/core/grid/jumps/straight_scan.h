// Scans along a row or column for the next cell where a jump must stop, 64 cells at a time.
//
// Block-based scanning: Harabor, Grastien, "Improving Jump Point Search" (2014).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/cells/grid_moves.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/geometry/cell.h"

namespace waystar::core {

static_assert(std::endian::native == std::endian::little, "BitsFrom reads words at any byte");

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

// Runs, scans and stops below are towards higher positions with kStep 1 and towards lower ones with -1.

// Returns the cells of word `i` at which a run stops: blocked cells, and jump points, beside which a wall
// ends so that cells are reached that no earlier diagonal leads to.
template <CornerRule kRule, int kStep>
Word RunStops(const LineBits& line, std::size_t i) {
  const auto turns = [&](const Word* side) {
    return kRule == CornerRule::kNoCornerCutting ? side[i] & ~Shifted(side, i, -kStep)
                                                 : Shifted(side, i, kStep) & ~side[i];
  };
  Word jumps = turns(line.low) | turns(line.high);
  if constexpr (kRule == CornerRule::kOneSideFree) {
    jumps &= Shifted(line.own, i, kStep);
  }
  return jumps | ~line.own[i];
}

// Returns the bits of a line from that of `position` on, towards higher positions from the lowest bit
// (kStep 1), or towards lower ones from the highest. At least 57 are of the line; any others are 0.
// REQUIRES: the position is on the line.
template <int kStep>
Word BitsFrom(const Word* line, int position) {
  const auto bit = static_cast<unsigned>(position + 1);
  const unsigned last = bit / 8;
  const unsigned first = kStep > 0 ? last : std::max(last, 7U) - 7;
  Word bits = 0;
  std::memcpy(&bits, reinterpret_cast<const char*>(line) + first, sizeof(bits));
  return kStep > 0 ? bits >> bit % 8 : bits << (kWordBits - 1 - (bit - first * 8));
}

// Returns the next position after `from` at which a run stops: a jump point or a blocked cell, possibly the
// one just outside the line.
// REQUIRES: `from` is on the line.
template <CornerRule kRule, int kStep>
int Scan(const LineBits& line, int from) {
  const auto ahead = [](Word word) { return kStep > 0 ? word >> 1 : word << 1; };
  const auto back = [](Word word) { return kStep > 0 ? word << 1 : word >> 1; };
  const auto turns = [&](const Word* side) {
    const Word bits = BitsFrom<kStep>(side, from);
    return kRule == CornerRule::kNoCornerCutting ? bits & ~back(bits) : ahead(bits) & ~bits;
  };
  const Word own = BitsFrom<kStep>(line.own, from);
  Word jumps = turns(line.low) | turns(line.high);
  if constexpr (kRule == CornerRule::kOneSideFree) {
    jumps &= ahead(own);
  }
  // All but the first bit, and those whose neighbours are not at hand.
  constexpr Word kKnown = kStep > 0 ? ~Word{0} >> 8 & ~Word{1} : ~Word{0} << 8 & ~Word{0} >> 1;
  if (const Word stops = (jumps | ~own) & kKnown; stops != 0) {
    return from + kStep * (kStep > 0 ? std::countr_zero(stops) : std::countl_zero(stops));
  }
  return NextSetBit<kStep>(static_cast<unsigned>(from + 1 + kStep),
                           [&](std::size_t i) { return RunStops<kRule, kStep>(line, i); }) -
         1;
}

// Returns true if a run from `from` ends at a jump point.
template <CornerRule kRule, int kStep>
bool FindsJump(const LineBits& line, int from) {
  return TestBit(line.own, Scan<kRule, kStep>(line, from));
}

// Visits the runs that a change beyond position `from` of a line of `length` affects. If the run from there
// finds a jump point only in `now` or only in `before`, calls visit(position, finds) for all cells whose run
// changed. Cells between two stops see the same, so one check decides for all.
template <CornerRule kRule, int kStep, typename Visitor>
void VisitRun(const LineBits& before, const LineBits& now, int length, int from, Visitor visit) {
  if (from < 0 || from >= length) {
    return;
  }
  const bool finds = FindsJump<kRule, kStep>(now, from);
  if (finds == FindsJump<kRule, kStep>(before, from)) {
    return;
  }
  for (int position = from; position >= 0 && position < length; position -= kStep) {
    visit(position, finds);
    if (TestBitOfWord(RunStops<kRule, kStep>(now, WordOf(position)), position)) {
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

// Returns the result of runs in word `i`. `beyond` is `leads` of the next word.
template <CornerRule kRule, int kStep>
WordRuns RunsInWord(const LineBits& line, std::size_t i, bool beyond) {
  const Word stops = RunStops<kRule, kStep>(line, i);
  if (stops == 0) {
    return {beyond ? ~Word{0} : 0, beyond};
  }
  const auto back = [](Word word, int distance) { return kStep > 0 ? word >> distance : word << distance; };
  constexpr int kLast = kStep > 0 ? kWordBits - 1 : 0;
  constexpr int kFirst = kWordBits - 1 - kLast;
  const Word jumps = stops & line.own[i];
  Word found = back(jumps, 1) | Word{beyond} << kLast;
  Word open = back(~stops, 1);
  for (int distance = 1; distance < kWordBits; distance *= 2) {
    found |= open & back(found, distance);
    open &= back(open, distance);
  }
  return {found & line.own[i], ((jumps | (~stops & found)) >> kFirst & 1) != 0};
}

// Fills `finds` with the cells of a line of `length` from which a run ends at a jump point.
template <CornerRule kRule, int kStep>
void MarkRunsToJumps(const LineBits& line, int length, Word* finds) {
  const auto words = static_cast<std::size_t>(WordsPerRow(length)) - 1;
  bool beyond = false;
  for (std::size_t n = 0; n < words; ++n) {
    const std::size_t i = kStep > 0 ? words - 1 - n : n;
    const WordRuns runs = RunsInWord<kRule, kStep>(line, i, beyond);
    finds[i] = runs.finds;
    beyond = runs.leads;
  }
}

inline constexpr std::array<Direction, 4> kDiagonals = {Direction::kNorthEast, Direction::kSouthEast,
                                                        Direction::kSouthWest, Direction::kNorthWest};

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
