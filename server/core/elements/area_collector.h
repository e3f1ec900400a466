// Collects the places of many changes as few rectangles.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Gathers changes by the square tiles in which they begin. Tiles have 16 cells a side at first; the side
// doubles each time that more than kMost tiles have changes, so that adding a change takes constant time. The
// areas depend on the added cells, but not on their order.
class AreaCollector {
 public:
  // Maximum number of areas.
  static constexpr std::size_t kMost = 64;
  // Side of the smallest tiles.
  static constexpr int kFirstSide = 16;

  // Coordinates are from -2^30 to 2^30.
  // REQUIRES: the rectangle is not empty.
  void Add(const Rectangle& rectangle);
  void Add(const WordChange& cells);

  // Returns the smallest rectangle that contains all that was added; empty if nothing was.
  Rectangle bounds() const;

  // Returns rectangles that together contain all that was added. If that is a rectangle, it is the only one,
  // in whatever parts it was added. The areas together have no more cells than bounds().
  std::vector<Rectangle> Areas() const;

  void Clear();

 private:
  static constexpr std::size_t kSlots = 2 * kMost;
  static constexpr int kFirstSideBits = std::countr_zero(unsigned{kFirstSide});

  // The changes that begin in tile (x, y) lie in the cells with left <= x < right and top <= y < bottom.
  struct Tile {
    std::int32_t x;
    std::int32_t y;
    std::int32_t left;
    std::int32_t top;
    std::int32_t right;
    std::int32_t bottom;

    Rectangle box() const { return {left, top, right - left, bottom - top}; }
  };

  // The tile becomes one of tiles_ or joins it.
  void AddTile(Tile tile);
  void DoubleSide();

  absl::InlinedVector<Tile, kMost> tiles_;
  // Hash table of 1 + the index of a tile; 0 marks a free slot.
  std::array<std::uint8_t, kSlots> slots_ = {};
  int side_bits_ = kFirstSideBits;
};

// Sets `bounds` to the smallest rectangle that contains all changes, which are of `count` cells. Returns the
// areas if there are several; there is only one, `bounds`, if half of it or more changed.
// REQUIRES: changes are in ascending order of y.
std::vector<Rectangle> AreasOf(absl::Span<const WordChange> changes, std::int64_t count, Rectangle& bounds);

}  // namespace waystar::core
