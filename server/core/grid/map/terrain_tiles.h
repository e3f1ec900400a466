// Sets of the terrains in each tile of a map.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/cells/plane.h"

namespace waystar::core {

// Set of terrains: bit i % 64 of word i / 64 stands for terrain i.
using TerrainBits = std::array<Word, kMaxTerrains / kWordBits>;

// Terrains of each square tile of a map. Copies share equal parts as those of Plane do.
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

}  // namespace waystar::core
