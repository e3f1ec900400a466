// Compiled without contraction of floating-point operations, so that equal distances compare equal on every
// machine.
#include "server/core/grid/search/snap.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "server/core/grid/cells/bit_row.h"
#include "server/geometry/wide_integer.h"

namespace waystar::core {
namespace {

// Returns the first set cell of a row at or right of x; `width` if there is none.
int FirstFreeFrom(const Word* row, int x, int width) {
  for (int i = (x + 1) / kWordBits; i <= width / kWordBits; ++i) {
    const auto index = static_cast<std::size_t>(i);
    if (const Word bits = row[index] & SpanMask(index, x, width); bits != 0) {
      return i * kWordBits + std::countr_zero(bits) - 1;
    }
  }
  return width;
}

// Returns the last set cell before x; -1 if there is none.
int LastFreeBefore(const Word* row, int x) {
  for (int i = x / kWordBits; x > 0 && i >= 0; --i) {
    const auto index = static_cast<std::size_t>(i);
    if (const Word bits = row[index] & SpanMask(index, 0, x); bits != 0) {
      return i * kWordBits + kWordBits - 1 - std::countl_zero(bits) - 1;
    }
  }
  return -1;
}

// Squared distances from a position, in game units.
class FromPosition {
 public:
  FromPosition(const WorldFrame& frame, const WorldPoint& position, double radius)
      : frame_(frame), position_(position), limit_(radius * radius), cell_(frame.CellAt(position)) {}

  double limit() const { return limit_; }
  Cell cell() const { return cell_; }

  // Returns true if the row may contain a cell within the limit.
  bool MayReach(int y, double limit) const {
    if (frame_.hexagons) {
      // Rows are horizontal, or slanted by 30 degrees; in both cases they are this far apart.
      const double away = (y - frame_.PointAt(position_).y) * std::sqrt(0.75) * frame_.cell_size;
      return away * away <= limit * kSlack;
    }
    const double dy = frame_.CenterOf({0, y}).y - position_.y;
    return dy * dy <= limit;
  }

  // Returns the column that splits the row: the nearest free cell is the last one before it or the first one
  // from it on. May be `width`.
  int MiddleOf(int y, int width) const {
    if (!frame_.hexagons) {
      return std::clamp(cell_.x, 0, width - 1);
    }
    const WorldFrame::PlanePoint point = frame_.PointAt(position_);
    return static_cast<int>(
        std::clamp(std::ceil(point.x - (y - point.y) / 2), 0.0, static_cast<double>(width)));
  }

  double SquaredTo(Cell cell) const {
    const WorldPoint center = frame_.CenterOf(cell);
    const double dx = center.x - position_.x;
    const double dy = center.y - position_.y;
    return dx * dx + dy * dy;
  }

 private:
  // Tolerance for rounding.
  static constexpr double kSlack = 1.0 + 1e-9;

  const WorldFrame& frame_;
  const WorldPoint& position_;
  const double limit_;
  const Cell cell_;
};

// Squared distances from the centre of a cell, in units of the distance between two neighbours.
class FromCell {
 public:
  FromCell(const WorldFrame& frame, Cell cell, double radius)
      : is_hexagonal_(frame.hexagons.has_value()), cell_(cell), limit_(LimitOf(radius / frame.cell_size)) {}

  Int128 limit() const { return limit_; }
  Cell cell() const { return cell_; }

  bool MayReach(int y, Int128 limit) const {
    const Int128 dy = Int128{y} - cell_.y;
    return is_hexagonal_ ? 3 * dy * dy <= 4 * limit : dy * dy <= limit;
  }

  int MiddleOf(int y, int width) const {
    const std::int64_t dy = std::int64_t{y} - cell_.y;
    const std::int64_t x = is_hexagonal_ ? CeilDivide(2 * Int128{cell_.x} - dy, 2) : cell_.x;
    return static_cast<int>(std::clamp<std::int64_t>(x, 0, width));
  }

  Int128 SquaredTo(Cell cell) const {
    const Int128 dx = Int128{cell.x} - cell_.x;
    const Int128 dy = Int128{cell.y} - cell_.y;
    return dx * dx + dy * dy + (is_hexagonal_ ? dx * dy : Int128{0});
  }

 private:
  // Relative tolerance, less than the relative difference of two squared distances on a map.
  static constexpr double kSlack = 1.0 + 1e-12;
  // More than any squared distance between cells.
  static constexpr double kFar = 1e30;

  static Int128 LimitOf(double steps) {
    return static_cast<Int128>(std::min(steps * kSlack * (steps * kSlack), kFar));
  }

  const bool is_hexagonal_;
  const Cell cell_;
  const Int128 limit_;
};

template <typename From>
std::optional<Cell> Nearest(const WalkGrid& walk, const From& from) {
  auto limit = from.limit();
  std::optional<Cell> best;
  const auto consider = [&](Cell cell) {
    const auto squared = from.SquaredTo(cell);
    if (squared < limit || (squared == limit && (!best || RowMajorLess(cell, *best)))) {
      limit = squared;
      best = cell;
    }
  };
  const auto look_at = [&](int y) {
    const int middle = from.MiddleOf(y, walk.width());
    if (const int x = FirstFreeFrom(walk.Row(y), middle, walk.width()); x < walk.width()) {
      consider({x, y});
    }
    if (const int x = LastFreeBefore(walk.Row(y), middle); x >= 0) {
      consider({x, y});
    }
  };
  const int middle = std::clamp(from.cell().y, 0, walk.height() - 1);
  for (int y = middle; y >= 0 && from.MayReach(y, limit); --y) {
    look_at(y);
  }
  for (int y = middle + 1; y < walk.height() && from.MayReach(y, limit); ++y) {
    look_at(y);
  }
  return best;
}

}  // namespace

std::optional<Cell> NearestFree(const WalkGrid& walk, const WorldFrame& frame, const WorldPoint& position,
                                double radius) {
  return Nearest(walk, FromPosition(frame, position, radius));
}

std::optional<Cell> NearestFree(const WalkGrid& walk, const WorldFrame& frame, Cell from, double radius) {
  return Nearest(walk, FromCell(frame, from, radius));
}

}  // namespace waystar::core
