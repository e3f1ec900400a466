// Built without contraction of floating-point operations, so that ties are ties on every machine.
#include "server/core/search/snap.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <optional>

#include "server/core/grid/bit_row.h"

namespace waystar::core {
namespace {

// The first set cell of a row from x on to the right; `width` if there is none.
int FirstFreeFrom(const Word* row, int x, int width) {
  for (int i = (x + 1) / kWordBits; i <= width / kWordBits; ++i) {
    const auto index = static_cast<std::size_t>(i);
    if (const Word bits = row[index] & SpanMask(index, x, width); bits != 0) {
      return i * kWordBits + std::countr_zero(bits) - 1;
    }
  }
  return width;
}

// The last one before x; -1 if there is none.
int LastFreeBefore(const Word* row, int x) {
  for (int i = x / kWordBits; x > 0 && i >= 0; --i) {
    const auto index = static_cast<std::size_t>(i);
    if (const Word bits = row[index] & SpanMask(index, 0, x); bits != 0) {
      return i * kWordBits + kWordBits - 1 - std::countl_zero(bits) - 1;
    }
  }
  return -1;
}

class Nearest {
 public:
  Nearest(const WorldFrame& frame, const Position& position, double radius)
      : frame_(frame), position_(position), limit_(radius * radius) {}

  // Returns whether a row whose cells are no nearer than its middle may hold a better one.
  bool MayBeIn(int y) const {
    if (frame_.hexagons) {
      // Rows are level, or rise by 30 degrees; either way they lie that far apart.
      const double away = (y - frame_.PointAt(position_).y) * std::sqrt(0.75) * frame_.cell_size;
      return away * away <= limit_ * kSlack;
    }
    const double dy = frame_.CenterOf({0, y}).y - position_.y;
    return dy * dy <= limit_;
  }

  void Consider(Cell cell) {
    const Position center = frame_.CenterOf(cell);
    const double dx = center.x - position_.x;
    const double dy = center.y - position_.y;
    const double squared = dx * dx + dy * dy;
    if (squared < limit_ || (squared == limit_ && (!best_ || RowMajorLess(cell, *best_)))) {
      limit_ = squared;
      best_ = cell;
    }
  }

  std::optional<Cell> best() const { return best_; }

 private:
  const WorldFrame& frame_;
  const Position& position_;
  // For what rounding does.
  static constexpr double kSlack = 1.0 + 1e-9;

  // The square of the distance that a better one has at the most.
  double limit_;
  std::optional<Cell> best_;
};

}  // namespace

std::optional<Cell> NearestFree(const WalkGrid& walk, const WorldFrame& frame, const Position& position,
                                double radius) {
  Nearest nearest(frame, position, radius);
  const Cell at = frame.CellAt(position);
  const Cell middle = {std::clamp(at.x, 0, walk.width() - 1), std::clamp(at.y, 0, walk.height() - 1)};
  // The nearest of row y, before it or from it on.
  const auto middle_of_row = [&](int y) {
    if (!frame.hexagons) {
      return middle.x;
    }
    const WorldFrame::PlanePoint point = frame.PointAt(position);
    const double x = std::ceil(point.x - (y - point.y) / 2);
    return static_cast<int>(std::clamp(x, 0.0, static_cast<double>(walk.width())));
  };
  const auto look_at = [&](int y) {
    const int from = middle_of_row(y);
    if (const int x = FirstFreeFrom(walk.Row(y), from, walk.width()); x < walk.width()) {
      nearest.Consider({x, y});
    }
    if (const int x = LastFreeBefore(walk.Row(y), from); x >= 0) {
      nearest.Consider({x, y});
    }
  };
  for (int y = middle.y; y >= 0 && nearest.MayBeIn(y); --y) {
    look_at(y);
  }
  for (int y = middle.y + 1; y < walk.height() && nearest.MayBeIn(y); ++y) {
    look_at(y);
  }
  return nearest.best();
}

}  // namespace waystar::core
