// Costs of single cells that override the cost of their terrain.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "server/core/grid/cells/grid_settings.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Sparse table of the cells that have costs of their own. It is stored in square tiles of 16 KB; tiles
// without such a cell are not allocated. Copies share each tile until one of them writes to it.
//
// A copy costs one pointer per 32 rows of the map.
//
// Thread safety: const methods may run concurrently with each other and with a CellCostsWriter of another
// copy.
class CellCosts {
 public:
  static constexpr int kTileShift = 5;
  static constexpr int kTileSide = 1 << kTileShift;

  CellCosts(int width, int height);

  // Costs of entering a cell. Both are 0 if the cell has no costs of its own, else both are positive.
  struct Entry {
    Cost straight = 0;
    Cost diagonal = 0;
  };

  // REQUIRES: the cell is on the map.
  Entry At(Cell cell) const {
    const Tile* tile = TileAt(TileOf(cell.x), TileOf(cell.y));
    return tile == nullptr ? Entry{} : tile->entries[IndexIn(cell)];
  }

  // Returns false only if neither the cell nor any of its eight neighbours has costs of its own. It is fast
  // and may return true although none has.
  // REQUIRES: the cell is on the map.
  bool MayHaveNear(Cell cell) const;

  // Return the least cost of a straight step into a cell with costs of its own in a tile or a row of tiles,
  // or the maximum of Cost if there is none.
  Cost MinInTile(int column, int row) const {
    const Tile* tile = TileAt(static_cast<std::size_t>(column), static_cast<std::size_t>(row));
    return tile == nullptr ? kNone : tile->summary.min_straight;
  }
  Cost MinInTileRow(int row) const {
    const TileRow* tile_row = rows_[static_cast<std::size_t>(row)].get();
    return tile_row == nullptr ? kNone : tile_row->summary.min_straight;
  }

  // Number of cells with costs of their own.
  std::int64_t count() const { return count_; }
  // Least cost of a straight step into such a cell.
  Cost min_straight() const { return min_straight_; }

  std::size_t memory_bytes() const { return BytesBeyond(nullptr); }
  // Returns the bytes held by this and not by `other`, which is null or belongs to a map of the same size.
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
  // Rows of tiles; null for a row without tiles.
  std::vector<std::shared_ptr<TileRow>> rows_;
  std::int64_t count_ = 0;
  Cost min_straight_ = kNone;
};

// Copy-on-write writer for the costs that `costs` points to. The first change replaces them by a copy, or by
// a new table if the pointer is null. Each tile that changes is cloned once. Not thread-safe.
class CellCostsWriter {
 public:
  CellCostsWriter(std::shared_ptr<const CellCosts>& costs, int width, int height)
      : costs_(costs), width_(width), height_(height) {}
  CellCostsWriter(const CellCostsWriter&) = delete;
  CellCostsWriter& operator=(const CellCostsWriter&) = delete;

  // Sets a cell's own costs, or removes them if both are 0. Returns false without a change if the cell
  // already has those costs.
  // REQUIRES: the cell is on the map; both costs are 0 or neither is.
  bool Set(Cell cell, CellCosts::Entry entry);

  // Updates count() and min_straight(), which are stale until then. Sets the pointer to null if no cell has
  // costs of its own.
  void Finish();

  // Allows copies of the costs. The copies share what was written; further writes clone again.
  void Release() {
    Finish();
    own_ = nullptr;
  }

 private:
  CellCosts::Tile& OwnTile(Cell cell);

  std::shared_ptr<const CellCosts>& costs_;
  int width_;
  int height_;
  // Null before the first change, then equal to costs_.
  std::shared_ptr<CellCosts> own_;
  // True for each tile row, and for each tile in row-major order, that only this writer owns.
  std::vector<bool> owns_row_;
  std::vector<bool> owns_tile_;
};

}  // namespace waystar::core
