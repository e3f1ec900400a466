// The dearest cells below large agents.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

// For each position in a square of a map, the cell whose cost an agent that steps there pays: the first of
// the dearest cells below it, row by row. It is dearest in all directions, for the cost of a diagonal step
// never falls where that of a straight one rises.
class DearestTile {
 public:
  static constexpr int kShift = 5;
  static constexpr int kSide = 1 << kShift;

  // Reads the cells below agents of footprint x footprint cells that stand in tile (x, y). That takes
  // (kSide - 1 + footprint)^2 cells, however many positions share them: four a position at most.
  void Read(const GridMap& map, int footprint, int x, int y);

  // REQUIRES: the tile that was read last holds the position, and an agent there covers no cell off the map.
  Cell Under(Cell position) const {
    const unsigned cell = cells_[static_cast<std::size_t>(Within(position.y) << kShift | Within(position.x))];
    return {(position.x & ~(kSide - 1)) + static_cast<int>(cell & kColumn),
            (position.y & ~(kSide - 1)) + static_cast<int>(cell >> kRowShift)};
  }

  static int Within(int coordinate) { return coordinate & (kSide - 1); }

 private:
  // Cells are numbered row by row from the tile's first on, in rows of 2 * kSide.
  static constexpr unsigned kRowShift = kShift + 1;
  static constexpr unsigned kColumn = (1U << kRowShift) - 1;

  std::array<std::uint16_t, std::size_t{kSide} * kSide> cells_;
};

// Dearest cells for a search, tile by tile, each read when the search first steps there. Clearing them costs
// O(1), whatever the last search left behind. A search over more than kMaxTiles tiles overwrites the oldest,
// and reads those again if it comes back.
//
// Thread safety: none. It is a part of Scratch.
class DearestCells {
 public:
  static constexpr std::size_t kMaxTiles = 4096;

  // A map, as long as the search for which it was added.
  struct Ground {
    const GridMap* map = nullptr;
    std::size_t first_slot = 0;
    std::size_t tiles_per_row = 0;
    int footprint = 1;
  };

  // Forgets all maps. Scratch::Start does so.
  void Clear();
  // Prepares for agents of that size on the map, which must outlive the search.
  Ground Add(const GridMap& map, int footprint);

  // Returns the cell whose cost an agent that steps to the position pays. REQUIRES: it covers no cell off the
  // map, which was added after the last Clear.
  Cell Under(const Ground& ground, Cell position) {
    const std::size_t index =
        ground.first_slot +
        (static_cast<std::size_t>(position.y) >> DearestTile::kShift) * ground.tiles_per_row +
        (static_cast<std::size_t>(position.x) >> DearestTile::kShift);
    if (slots_[index].generation != generation_) {
      Read(ground, index, position);
    }
    return tiles_[slots_[index].tile]->Under(position);
  }

  // Returns how many tiles have been read since the last Clear.
  std::size_t tiles_read() const { return tiles_read_; }
  // Returns the bytes that the search has used, and those that are kept for the next one.
  std::size_t used_bytes() const;
  std::size_t memory_bytes() const;

 private:
  struct Slot {
    std::uint32_t generation = 0;
    std::uint32_t tile = 0;
  };

  void Read(const Ground& ground, std::size_t index, Cell position);

  // Never 0, which is that of slots without a tile.
  std::uint32_t generation_ = 1;
  std::size_t slot_count_ = 0;
  std::vector<Slot> slots_;
  std::vector<std::unique_ptr<DearestTile>> tiles_;
  // The slot that each tile was last read for.
  std::vector<std::size_t> owners_;
  std::size_t tiles_read_ = 0;
};

// Dearest cells along a path, or the lines of one. Below agents of up to kSmall x kSmall cells it looks at
// all cells; for others it remembers four tiles, of which a path enters another only after many steps.
class DearestOnPath {
 public:
  static constexpr int kSmall = 8;

  // The map must outlive this.
  DearestOnPath(const GridMap& map, int footprint) : map_(map), footprint_(footprint) {}

  // Returns the cell whose cost an agent that steps to the position pays. REQUIRES: it covers no cell off the
  // map.
  Cell Under(Cell position) {
    if (footprint_ == 1) {
      return position;
    }
    if (footprint_ <= kSmall) {
      return FirstDearestUnder(position);
    }
    const Cell tile = {position.x >> DearestTile::kShift, position.y >> DearestTile::kShift};
    Kept& kept = kept_[static_cast<std::size_t>((tile.y & 1) << 1 | (tile.x & 1))];
    if (kept.tile != tile) {
      kept.cells.Read(map_, footprint_, tile.x, tile.y);
      kept.tile = tile;
      ++tiles_read_;
    }
    return kept.cells.Under(position);
  }

  const GridMap& map() const { return map_; }
  std::size_t tiles_read() const { return tiles_read_; }

 private:
  struct Kept {
    Cell tile = {-1, -1};
    DearestTile cells;
  };

  Cell FirstDearestUnder(Cell position) const;

  const GridMap& map_;
  const int footprint_;
  std::array<Kept, 4> kept_;
  std::size_t tiles_read_ = 0;
};

}  // namespace waystar::core
