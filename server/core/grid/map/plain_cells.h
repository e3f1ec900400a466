// Cells that a search over weighted terrain may pass without checking its pruning rules.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/map/canonical_steps.h"
#include "server/core/grid/map/grid_cells.h"
#include "server/core/grid/map/terrain_tiles.h"
#include "server/geometry/cell.h"

namespace waystar::core {

class PlainnessMemory;

// Lazily computed bit sets of the plain cells: those for which CanonicalSteps (canonical_steps.h) returns
// what it would among cells of one cost, under every corner rule. A cell that has, or is next to a cell that
// has, costs of its own is plain only if all nine cells are walkable and cost the same. The result depends
// only on the map's cells.
//
// A square tile of cells is judged when a search first enters it, so that a search pays only for the part of
// the map it reads. A tile takes about 10 microseconds where most cells have neighbours of their own cost,
// and a few nanoseconds more for each other cell. A neighbourhood that is not cached takes 0.1 to 3
// microseconds. Memory is 3 bits per judged cell; a repair takes a few microseconds per changed cell.
//
// Thread safety: thread-safe.
class PlainCells {
 public:
  // A square of cells; a word's bit x is laid out as in bit_row.h. Cells outside the map or not walkable are
  // not plain.
  struct Tile {
    // Cells at which a path along the row, in either direction, has only one canonical step, straight on, and
    // whose neighbours in the row cost the same. One word per row.
    std::array<Word, kWordBits> along_rows{};
    // As above for paths along columns: one word per column, one bit per row.
    std::array<Word, kWordBits> along_columns{};
    // Cells at which the canonical steps after every diagonal step are the natural ones. One word per row.
    std::array<Word, kWordBits> diagonally{};

    friend bool operator==(const Tile&, const Tile&) = default;
  };

  // Creates an index without judged tiles.
  // REQUIRES: the map is 8-connected.
  explicit PlainCells(const GridCells& map);
  // Creates the plain cells of `map` from `before`, those of an earlier map. `changes` lists every cell whose
  // walkability or cost differs, or that gained or lost a cost of its own. Takes time proportional to the
  // changes. The two objects share the tiles that no change touches; where a whole row of tiles is unchanged,
  // they also share those that either judges later.
  PlainCells(const PlainCells& before, const GridCells& map, absl::Span<const WordChange> changes);

  // Returns the tile of the cells with WordOf(x) == column and WordOf(y) == row, or null if it is not judged
  // yet.
  // REQUIRES: the map has such a cell.
  const Tile* Find(std::size_t column, std::size_t row) const {
    return starts_[row][column].load(std::memory_order_acquire);
  }

  // As Find, but judges the tile if needed. `map` is the map of this index. Adds the number of cells read and
  // of neighbourhoods judged to `work`.
  struct Work {
    std::uint64_t cells = 0;
    std::uint64_t neighbourhoods = 0;
  };
  const Tile& Judge(const GridCells& map, std::size_t column, std::size_t row, Work& work) const;

  std::size_t memory_bytes() const { return BytesBeyond(nullptr); }
  // Returns the bytes held by this and not by `other`, which may be null.
  std::size_t BytesBeyond(const PlainCells* other) const;

 private:
  struct TileRow;

  std::vector<std::shared_ptr<TileRow>> rows_;
  // First tile of each row.
  std::vector<const std::atomic<const Tile*>*> starts_;
  // Shared by all indexes repaired from the same one.
  std::shared_ptr<PlainnessMemory> memory_;
};

}  // namespace waystar::core
