#include "server/core/grid/path/smoothing.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "server/core/grid/path/line_of_sight.h"

namespace waystar::core {
namespace {

// Returns true if p lies on the segment from a to b.
bool LiesBetween(Cell a, Cell p, Cell b) {
  const std::int64_t ax = a.x - p.x;
  const std::int64_t ay = a.y - p.y;
  const std::int64_t bx = b.x - p.x;
  const std::int64_t by = b.y - p.y;
  return ax * by == ay * bx && ax * bx + ay * by <= 0;
}

class String {
 public:
  String(DearestOnPath& dearest, const WalkGrid& walk, SightRule rule, std::vector<Cell>& points)
      : dearest_(dearest),
        walk_(walk),
        rule_(rule),
        is_uniform_(dearest.map().HasUniformCost()),
        points_(points) {}

  void Tauten() {
    LeaveOut();
    for (bool goes_on = is_uniform_; goes_on;) {
      goes_on = Pull();
      LeaveOut();
    }
  }

 private:
  // Minimum relative shortening of the string for another round of pulling.
  static constexpr double kWorthwhile = 1e-4;
  // Maximum number of points removed at once around a corner.
  static constexpr std::size_t kMostAtOnce = 4;
  static constexpr int kLongestPull = 16;
  // Minimum gain of moving a point: more than rounding errors, so that moves cannot cycle.
  static constexpr double kMinGain = 1e-6;

  double Distance(Cell a, Cell b) const {
    return std::sqrt(static_cast<double>(SquaredDistance(rule_.lattice, a, b)));
  }

  bool Sees(Cell a, Cell b) const { return HasLineOfSight(walk_, rule_, a, b); }

  // Returns true if a point may be removed. If it is on the line, the line crosses the same cells; sight and
  // cost are then not checked, because the cost check could fail by rounding.
  bool CanLeaveOut(Cell before, Cell point, Cell after) const {
    return LiesBetween(before, point, after) ||
           (Sees(before, after) &&
            (is_uniform_ || LineCost(dearest_, before, after) <=
                                LineCost(dearest_, before, point) + LineCost(dearest_, point, after)));
  }

  void LeaveOut() {
    // Makes lines grow evenly. On open ground the second pass alone would check each later point from the
    // first one, in time quadratic in the length.
    for (std::size_t size = points_.size(); LeaveOutEveryOther() > size / 8;) {
      size = points_.size();
    }
    LeaveOutTheRest();
  }

  // Replaces pairs of lines by one line where allowed. Returns the number of points removed.
  std::size_t LeaveOutEveryOther() {
    const std::size_t size = points_.size();
    std::size_t kept = 1;
    std::size_t i = 1;
    while (i + 1 < size) {
      if (CanLeaveOut(points_[kept - 1], points_[i], points_[i + 1])) {
        ++i;
      }
      points_[kept++] = points_[i++];
    }
    if (i < size) {
      points_[kept++] = points_[i];
    }
    points_.resize(kept);
    return size - kept;
  }

  // Removes points until none can be removed. Invariant: none of the points kept so far can be.
  void LeaveOutTheRest() {
    std::size_t kept = 1;
    for (std::size_t i = 1; i < points_.size(); ++i) {
      const Cell next = points_[i];
      for (std::size_t count = 1; count < kept && count <= kMostAtOnce;) {
        const bool can_leave_out = count == 1 ? CanLeaveOut(points_[kept - 2], points_[kept - 1], next)
                                              : CanLeaveOut(kept, count, next);
        kept -= can_leave_out ? count : 0;
        count = can_leave_out ? 1 : count + 1;
      }
      points_[kept++] = next;
    }
    points_.resize(kept);
  }

  // Returns true if `next` may directly follow the kept points without the last `count`.
  bool CanLeaveOut(std::size_t kept, std::size_t count, Cell next) const {
    const Cell before = points_[kept - count - 1];
    if (!Sees(before, next)) {
      return false;
    }
    if (is_uniform_) {
      return true;
    }
    const absl::Span<const Cell> piece = absl::MakeConstSpan(points_).subspan(kept - count - 1, count + 1);
    return LineCost(dearest_, before, next) <=
           PolylineCost(dearest_, piece) + LineCost(dearest_, piece.back(), next);
  }

  // Moves each inner point to shorten the lines to its neighbours. Returns true if another round is
  // worthwhile.
  bool Pull() {
    double length = 0.0;
    double gain = 0.0;
    for (std::size_t i = 1; i + 1 < points_.size(); ++i) {
      gain += PullPoint(points_[i - 1], points_[i], points_[i + 1]);
      length += Distance(points_[i - 1], points_[i]);
    }
    return gain > kWorthwhile * length;
  }

  // Moves a point to shorten the lines to its neighbours. Returns the amount by which they became shorter.
  double PullPoint(Cell before, Cell& point, Cell after) const {
    const double length_before = Distance(before, point) + Distance(point, after);
    double length = length_before;
    for (int pull = kLongestPull; pull > 0; pull /= 2) {
      for (const Cell step : kSteps) {
        while (true) {
          const Cell moved = {point.x + pull * step.x, point.y + pull * step.y};
          const double moved_length = Distance(before, moved) + Distance(moved, after);
          if (moved_length > length - kMinGain || !walk_.IsWalkable(moved) || !Sees(before, moved) ||
              !Sees(moved, after)) {
            break;
          }
          point = moved;
          length = moved_length;
        }
      }
    }
    return length_before - length;
  }

  DearestOnPath& dearest_;
  const WalkGrid& walk_;
  const SightRule rule_;
  const bool is_uniform_;
  std::vector<Cell>& points_;
};

}  // namespace

double PolylineCost(DearestOnPath& dearest, absl::Span<const Cell> points) {
  double cost = 0.0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    cost += LineCost(dearest, points[i - 1], points[i]);
  }
  return cost;
}

void Smooth(DearestOnPath& dearest, const WalkGrid& walk, SightRule rule, std::vector<Cell>& points) {
  if (points.size() > 2) {
    String(dearest, walk, rule, points).Tauten();
  }
}

}  // namespace waystar::core
