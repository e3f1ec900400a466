#include "server/core/graph/map/grid_sight.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "server/core/grid/cells/bit_row.h"
#include "server/geometry/wide_integer.h"

namespace waystar::core {
namespace {

constexpr std::int64_t kCell = std::int64_t{1} << 20;

// First and last of `count` cells that touch an interval; cells outside the grid are not counted.
struct CellRange {
  std::int64_t first;
  std::int64_t last;

  // Returns the cells from low / divisor to high / divisor, in units of 2^-20 cells.
  static CellRange Of(Int128 low, Int128 high, std::int64_t divisor, std::int64_t count) {
    return {std::max<std::int64_t>(CeilDivide(low, divisor * kCell) - 1, 0),
            std::min<std::int64_t>(FloorDivide(high, divisor * kCell), count - 1)};
  }
};

}  // namespace

bool GridSight::IsWalkableAt(const WorldPoint& position) const {
  const double x = std::floor((position.x - origin_.x) / cell_size_);
  const double y = std::floor((position.y - origin_.y) / cell_size_);
  constexpr double kFar = 1 << 30;
  return std::abs(x) < kFar && std::abs(y) < kFar &&
         walkable_.Test({static_cast<std::int32_t>(x), static_cast<std::int32_t>(y)});
}

bool GridSight::IsFree(const WorldPoint& a, const WorldPoint& b) const {
  FixedPoint low = InCells(a);
  FixedPoint high = InCells(b);
  if (low.y > high.y) {
    std::swap(low, high);
  }
  const auto [x_low, x_high] = std::minmax(low.x, high.x);
  const int width = walkable_.width();
  const int height = walkable_.height();
  if (x_low < 0 || low.y < 0 || x_high > width * kCell || high.y > height * kCell) {
    return false;
  }
  const std::int64_t dx = high.x - low.x;
  const std::int64_t dy = high.y - low.y;
  const CellRange rows = CellRange::Of(low.y, high.y, 1, height);
  for (std::int64_t row = rows.first; row <= rows.last; ++row) {
    CellRange columns = CellRange::Of(x_low, x_high, 1, width);
    if (dy != 0) {
      // Points where the line enters and leaves the row, times dy.
      const auto x_at = [&](std::int64_t y) { return Int128{low.x} * dy + Int128{y - low.y} * dx; };
      const Int128 one = x_at(std::max(row * kCell, low.y));
      const Int128 other = x_at(std::min((row + 1) * kCell, high.y));
      columns = CellRange::Of(std::min(one, other), std::max(one, other), dy, width);
    }
    if (!AreSet(walkable_.row(static_cast<int>(row)), static_cast<int>(columns.first),
                static_cast<int>(columns.last))) {
      return false;
    }
  }
  return true;
}

}  // namespace waystar::core
