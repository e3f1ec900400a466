// The cells that a search over weighted terrain may pass without looking around.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/bit_plane.h"
#include "server/core/grid/bit_row.h"
#include "server/core/grid/cell.h"
#include "server/core/map/grid_cells.h"

namespace waystar::core {

class PlainnessMemory;

// Tells, for each cell, whether CanonicalSteps (canonical_steps.h) is what it would be amid cells of one
// cost, under every corner rule. Where the cell or one beside it has costs of its own, that is only so if all
// nine are walkable and cost the same. It is a function of the map's cells alone.
//
// Cells are judged a square tile at a time, when a search first comes there, so that no search pays for more
// of the map than it looks at. A tile takes some 10 microseconds where most cells lie amid others of their
// cost, and some nanoseconds more for any other cell; a neighbourhood that was not seen lately takes 0.1 to 3
// microseconds. It takes 3 bits a judged cell, and some microseconds to keep for each changed cell.
//
// Thread safety: any method may be called from any thread.
class PlainCells {
 public:
  // A square of cells: bit x of the words of row y, as bit_row.h counts them. A cell that is off the map or
  // not walkable is not plain.
  struct Tile {
    // The cells at which a path along the row does not turn, whichever way it goes: the only canonical step
    // leads straight on, and both neighbours in the row cost the same as the cell. One word a row.
    std::array<Word, kWordBits> along_rows{};
    // The same for paths along columns: one word a column, and a bit a row.
    std::array<Word, kWordBits> along_columns{};
    // The cells at which the canonical steps after each diagonal step into them are the natural ones. One
    // word a row.
    std::array<Word, kWordBits> diagonally{};

    friend bool operator==(const Tile&, const Tile&) = default;
  };

  // Judges nothing yet. REQUIRES: the map is 8-connected.
  explicit PlainCells(const GridCells& map);
  // Repairs `before` into the plain cells of `map`, given every cell that differs between the two maps: in
  // walkability, in cost, or in whether the cost is the cell's own. The cost is proportional to the changes.
  // Both share the tiles without changes, those judged later as well where the whole row of tiles has none.
  PlainCells(const PlainCells& before, const GridCells& map, absl::Span<const WordChange> changes);

  // Returns the tile of the cells with WordOf(x) == column and WordOf(y) == row, or null if it was not judged
  // yet. REQUIRES: there is such a cell on the map.
  const Tile* Find(std::size_t column, std::size_t row) const {
    return starts_[row][column].load(std::memory_order_acquire);
  }

  // Returns the same tile, judged now if need be. `map` is the one that this was made for. Adds to `work` how
  // many cells were looked at, and how many neighbourhoods were judged.
  struct Work {
    std::uint64_t cells = 0;
    std::uint64_t neighbourhoods = 0;
  };
  const Tile& Judge(const GridCells& map, std::size_t column, std::size_t row, Work& work) const;

  std::size_t memory_bytes() const { return BytesBeyond(nullptr); }
  // Returns the bytes held that `other`, if it is not null, does not hold.
  std::size_t BytesBeyond(const PlainCells* other) const;

 private:
  struct TileRow;

  std::vector<std::shared_ptr<TileRow>> rows_;
  // Where the tiles of each of them begin.
  std::vector<const std::atomic<const Tile*>*> starts_;
  // Shared by all that were repaired from one.
  std::shared_ptr<PlainnessMemory> memory_;
};

}  // namespace waystar::core
