// Judges which cells are plain (plain_cells.h), a word of cells at a time.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "server/core/grid/bit_row.h"
#include "server/core/map/eight_cells.h"
#include "server/core/map/grid_cells.h"
#include "server/core/map/neighbourhood.h"

namespace waystar::core {

// What the neighbourhoods seen lately were judged to be, for the costs of one map. Terrains that cost the
// same are one class, so that neighbourhoods are few where costs are few.
//
// Thread safety: any method may be called from any thread.
class PlainnessMemory {
 public:
  // The bits of a judgement.
  using Plainness = unsigned;
  static constexpr Plainness kAlongRow = 1;
  static constexpr Plainness kAlongColumn = 2;
  static constexpr Plainness kDiagonally = 4;

  explicit PlainnessMemory(const GridCells& map);

  // The first of the terrains that cost the same.
  TerrainId ClassOf(TerrainId terrain) const { return class_of_[terrain]; }

  // Returns the judgement of a neighbourhood of classes. Adds 1 to `judged` if it was not remembered.
  Plainness Of(const Neighbourhood& around, const StepCosts& costs, std::uint64_t& judged);

  std::size_t memory_bytes() const { return sizeof(*this) + (std::size_t{1} << size_bits_) * sizeof(Entry); }

 private:
  // The hash of a neighbourhood but for the bits that the entry's place tells, then the judgement, then 1. So
  // it is read and written in one go; 0 is nothing.
  using Entry = std::atomic<std::uint64_t>;

  std::array<TerrainId, kMaxTerrains> class_of_{};
  // False if a neighbourhood may not fit into 63 bits.
  bool is_used_ = true;
  unsigned size_bits_;
  std::unique_ptr<Entry[]> entries_;
};

// The plain cells of a word of a row; none but those that were asked for.
struct PlainWords {
  Word along_row = 0;
  Word along_column = 0;
  Word diagonally = 0;
};

// Judges the cells of some rows, up to 64, in the words of one index.
class PlainnessJudge {
 public:
  // REQUIRES: 0 <= begin < end <= map.height(), end - begin <= 64.
  PlainnessJudge(const GridCells& map, PlainnessMemory& memory, std::size_t index, int begin, int end);

  // REQUIRES: begin <= y < end; the cells are on the map.
  PlainWords Judge(int y, Word cells);

  // Returns how many neighbourhoods were judged that the memory did not have.
  std::uint64_t judged() const { return judged_; }

 private:
  // A row of cells with one more on each side.
  struct Row {
    // kNotWalkable where no agent stands.
    std::array<TerrainId, kWordBits + kEight> classes;
    // The cells that are of one class with the two beside them.
    Word alike = 0;
  };

  void FillRow(int y);
  // Those above and below the rows to judge are there as well.
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
