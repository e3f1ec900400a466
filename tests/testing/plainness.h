// What plain cells say of a cell.
#pragma once

#include <cstddef>

#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/plain_cells.h"
#include "server/geometry/cell.h"

namespace waystar {

struct Plainness {
  bool along_row = false;
  bool along_column = false;
  bool diagonally = false;

  friend bool operator==(const Plainness&, const Plainness&) = default;
};

// REQUIRES: `plain` was made for the map.
inline Plainness PlainnessAt(const core::PlainCells& plain, const core::GridMap& map, core::Cell cell) {
  core::PlainCells::Work work;
  const auto& tile = plain.Judge(map, core::WordOf(cell.x), core::WordOf(cell.y), work);
  const auto column = static_cast<std::size_t>(cell.x + 1) % core::kWordBits;
  const auto row = static_cast<std::size_t>(cell.y + 1) % core::kWordBits;
  return {.along_row = core::TestBitOfWord(tile.along_rows[row], cell.x),
          .along_column = core::TestBitOfWord(tile.along_columns[column], cell.y),
          .diagonally = core::TestBitOfWord(tile.diagonally[row], cell.x)};
}

// Judges all cells of a map.
inline core::PlainCells::Work JudgeAll(const core::GridMap& map) {
  core::PlainCells::Work work;
  for (std::size_t row = 0; row <= core::WordOf(map.height() - 1); ++row) {
    for (std::size_t column = 0; column <= core::WordOf(map.width() - 1); ++column) {
      map.plain_cells().Judge(map, column, row, work);
    }
  }
  return work;
}

}  // namespace waystar
