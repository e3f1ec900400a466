// Judges which cells are plain (plain_cells.h), one word of cells at a time.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/map/eight_cells.h"
#include "server/core/grid/map/grid_cells.h"
#include "server/core/grid/map/neighbourhood.h"

namespace waystar::core {

// Cache of the judgements of recent neighbourhoods, for one map's costs. Terrains of equal cost form a class,
// so that a map with few costs has few neighbourhoods.
//
// Thread safety: thread-safe.
class PlainnessMemory {
 public:
  // Bits of a judgement.
  using Plainness = unsigned;
  static constexpr Plainness kAlongRow = 1;
  static constexpr Plainness kAlongColumn = 2;
  static constexpr Plainness kDiagonally = 4;

  explicit PlainnessMemory(const GridCells& map);

  // Returns the first terrain with the same cost.
  TerrainId ClassOf(TerrainId terrain) const { return class_of_[terrain]; }

  // Returns the judgement of a neighbourhood of classes. Adds 1 to `judged` if it was not cached.
  Plainness Of(const Neighbourhood& around, const StepCosts& costs, std::uint64_t& judged);

  std::size_t memory_bytes() const { return sizeof(*this) + (std::size_t{1} << size_bits_) * sizeof(Entry); }

 private:
  // Hash of a neighbourhood without the bits implied by the entry's index, then the judgement, then a 1. One
  // word, so that it is read and written atomically; 0 is empty.
  using Entry = std::atomic<std::uint64_t>;

  std::array<TerrainId, kMaxTerrains> class_of_{};
  // False if a neighbourhood may not fit into 63 bits.
  bool is_used_ = true;
  unsigned size_bits_;
  std::unique_ptr<Entry[]> entries_;
};

// Plain cells of a word of a row, limited to the requested cells.
struct PlainWords {
  Word along_row = 0;
  Word along_column = 0;
  Word diagonally = 0;
};

// Judges the cells of up to 64 rows in the words of one index.
class PlainnessJudge {
 public:
  // REQUIRES: 0 <= begin < end <= map.height(), end - begin <= 64.
  PlainnessJudge(const GridCells& map, PlainnessMemory& memory, std::size_t index, int begin, int end);

  // REQUIRES: begin <= y < end; the cells are on the map.
  PlainWords Judge(int y, Word cells);

  // Number of neighbourhoods judged that were not cached.
  std::uint64_t judged() const { return judged_; }

 private:
  // A row of cells with one more on each side.
  struct Row {
    // kNotWalkable for cells that are not walkable.
    std::array<TerrainId, kWordBits + kEight> classes;
    // Cells of the same class as the two beside them.
    Word alike = 0;
  };

  void FillRow(int y);
  // Also valid for the rows above and below the judged ones.
  Row& RowAt(int y) { return rows_[static_cast<std::size_t>(y + 1 - begin_)]; }
  Word AmidOneCost(int y);
  Neighbourhood Around(int y, int bit);

  const GridCells& map_;
  PlainnessMemory& memory_;
  const std::size_t index_;
  const int begin_;
  std::array<Row, kWordBits + 2> rows_;
  std::uint64_t judged_ = 0;
};

}  // namespace waystar::core
