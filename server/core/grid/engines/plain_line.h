// Straight runs over plain cells.
#pragma once

#include <bit>
#include <cstddef>
#include <optional>

#include "absl/base/attributes.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/plain_cells.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Plain cells of a map for one search, whose budget pays for the tiles that it is the first to use.
class PlainGround {
 public:
  PlainGround(const GridMap& map, const Budget& budget)
      : map_(map), plain_(map.plain_cells()), budget_(budget) {}

  // Return the tile as PlainCells does. Once the search must end, tiles that are not judged yet are returned
  // without plain cells. TileNear is faster if the previous tile was the same.
  const PlainCells::Tile& TileAt(std::size_t column, std::size_t row) {
    const PlainCells::Tile* tile = plain_.Find(column, row);
    return tile != nullptr ? *tile : Judge(column, row);
  }
  const PlainCells::Tile& TileNear(std::size_t column, std::size_t row) {
    const std::size_t place = row << 16 | column;
    if (place != place_) {
      tile_ = &TileAt(column, row);
      place_ = place;
    }
    return *tile_;
  }

  bool IsPlainForDiagonals(Cell cell) {
    const PlainCells::Tile& tile = TileNear(WordOf(cell.x), WordOf(cell.y));
    return TestBitOfWord(tile.diagonally[static_cast<unsigned>(cell.y + 1) % kWordBits], cell.x);
  }

  // Returns why the search must end, if the budget is exhausted.
  std::optional<SearchEnd> end() const { return end_; }

 private:
  ABSL_ATTRIBUTE_NOINLINE const PlainCells::Tile& Judge(std::size_t column, std::size_t row);

  const GridMap& map_;
  const PlainCells& plain_;
  const Budget& budget_;
  std::optional<SearchEnd> end_;
  // Last tile returned by TileNear, and its position.
  const PlainCells::Tile* tile_ = nullptr;
  std::size_t place_ = static_cast<std::size_t>(-1);
};

// Row or column that a straight run follows. A cell's position on it is its x or y.
class PlainLine {
 public:
  // REQUIRES: `from` is on the map; `direction` is straight. `ground` outlives this.
  PlainLine(PlainGround& ground, Cell from, Direction direction)
      : ground_(ground),
        from_(from),
        is_row_(direction == Direction::kEast || direction == Direction::kWest),
        is_forward_(direction == Direction::kEast || direction == Direction::kSouth),
        tiles_(WordOf(is_row_ ? from.y : from.x)),
        line_(static_cast<unsigned>((is_row_ ? from.y : from.x) + 1) % kWordBits) {}

  bool Holds(Cell cell) const { return is_row_ ? cell.y == from_.y : cell.x == from_.x; }
  int PositionOf(Cell cell) const { return is_row_ ? cell.x : cell.y; }
  Cell CellAt(int position) const { return is_row_ ? Cell{position, from_.y} : Cell{from_.x, position}; }

  // Returns the first cell after `at` that is not plain.
  // REQUIRES: the cell after `at` is on the map.
  int NextStop(int at) const {
    if (is_forward_) {
      const auto bit = static_cast<unsigned>(at + 2);
      std::size_t index = bit / kWordBits;
      Word stops = ~FirstPlainWord(index) & ~Word{0} << (bit % kWordBits);
      while (stops == 0) {
        stops = ~PlainWord(++index);
      }
      return static_cast<int>(index) * kWordBits + std::countr_zero(stops) - 1;
    }
    const auto bit = static_cast<unsigned>(at);
    std::size_t index = bit / kWordBits;
    Word stops = ~FirstPlainWord(index) & ~Word{0} >> (kWordBits - 1 - bit % kWordBits);
    while (stops == 0) {
      stops = ~PlainWord(--index);
    }
    return static_cast<int>(index) * kWordBits + kWordBits - 1 - std::countl_zero(stops) - 1;
  }

  // Returns true if a run from `at` to `stop` enters `position`.
  bool IsBetween(int at, int position, int stop) const {
    return is_forward_ ? at < position && position <= stop : stop <= position && position < at;
  }

 private:
  // Cells at the border of the map are not plain, so that no run leaves it.
  Word PlainWord(std::size_t index) const {
    return is_row_ ? ground_.TileAt(index, tiles_).along_rows[line_]
                   : ground_.TileAt(tiles_, index).along_columns[line_];
  }
  Word FirstPlainWord(std::size_t index) const {
    return is_row_ ? ground_.TileNear(index, tiles_).along_rows[line_]
                   : ground_.TileNear(tiles_, index).along_columns[line_];
  }

  PlainGround& ground_;
  Cell from_;
  bool is_row_;
  bool is_forward_;
  // Row or column of tiles, and the index of the line in each tile.
  std::size_t tiles_;
  std::size_t line_;
};

}  // namespace waystar::core
