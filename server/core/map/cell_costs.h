// Costs of single cells that differ from what their terrain says.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "server/core/grid/cell.h"
#include "server/core/grid/cost.h"

namespace waystar::core {

// The costs of the cells that have costs of their own. They are kept in square tiles, of which only those
// that hold such a cell exist, and copies share a tile until one writes to it.
//
// A copy costs one pointer per 32 rows of the map. A tile takes 16 KB.
//
// Thread safety: const methods may run beside each other, and beside a CellCostsWriter of another copy.
class CellCosts {
 public:
  static constexpr int kTileShift = 5;
  static constexpr int kTileSide = 1 << kTileShift;

  CellCosts(int width, int height);

  // The costs of entering a cell. Both are 0 if it has no costs of its own, else both are greater.
  struct Entry {
    Cost straight = 0;
    Cost diagonal = 0;
  };

  // REQUIRES: the cell is on the map.
  Entry At(Cell cell) const {
    const Tile* tile = TileAt(TileOf(cell.x), TileOf(cell.y));
    return tile == nullptr ? Entry{} : tile->entries[IndexIn(cell)];
  }

  // Returns false if neither the cell nor any of the eight around it has costs of its own. It is quick, and
  // may return true where none of them has. REQUIRES: the cell is on the map.
  bool MayHaveNear(Cell cell) const;

  // Return the least cost of a straight step into one of the cells of a tile, or of a row of tiles, that have
  // costs of their own; the highest cost if there are none.
  Cost MinInTile(int column, int row) const {
    const Tile* tile = TileAt(static_cast<std::size_t>(column), static_cast<std::size_t>(row));
    return tile == nullptr ? kNone : tile->summary.min_straight;
  }
  Cost MinInTileRow(int row) const {
    const TileRow* tile_row = rows_[static_cast<std::size_t>(row)].get();
    return tile_row == nullptr ? kNone : tile_row->summary.min_straight;
  }

  // Returns how many cells have costs of their own.
  std::int64_t count() const { return count_; }
  // Returns the least cost of a straight step into one of them.
  Cost min_straight() const { return min_straight_; }

  std::size_t memory_bytes() const { return BytesBeyond(nullptr); }
  // Returns the bytes held by this and not by `other`, which is null or of a map of the same size.
  std::size_t BytesBeyond(const CellCosts* other) const;

 private:
  friend class CellCostsWriter;

  static constexpr Cost kNone = std::numeric_limits<Cost>::max();

  // Summary of the cells of a tile or row that have costs of their own.
  struct Summary {
    std::int32_t count = 0;
    Cost min_straight = kNone;
  };
  struct Tile {
    std::array<Entry, std::size_t{kTileSide} * kTileSide> entries{};
    Summary summary;
  };
  struct TileRow {
    std::vector<std::shared_ptr<Tile>> tiles;
    Summary summary;
  };

  static std::size_t TileOf(int coordinate) { return static_cast<std::size_t>(coordinate) >> kTileShift; }
  static std::size_t IndexIn(Cell cell) {
    return static_cast<std::size_t>((cell.y & (kTileSide - 1)) << kTileShift | (cell.x & (kTileSide - 1)));
  }

  const Tile* TileAt(std::size_t column, std::size_t row) const {
    const TileRow* tile_row = rows_[row].get();
    return tile_row == nullptr ? nullptr : tile_row->tiles[column].get();
  }

  int width_;
  int height_;
  // The rows of tiles; null where a row has no tile.
  std::vector<std::shared_ptr<TileRow>> rows_;
  std::int64_t count_ = 0;
  Cost min_straight_ = kNone;
};

// Writes to the costs that `costs` points to. The first change replaces them by a copy, or by new ones if the
// pointer is null; each tile that changes is cloned once. A writer belongs to one thread.
class CellCostsWriter {
 public:
  CellCostsWriter(std::shared_ptr<const CellCosts>& costs, int width, int height)
      : costs_(costs), width_(width), height_(height) {}
  CellCostsWriter(const CellCostsWriter&) = delete;
  CellCostsWriter& operator=(const CellCostsWriter&) = delete;

  // Sets a cell's own costs, or takes them away if both are 0. Returns false, and changes nothing, if the
  // cell has those costs already. REQUIRES: the cell is on the map; both costs are 0 or neither is.
  bool Set(Cell cell, CellCosts::Entry entry);

  // Brings count() and min_straight() up to date; until then they are those from before. It sets the pointer
  // to null if no cell has costs of its own.
  void Finish();

  // Lets the costs be copied. What was written is shared with the copies, and further writes clone again.
  void Release() {
    Finish();
    own_ = nullptr;
  }

 private:
  CellCosts::Tile& OwnTile(Cell cell);

  std::shared_ptr<const CellCosts>& costs_;
  int width_;
  int height_;
  // Null before the first change, then what costs_ points to.
  std::shared_ptr<CellCosts> own_;
  // Entries tell whether the writer is sole owner of a tile row, and of a tile, row by row.
  std::vector<bool> owns_row_;
  std::vector<bool> owns_tile_;
};

}  // namespace waystar::core
