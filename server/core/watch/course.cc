#include "server/core/watch/course.h"

#include <algorithm>
#include <utility>

namespace waystar::core {
namespace {

// Returns the share of the line from `a` to `b` that lies before its point nearest to `at`, as seen from
// above.
double ShareNearest(const WorldPoint& a, const WorldPoint& b, const WorldPoint& at) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double length = dx * dx + dy * dy;
  return length > 0.0 ? std::clamp(((at.x - a.x) * dx + (at.y - a.y) * dy) / length, 0.0, 1.0) : 1.0;
}

double SquaredDistanceTo(const WorldPoint& a, const WorldPoint& b, double share, const WorldPoint& at) {
  const double dx = a.x + share * (b.x - a.x) - at.x;
  const double dy = a.y + share * (b.y - a.y) - at.y;
  return dx * dx + dy * dy;
}

}  // namespace

Course::Course(std::vector<WorldPoint> points, std::vector<std::size_t> leaps)
    : points_(std::move(points)), leaps_(std::move(leaps)) {}

bool Course::Follow(const WorldPoint& at, double off_path) {
  double nearest = off_path * off_path;
  Place found{.next = 0};
  const auto look = [&](const WorldPoint& a, const WorldPoint& b, std::size_t next, double from) {
    const double share = std::max(from, ShareNearest(a, b, at));
    const double distance = SquaredDistanceTo(a, b, share, at);
    if (distance <= nearest) {
      nearest = distance;
      found = {.next = next, .share = share};
    }
    return distance <= off_path * off_path;
  };
  if (place_.next >= points_.size()) {
    return !points_.empty() && look(points_.back(), points_.back(), points_.size(), 0.0);
  }
  for (std::size_t next = place_.next; next < points_.size(); ++next) {
    const bool is_leap = std::ranges::binary_search(leaps_, next);
    const WorldPoint& from = is_leap ? points_[next] : points_[next - 1];
    const bool is_near = look(from, points_[next], next, next == place_.next ? place_.share : 0.0);
    if (!is_near && found.next > 0) {
      break;
    }
  }
  if (found.next == 0) {
    return false;
  }
  place_ = found;
  return true;
}

Course::Rest Course::RestAhead() const {
  if (place_.next >= points_.size()) {
    return {.points = points_};
  }
  const std::size_t next = place_.next;
  const auto leap = std::ranges::lower_bound(leaps_, next);
  const bool has_leapt = place_.share > 0.0 && leap != leaps_.end() && *leap == next;
  const WorldPoint& from = points_[has_leapt ? next : next - 1];
  const WorldPoint& to = points_[next];
  const double share = place_.share;
  Rest rest{.points = {{from.x + share * (to.x - from.x), from.y + share * (to.y - from.y),
                        from.z + share * (to.z - from.z)}}};
  rest.points.insert(rest.points.end(), points_.begin() + static_cast<std::ptrdiff_t>(next), points_.end());
  for (auto later = leap + (has_leapt ? 1 : 0); later != leaps_.end(); ++later) {
    rest.leaps.push_back(*later - next + 1);
  }
  return rest;
}

}  // namespace waystar::core
