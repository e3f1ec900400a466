// What steps into single cells cost, where it is not what their terrain says.
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

// The costs of the cells that have their own. Kept in square tiles, of which there are only those that hold
// such a cell, and shared between copies until one is written to.
//
// Copying costs one pointer per 32 rows of the map. A tile with a cell takes 16 KB.
//
// Thread safety: const methods may run beside each other, and beside a CellCostsWriter of another copy.
class CellCosts {
 public:
  CellCosts(int width, int height);

  // Of entering a cell; both are 0 if it has no costs of its own, else more.
  struct Entry {
    Cost straight = 0;
    Cost diagonal = 0;
  };

  // REQUIRES: the cell is on the map.
  Entry At(Cell cell) const {
    const Tile* tile = TileAt(TileOf(cell.x), TileOf(cell.y));
    return tile == nullptr ? Entry{} : tile->entries[IndexIn(cell)];
  }

  // False if neither the cell nor any of the eight around it has costs of its own; if true, one of them may
  // not have either. Quick. REQUIRES: the cell is on the map.
  bool MayHaveNear(Cell cell) const;

  // How many cells have costs of their own.
  std::int64_t count() const { return count_; }
  // The least of a straight step into one of them.
  Cost min_straight() const { return min_straight_; }

  std::size_t memory_bytes() const { return BytesBeyond(nullptr); }
  // Held by this and not by `other`, which is of a map of the same size, or null.
  std::size_t BytesBeyond(const CellCosts* other) const;

 private:
  friend class CellCostsWriter;

  static constexpr int kTileShift = 5;
  static constexpr int kTileSide = 1 << kTileShift;
  static constexpr Cost kNone = std::numeric_limits<Cost>::max();

  // A summary of some cells that have costs of their own.
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
  // Null where no tile of the row is there.
  std::vector<std::shared_ptr<TileRow>> rows_;
  std::int64_t count_ = 0;
  Cost min_straight_ = kNone;
};

// Writes to the costs that `costs` points to, which it replaces by a copy when it first changes a cell, by
// new ones if it is null. Clones each tile that it changes, once. One thread only.
class CellCostsWriter {
 public:
  CellCostsWriter(std::shared_ptr<const CellCosts>& costs, int width, int height)
      : costs_(costs), width_(width), height_(height) {}
  CellCostsWriter(const CellCostsWriter&) = delete;
  CellCostsWriter& operator=(const CellCostsWriter&) = delete;

  // Takes a cell's own costs away if both are 0. False if it has those already, which changes nothing.
  // REQUIRES: the cell is on the map; both are 0 or neither.
  bool Set(Cell cell, CellCosts::Entry entry);

  // Makes count() and min_straight() true again; until then they are those from before. Leaves null if no
  // cell has costs of its own.
  void Finish();

  // Lets the costs be copied: what was written so far is shared with the copies, and cloned again by writes.
  void Release() {
    Finish();
    own_ = nullptr;
  }

 private:
  CellCosts::Tile& OwnTile(Cell cell);

  std::shared_ptr<const CellCosts>& costs_;
  int width_;
  int height_;
  // Null before the first change; then what costs_ points to.
  std::shared_ptr<CellCosts> own_;
  // By tile row, and by tile, row by row: whether it is only ours.
  std::vector<bool> owns_row_;
  std::vector<bool> owns_tile_;
};

}  // namespace waystar::core
