#include "server/core/elements/area_collector.h"

#include <algorithm>
#include <limits>

#include "server/core/grid/cells/bit_row.h"

namespace waystar::core {
namespace {

// Returns true if one rectangle for both is no loss: it has no more cells than both, or is no larger than the
// smallest tile, within which changes are not told apart either.
bool IsJoined(const Rectangle& a, const Rectangle& b, int least_side) {
  const int width = std::max(a.x + a.width, b.x + b.width) - std::min(a.x, b.x);
  const int height = std::max(a.y + a.height, b.y + b.height) - std::min(a.y, b.y);
  if (width <= least_side && height <= least_side) {
    return true;
  }
  return width <= a.width + b.width && height <= a.height + b.height &&
         std::int64_t{width} * height <= a.area() + b.area();
}

// Joins rectangles, given in ascending order of y, until no two of them can be joined.
void JoinAll(int least_side, std::vector<Rectangle>& areas) {
  // Rectangles after i cannot be joined with each other.
  for (std::size_t i = areas.size(); i-- > 0;) {
    for (std::size_t j = i + 1;
         j < areas.size() && areas[j].y <= areas[i].y + std::max(areas[i].height, least_side);) {
      if (IsJoined(areas[i], areas[j], least_side)) {
        areas[i] = Union(areas[i], areas[j]);
        areas.erase(areas.begin() + static_cast<std::ptrdiff_t>(j));
        j = i + 1;
      } else {
        ++j;
      }
    }
  }
}

}  // namespace

void AreaCollector::Add(const Rectangle& rectangle) {
  // Tiles end where words do, which begin at cell -1.
  AddTile({(rectangle.x + 1) >> side_bits_, rectangle.y >> side_bits_, rectangle.x, rectangle.y,
           rectangle.x + rectangle.width, rectangle.y + rectangle.height});
}

void AreaCollector::Add(const WordChange& cells) {
  for (Word left = cells.flipped; left != 0;) {
    const int first = std::countr_zero(left);
    const int tile_end = (first | (std::min(1 << side_bits_, kWordBits) - 1)) + 1;
    const Word in_tile = left & (~Word{0} >> (kWordBits - tile_end));
    const int last = kWordBits - 1 - std::countl_zero(in_tile);
    Add(Rectangle{cells.index * kWordBits + first - 1, cells.y, last - first + 1, 1});
    left ^= in_tile;
  }
}

void AreaCollector::AddTile(Tile tile) {
  while (true) {
    // The tiles of a square, of a row and of a column have slots of their own.
    const std::uint32_t hash = static_cast<std::uint32_t>(tile.x) + 17U * static_cast<std::uint32_t>(tile.y);
    std::size_t slot = hash % kSlots;
    for (; slots_[slot] != 0; slot = (slot + 1) % kSlots) {
      Tile& found = tiles_[slots_[slot] - 1U];
      if (found.x == tile.x && found.y == tile.y) {
        found.left = std::min(found.left, tile.left);
        found.top = std::min(found.top, tile.top);
        found.right = std::max(found.right, tile.right);
        found.bottom = std::max(found.bottom, tile.bottom);
        return;
      }
    }
    if (tiles_.size() < kMost) {
      tiles_.push_back(tile);
      slots_[slot] = static_cast<std::uint8_t>(tiles_.size());
      return;
    }
    DoubleSide();
    tile.x >>= 1;
    tile.y >>= 1;
  }
}

void AreaCollector::DoubleSide() {
  const absl::InlinedVector<Tile, kMost> tiles = tiles_;
  const int side_bits = side_bits_ + 1;
  Clear();
  side_bits_ = side_bits;
  for (Tile tile : tiles) {
    tile.x >>= 1;
    tile.y >>= 1;
    AddTile(tile);
  }
}

Rectangle AreaCollector::bounds() const {
  Rectangle bounds;
  for (const Tile& tile : tiles_) {
    bounds = Union(bounds, tile.box());
  }
  return bounds;
}

std::vector<Rectangle> AreaCollector::Areas() const {
  std::vector<Rectangle> areas;
  areas.reserve(tiles_.size());
  for (const Tile& tile : tiles_) {
    areas.push_back(tile.box());
  }
  if (areas.size() < 2) {
    return areas;
  }
  // No two tiles have the same first cell.
  std::sort(areas.begin(), areas.end(), [](const Rectangle& a, const Rectangle& b) {
    return RowMajorLess({a.x, a.y}, {b.x, b.y});
  });
  JoinAll(kFirstSide, areas);
  std::int64_t cells = 0;
  for (const Rectangle& area : areas) {
    cells += area.area();
  }
  const Rectangle all = bounds();
  return cells < all.area() ? areas : std::vector<Rectangle>{all};
}

void AreaCollector::Clear() {
  if (!tiles_.empty()) {
    tiles_.clear();
    slots_.fill(0);
    side_bits_ = kFirstSideBits;
  }
}

namespace {

// Smallest tiles, aligned to words, of which at most AreaCollector::kMost cover a box.
struct TileGrid {
  int side_bits;
  int first_x;
  int first_y;
  std::size_t columns;
};

TileGrid GridOver(const Rectangle& bounds) {
  for (int bits = std::countr_zero(unsigned{AreaCollector::kFirstSide});; ++bits) {
    const int x = (bounds.x + 1) >> bits;
    const int y = bounds.y >> bits;
    const std::int64_t columns = ((bounds.x + bounds.width) >> bits) - x + 1;
    const std::int64_t rows = ((bounds.y + bounds.height - 1) >> bits) - y + 1;
    if (columns * rows <= std::int64_t{AreaCollector::kMost}) {
      return {.side_bits = bits, .first_x = x, .first_y = y, .columns = static_cast<std::size_t>(columns)};
    }
  }
}

}  // namespace

std::vector<Rectangle> AreasOf(absl::Span<const WordChange> changes, std::int64_t count, Rectangle& bounds) {
  if (changes.empty()) {
    return {};
  }
  const auto first_of = [](const WordChange& change) {
    return change.index * kWordBits - 1 + std::countr_zero(change.flipped);
  };
  const auto end_of = [](const WordChange& change) {
    return (change.index + 1) * kWordBits - 1 - std::countl_zero(change.flipped);
  };
  int left = std::numeric_limits<int>::max();
  int right = std::numeric_limits<int>::min();
  for (const WordChange& change : changes) {
    left = std::min(left, first_of(change));
    right = std::max(right, end_of(change));
  }
  const int top = changes.front().y;
  bounds = {left, top, right - left, changes.back().y + 1 - top};
  if (bounds.area() <= 2 * count) {
    return {};
  }
  AreaCollector collector;
  const TileGrid grid = GridOver(bounds);
  // Words fit into large tiles. A table of them is faster than the collector, and tells as much apart.
  if (changes.size() > AreaCollector::kMost && 1 << grid.side_bits >= kWordBits) {
    std::array<Rectangle, AreaCollector::kMost> boxes = {};
    for (const WordChange& change : changes) {
      const int first = first_of(change);
      const auto column = static_cast<std::size_t>(((first + 1) >> grid.side_bits) - grid.first_x);
      const auto row = static_cast<std::size_t>((change.y >> grid.side_bits) - grid.first_y);
      Rectangle& box = boxes[row * grid.columns + column];
      box = Union(box, {first, change.y, end_of(change) - first, 1});
    }
    for (const Rectangle& box : boxes) {
      if (!box.empty()) {
        collector.Add(box);
      }
    }
  } else {
    for (const WordChange& change : changes) {
      collector.Add(change);
    }
  }
  std::vector<Rectangle> areas = collector.Areas();
  return areas.size() > 1 ? areas : std::vector<Rectangle>();
}

}  // namespace waystar::core
