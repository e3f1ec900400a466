// Edits: plain values that say how one snapshot differs from the next.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/map/cell.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

// The cells that lie in any of its parts.
struct Shape {
  // Each on the map.
  std::vector<Cell> cells;
  // Each overlapping the map; what sticks out is left off.
  std::vector<Rectangle> rectangles;

  friend bool operator==(const Shape&, const Shape&) = default;
};

struct Edit {
  enum class Kind : std::uint8_t {
    // Puts an obstacle on every cell of the shape.
    kBlock,
    // Takes the obstacle off every cell of the shape.
    kUnblock,
  };

  Kind kind = Kind::kBlock;
  Shape shape;

  friend bool operator==(const Edit&, const Edit&) = default;
};

struct EditResult {
  GridMap map;
  // Cells whose obstacle came or went between the old map and the new one.
  std::int64_t changed_cells = 0;
  // The smallest rectangle around those; empty if there are none.
  Rectangle changed_bounds;
  // Cells of rectangles that stuck out of the map; 2^63 - 1 if there are more.
  std::int64_t clipped_cells = 0;
};

// How many cells the shapes of one batch may have together, a cell counted as often as it is named
// and a row of a rectangle as 64 at the least. Bounds the time that a batch takes to some tenths of a second.
inline constexpr std::int64_t kMaxBatchCells = std::int64_t{1} << 30;

// Applies edits in order: a later one wins where two touch one cell. All or none.
//
// Errors, each naming the edit in its field ("edits[3].block.cells[0]"): INVALID_ARGUMENT with reason
// EMPTY_BATCH, EMPTY_SHAPE or BAD_RECTANGLE (a side below 1); OUT_OF_RANGE / OFF_MAP for a cell off the map
// or a rectangle wholly off it; RESOURCE_EXHAUSTED / BATCH_TOO_LARGE for more than kMaxBatchCells.
absl::StatusOr<EditResult> ApplyEdits(const GridMap& map, absl::Span<const Edit> edits);

}  // namespace waystar::core
