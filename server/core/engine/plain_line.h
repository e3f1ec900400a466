// Straight runs over plain cells.
#pragma once

#include "server/core/grid/bit_row.h"
#include "server/core/grid/bit_scan.h"
#include "server/core/grid/cell.h"
#include "server/core/map/plain_cells.h"

namespace waystar::core {

// The row or column that a straight run follows. A cell's position on it is its x or y.
class PlainLine {
 public:
  // REQUIRES: `from` is on the map; `direction` is straight. `plain` outlives this.
  PlainLine(const PlainCells& plain, Cell from, Direction direction)
      : from_(from),
        is_row_(direction == Direction::kEast || direction == Direction::kWest),
        is_forward_(direction == Direction::kEast || direction == Direction::kSouth),
        plain_(is_row_ ? plain.AlongRow(from.y) : plain.AlongColumn(from.x)) {}

  bool Holds(Cell cell) const { return is_row_ ? cell.y == from_.y : cell.x == from_.x; }
  int PositionOf(Cell cell) const { return is_row_ ? cell.x : cell.y; }
  Cell CellAt(int position) const { return is_row_ ? Cell{position, from_.y} : Cell{from_.x, position}; }

  // Returns the first cell after `at` that is not plain.
  int NextStop(int at) const { return is_forward_ ? FirstClear(plain_, at + 1) : LastClear(plain_, at - 1); }

  // Returns whether a run from `at` to `stop` enters `position`.
  bool IsBetween(int at, int position, int stop) const {
    return is_forward_ ? at < position && position <= stop : stop <= position && position < at;
  }

 private:
  Cell from_;
  bool is_row_;
  bool is_forward_;
  const Word* plain_;
};

}  // namespace waystar::core
