// Sets of the terrains in each tile of a map.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/base/attributes.h"
#include "absl/types/span.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/cells/plane.h"

namespace waystar::core {

// Set of terrains: bit i % 64 of word i / 64 stands for terrain i.
using TerrainBits = std::array<Word, kMaxTerrains / kWordBits>;

// Terrains of each square tile of a map. Copies share unchanged parts, as those of Plane do.
//
// Thread safety: as Plane.
class TerrainTiles {
 public:
  static constexpr int kShift = 5;
  static constexpr int kSide = 1 << kShift;

  TerrainTiles() = default;
  // Makes the tiles of a uniform map.
  TerrainTiles(int width, int height, TerrainId fill);

  // Numbers of tile columns and tile rows.
  int columns() const { return (width_ + kSide - 1) >> kShift; }
  int rows() const { return (height_ + kSide - 1) >> kShift; }

  // Returns the terrains of a tile, regardless of obstacles.
  TerrainBits At(int column, int row) const { return Read(row, column); }
  // Returns the terrains of a row of tiles.
  TerrainBits InRow(int row) const { return Read(row, columns()); }

  // Recomputes the tiles that contain cells of these words, which are in ascending order.
  void Update(const Plane<TerrainId>& terrain, absl::Span<const WordIndex> words);
  // Recomputes all tiles.
  void Update(const Plane<TerrainId>& terrain);

  std::size_t memory_bytes() const { return sets_.memory_bytes(); }
  std::size_t BytesBeyond(const TerrainTiles& other) const { return sets_.BytesBeyond(other.sets_); }

 private:
  static constexpr int kMaxColumns = kMaxMapSide / kSide;
  // Bit c % 64 of word c / 64 stands for column c.
  using Columns = std::array<Word, kMaxColumns / kWordBits>;

  TerrainBits Read(int row, int column) const {
    const Word* set = sets_.row(row) + static_cast<std::size_t>(column) * TerrainBits{}.size();
    return {set[0], set[1]};
  }
  void UpdateRow(const Plane<TerrainId>& terrain, int row, const Columns& columns, PlaneWriter<Word>& writer);

  int width_ = 0;
  int height_ = 0;
  // For each row of tiles, the sets of its tiles and then their union.
  Plane<Word> sets_;
};

inline constexpr int kEight = 8;

// Returns a word of eight copies of `byte`.
constexpr std::uint64_t EightTimes(std::uint8_t byte) { return byte * std::uint64_t{0x0101010101010101}; }

// Returns eight bytes, the first lowest. Compilers turn it into one load.
inline std::uint64_t LoadEight(const std::uint8_t* cells) {
  const auto byte = [&](unsigned i) { return std::uint64_t{cells[i]} << 8 * i; };
  return byte(0) | byte(1) | byte(2) | byte(3) | byte(4) | byte(5) | byte(6) | byte(7);
}

// EightCells for an end of the row.
ABSL_ATTRIBUTE_NOINLINE inline std::uint64_t EightCellsAtEnd(const std::uint8_t* row, int width, int x) {
  std::uint8_t cells[kEight] = {};
  for (int i = std::max(0, -x); i < std::min(kEight, width - x); ++i) {
    cells[i] = row[x + i];
  }
  return LoadEight(cells);
}

// Returns the bytes of cells x, ..., x + 7 of a row, the first lowest; 0 for cells outside the row.
inline std::uint64_t EightCells(const std::uint8_t* row, int width, int x) {
  return 0 <= x && x + kEight <= width ? LoadEight(row + x) : EightCellsAtEnd(row, width, x);
}

// Returns the highest bits of the eight bytes, the first byte's lowest.
constexpr Word HighBits(std::uint64_t eight) {
  return ((eight >> 7 & EightTimes(1)) * std::uint64_t{0x0102040810204080}) >> 56;
}

// Returns word `index` of a row of bits, laid out as in bit_row.h. bits_of(eight) returns the bits of eight
// cells. Cells outside the row are passed as 0.
template <typename BitsOf>
Word WordOfCells(const std::uint8_t* row, int width, std::size_t index, BitsOf bits_of) {
  Word word = 0;
  for (int i = 0; i < kWordBits; i += kEight) {
    word |= bits_of(EightCells(row, width, static_cast<int>(index) * kWordBits - 1 + i)) << i;
  }
  return word;
}

}  // namespace waystar::core
