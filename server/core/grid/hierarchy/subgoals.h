// Subgoals: the cells at which shortest paths turn.
//
// Uras, Koenig, Hernandez, "Subgoal Graphs for Optimal Pathfinding in Eight-Neighbor Grids" (2013).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Number of a subgoal, from 0 in row-major order.
using SubgoalId = std::uint32_t;
inline constexpr SubgoalId kNoSubgoal = std::numeric_limits<SubgoalId>::max();

// Subgoals of a grid under CornerRule::kNoCornerCutting: walkable cells diagonally adjacent to a blocked
// cell, where both cells adjacent to the two are walkable.
//
// Two cells are neighbours if all cells between them (the parallelogram of the cheapest paths over open
// ground) are walkable, and none except the two is a subgoal. Between neighbours every order of the diagonal
// and straight steps is legal. If there is a path, a cheapest one leads from the start over subgoals to the
// goal so that consecutive cells are neighbours, or start and goal see each other over such a parallelogram.
// This holds for every diagonal cost from 1 to 2.
//
// Takes half a byte per cell. Keeps no reference to the grid.
//
// Thread safety: immutable.
class Subgoals {
 public:
  explicit Subgoals(const WalkCells& walk);

  SubgoalId count() const { return count_; }

  // Returns the subgoal at a cell, or kNoSubgoal.
  // REQUIRES: the cell is on the map.
  SubgoalId At(Cell cell) const {
    const Marks& marks = marks_[WordOf(cell)];
    const auto bit = static_cast<unsigned>(cell.x + 1) % kWordBits;
    if ((marks.subgoals >> bit & 1U) == 0) {
      return kNoSubgoal;
    }
    return marks.before + static_cast<SubgoalId>(std::popcount(marks.subgoals & ((Word{1} << bit) - 1)));
  }

  // Calls visit(cell) for every subgoal, in order.
  template <typename Visitor>
  void ForEach(Visitor visit) const {
    for (int y = 0; y < height_; ++y) {
      const Marks* row = marks_.data() + RowAt(y);
      for (std::size_t i = 0; i < row_words_; ++i) {
        for (Word bits = row[i].subgoals; bits != 0; bits &= bits - 1) {
          visit(Cell{static_cast<int>(i) * kWordBits + std::countr_zero(bits) - 1, y});
        }
      }
    }
  }

  // Calls visit(cell) for each subgoal that is a neighbour of `from`.
  // REQUIRES: `from` is walkable.
  template <typename Visitor>
  void ForEachNeighbour(Cell from, Visitor visit) const {
    const int east = VisitStraight<true, 1>(from, visit);
    const int west = VisitStraight<true, -1>(from, visit);
    const int south = VisitStraight<false, 1>(from, visit);
    const int north = VisitStraight<false, -1>(from, visit);
    VisitQuadrant<1, 1>(from, east, south, visit);
    VisitQuadrant<1, -1>(from, east, north, visit);
    VisitQuadrant<-1, 1>(from, west, south, visit);
    VisitQuadrant<-1, -1>(from, west, north, visit);
  }

  // Returns the bytes held by the subgoals of a grid of that size.
  static std::size_t BytesFor(int width, int height);
  std::size_t memory_bytes() const {
    return (row_stops_.capacity() + column_stops_.capacity()) * sizeof(Word) +
           marks_.capacity() * sizeof(Marks);
  }

 private:
  struct Marks {
    Word subgoals = 0;
    // Number of subgoals in earlier words.
    SubgoalId before = 0;
  };

  // Returns the index of the first word of row y, which may lie just outside the map.
  std::size_t RowAt(int y) const { return static_cast<std::size_t>(y + 1) * row_words_; }
  std::size_t WordOf(Cell cell) const {
    return RowAt(cell.y) + static_cast<std::size_t>(cell.x + 1) / kWordBits;
  }
  bool Contains(Cell cell) const {
    return (marks_[WordOf(cell)].subgoals >> (static_cast<unsigned>(cell.x + 1) % kWordBits) & 1U) != 0;
  }

  // Returns the distance to the next blocked cell or subgoal along a row or column.
  template <bool kHorizontal, int kStep>
  int StepsToStop(Cell cell) const {
    const int from = kHorizontal ? cell.x : cell.y;
    const Word* stops = kHorizontal ? row_stops_.data() + RowAt(cell.y)
                                    : column_stops_.data() + static_cast<std::size_t>(cell.x) * column_words_;
    const int stop =
        NextSetBit<kStep>(static_cast<unsigned>(from + 1 + kStep), [&](std::size_t i) { return stops[i]; });
    return std::abs(stop - (from + 1));
  }

  // Visits the subgoal at the end of a straight run of at most `longest` steps. Returns the number of steps
  // to the last cell before the run's end.
  template <bool kHorizontal, int kStep, typename Visitor>
  int VisitStraight(Cell from, Visitor& visit, int longest = std::numeric_limits<int>::max()) const {
    const int steps = StepsToStop<kHorizontal, kStep>(from);
    const Cell stop =
        kHorizontal ? Cell{from.x + kStep * steps, from.y} : Cell{from.x, from.y + kStep * steps};
    if (steps <= longest && Contains(stop)) {
      visit(stop);
    }
    return std::min(longest, steps - 1);
  }

  // Visits the neighbours that a diagonal step leads towards. `across` and `along` are the maximum lengths of
  // straight runs that all cells of the diagonal so far allow.
  template <int kStepX, int kStepY, typename Visitor>
  void VisitQuadrant(Cell cell, int across, int along, Visitor& visit) const {
    while (true) {
      const Cell beside = {cell.x + kStepX, cell.y};
      const Cell ahead = {cell.x, cell.y + kStepY};
      cell = {beside.x, ahead.y};
      if (IsStop(beside) && !Contains(beside)) {
        return;
      }
      if (IsStop(ahead) && !Contains(ahead)) {
        return;
      }
      if (IsStop(cell)) {
        if (Contains(cell)) {
          visit(cell);
        }
        return;
      }
      if (across > 0) {
        across = VisitStraight<true, kStepX>(cell, visit, across);
      }
      if (along > 0) {
        along = VisitStraight<false, kStepY>(cell, visit, along);
      }
    }
  }

  bool IsStop(Cell cell) const { return TestBit(row_stops_.data() + RowAt(cell.y), cell.x); }

  int width_;
  int height_;
  std::size_t row_words_;
  std::size_t column_words_;
  // Rows, with one more before the first and after the last, and columns, laid out as in bit_row.h. Bits are
  // set where a straight run ends: at subgoals, at blocked cells and outside the map.
  std::vector<Word> row_stops_;
  std::vector<Word> column_stops_;
  // Marks of each word of row_stops_.
  std::vector<Marks> marks_;
  SubgoalId count_ = 0;
};

}  // namespace waystar::core
