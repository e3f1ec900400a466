// Most expensive cells below large agents.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "server/core/grid/map/grid_map.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// For each position in a square tile of a map, the cell whose cost an agent pays for a step there: the most
// expensive cell that it covers, the first in row-major order among equals. One cell serves all directions,
// because the cost of a diagonal step is monotonic in that of a straight step.
class DearestTile {
 public:
  static constexpr int kShift = 5;
  static constexpr int kSide = 1 << kShift;

  // Computes tile (x, y) for agents of footprint x footprint cells. Reads (kSide - 1 + footprint)^2 cells, at
  // most four per position.
  void Read(const GridMap& map, int footprint, int x, int y);

  // Returns the cell for a position.
  // REQUIRES: the last tile read contains the position, and an agent there covers no cell outside the map.
  Cell Under(Cell position) const {
    const unsigned cell = cells_[static_cast<std::size_t>(Within(position.y) << kShift | Within(position.x))];
    return {(position.x & ~(kSide - 1)) + static_cast<int>(cell & kColumn),
            (position.y & ~(kSide - 1)) + static_cast<int>(cell >> kRowShift)};
  }

  static int Within(int coordinate) { return coordinate & (kSide - 1); }

 private:
  // Cells are numbered in row-major order from the tile's first, in rows of 2 * kSide.
  static constexpr unsigned kRowShift = kShift + 1;
  static constexpr unsigned kColumn = (1U << kRowShift) - 1;

  std::array<std::uint16_t, std::size_t{kSide} * kSide> cells_;
};

// Cache of DearestTiles for one search; each is read when the search first steps there. Clearing costs O(1).
// A search over more than kMaxTiles tiles overwrites the oldest and reads it again on return.
//
// Not thread-safe; part of Scratch.
class DearestCells {
 public:
  static constexpr std::size_t kMaxTiles = 4096;

  // A map that the current search uses.
  struct Ground {
    const GridMap* map = nullptr;
    std::size_t first_slot = 0;
    std::size_t tiles_per_row = 0;
    int footprint = 1;
  };

  // Removes all maps. Called by Scratch::Start.
  void Clear();
  // Prepares for agents of that size on the map, which must outlive the search.
  Ground Add(const GridMap& map, int footprint);

  // Returns the cell whose cost an agent pays for a step to the position.
  // REQUIRES: an agent there covers no cell outside the map; the map was added after the last Clear.
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

  // Number of tiles read since the last Clear.
  std::size_t tiles_read() const { return tiles_read_; }
  // Bytes used by the search, and bytes kept for the next one.
  std::size_t used_bytes() const;
  std::size_t memory_bytes() const;

 private:
  struct Slot {
    std::uint32_t generation = 0;
    std::uint32_t tile = 0;
  };

  void Read(const Ground& ground, std::size_t index, Cell position);

  // Current generation; never 0, which is that of slots without a tile.
  std::uint32_t generation_ = 1;
  std::size_t slot_count_ = 0;
  std::vector<Slot> slots_;
  std::vector<std::unique_ptr<DearestTile>> tiles_;
  // Slot for which each tile was last read.
  std::vector<std::size_t> owners_;
  std::size_t tiles_read_ = 0;
};

// Most expensive cells along a path or its lines. For agents of up to kSmall x kSmall cells it reads all
// covered cells; for larger ones it caches four tiles, since a path enters a new tile only after many steps.
class DearestOnPath {
 public:
  static constexpr int kSmall = 8;

  // The map must outlive this.
  DearestOnPath(const GridMap& map, int footprint) : map_(map), footprint_(footprint) {}

  // Returns the cell whose cost an agent pays for a step to the position.
  // REQUIRES: an agent there covers no cell outside the map.
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
