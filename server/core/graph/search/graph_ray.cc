#include "server/core/graph/search/graph_ray.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/core/elements/waypoint.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/geometry/wide_integer.h"

namespace waystar::core {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::int64_t kCell = std::int64_t{1} << 20;

Int128 Cross(FixedPoint a, FixedPoint b) { return Int128{a.x} * b.y - Int128{a.y} * b.x; }
Int128 Dot(FixedPoint a, FixedPoint b) { return Int128{a.x} * b.x + Int128{a.y} * b.y; }
FixedPoint Minus(FixedPoint a, FixedPoint b) { return {a.x - b.x, a.y - b.y}; }
double Quotient(Int128 a, Int128 b) { return static_cast<double>(a) / static_cast<double>(b); }

// Computes where a ray first touches a part of a shape, as a fraction of the ray. That it touches the part,
// and not at its start, is decided elsewhere without rounding. Results here therefore do not depend on
// whether a rounded number is just below or above zero.
class FirstTouch {
 public:
  // REQUIRES: the ends differ.
  explicit FirstTouch(const Segment& ray)
      : ray_(ray), along_(Minus(ray.b, ray.a)), squared_length_(static_cast<double>(Dot(along_, along_))) {}

  double Of(const FixedBox& box) const {
    return std::max(EntryOf(ray_.a.x, along_.x, box.x_low, box.x_high),
                    EntryOf(ray_.a.y, along_.y, box.y_low, box.y_high));
  }

  double Of(const Disc& disc) const {
    const double entry = EntryOfDisc(ToFixed(disc.center), static_cast<double>(ToFixed(disc.radius)));
    return entry != kNever ? entry : PlaceOf(ToFixed(disc.center));
  }

  double Of(const Polygon& polygon) const {
    double first = kNever;
    FixedPoint last = ToFixed(polygon.vertices.back());
    for (const Point& vertex : polygon.vertices) {
      const FixedPoint next = ToFixed(vertex);
      first = std::min(first, Of(Segment{last, next}));
      last = next;
    }
    return first;
  }

  // A line with its width is convex. The ray enters it through one of its long sides or round ends.
  double Of(const Line& line) const {
    const Segment middle{ToFixed(line.start), ToFixed(line.end)};
    const double half = static_cast<double>(ToFixed(line.width)) / 2;
    const double first = std::min(
        {EntryOfStrip(middle, half), Of(middle), EntryOfDisc(middle.a, half), EntryOfDisc(middle.b, half)});
    return first != kNever ? first : std::min(PlaceOf(middle.a), PlaceOf(middle.b));
  }

 private:
  static double EntryOf(std::int64_t start, std::int64_t way, std::int64_t low, std::int64_t high) {
    if (way > 0 && start < low) {
      return static_cast<double>(low - start) / static_cast<double>(way);
    }
    if (way < 0 && start > high) {
      return static_cast<double>(high - start) / static_cast<double>(way);
    }
    return 0.0;
  }

  // Returns the fraction at which the ray is nearest to a point.
  double PlaceOf(FixedPoint point) const {
    return static_cast<double>(Dot(along_, Minus(point, ray_.a))) / squared_length_;
  }

  // Returns true if the fraction is on the ray, with a tolerance for rounding.
  bool IsOnRay(double fraction) const {
    const double slack = 1.0 / std::sqrt(squared_length_);
    return fraction >= -slack && fraction <= 1.0 + slack;
  }

  // Returns the fraction at which the ray first touches a segment, or kNever.
  double Of(const Segment& other) const {
    if (!Touches(ray_, other)) {
      return kNever;
    }
    const FixedPoint way = Minus(other.b, other.a);
    const Int128 whole = Cross(along_, way);
    if (whole == 0) {
      return std::max(0.0, std::min(PlaceOf(other.a), PlaceOf(other.b)));
    }
    return Quotient(Cross(Minus(other.a, ray_.a), way), whole);
  }

  // Returns the fraction at which the ray enters a disc, or kNever if it certainly does not.
  double EntryOfDisc(FixedPoint center, double radius) const {
    const double length = std::sqrt(squared_length_);
    const double off = std::abs(static_cast<double>(Cross(along_, Minus(center, ray_.a))));
    const double reach = radius * length;
    // Tolerance, because rounding may make a ray appear to miss a disc that it grazes.
    constexpr double kSlack = 0x1p-48;
    if (off > reach + kSlack * (reach + off)) {
      return kNever;
    }
    const double half_chord = std::sqrt(std::max(0.0, (reach - off) * (reach + off)));
    const double entry = PlaceOf(center) - half_chord / squared_length_;
    return IsOnRay(entry) ? entry : kNever;
  }

  // Returns where the ray enters the rectangle around the middle line through one of its long sides; kNever
  // if it does not.
  double EntryOfStrip(const Segment& middle, double half) const {
    const FixedPoint way = Minus(middle.b, middle.a);
    const double squared = static_cast<double>(Dot(way, way));
    const double reach = half * std::sqrt(squared);
    const double start = static_cast<double>(Cross(way, Minus(ray_.a, middle.a)));
    const double change = static_cast<double>(Cross(way, along_));
    if (std::abs(start) <= reach || change == 0.0) {
      return kNever;
    }
    const double entry = ((start > 0.0 ? reach : -reach) - start) / change;
    const double place = static_cast<double>(Dot(way, Minus(ray_.a, middle.a))) +
                         entry * static_cast<double>(Dot(way, along_));
    return IsOnRay(entry) && place >= 0.0 && place <= squared ? entry : kNever;
  }

  const Segment ray_;
  const FixedPoint along_;
  const double squared_length_;
};

double FirstTouchOfPart(const FirstTouch& touch, const Shape& shape, std::size_t part) {
  const std::size_t boxes = shape.cells.size() + shape.rectangles.size();
  if (part < boxes) {
    return touch.Of(BoxOfPart(shape, part));
  }
  part -= boxes;
  if (part < shape.discs.size()) {
    return touch.Of(shape.discs[part]);
  }
  part -= shape.discs.size();
  if (part < shape.polygons.size()) {
    return touch.Of(shape.polygons[part]);
  }
  return touch.Of(shape.lines[part - shape.polygons.size()]);
}

// Computes how far a ray is free of a grid's blocked cells, as a fraction.
class GridRay {
 public:
  GridRay(const GridSight& grid, const WorldPoint& from, const WorldPoint& to)
      : walkable_(grid.walkable()),
        from_(grid.InCells(from)),
        to_(grid.InCells(to)),
        touch_(Segment{from_, to_}) {}

  // REQUIRES: the ray is not free.
  double FirstBlocked() const {
    const double end =
        std::min(ExitOf(from_.x, to_.x, walkable_.width()), ExitOf(from_.y, to_.y, walkable_.height()));
    double first = end;
    const int step = to_.y >= from_.y ? 1 : -1;
    const auto [low, high] = std::minmax(from_.y, to_.y);
    const int first_row = FirstOf(low, walkable_.height());
    const int last_row = LastOf(high, walkable_.height());
    for (int row = step > 0 ? first_row : last_row; row >= first_row && row <= last_row; row += step) {
      const FixedBox whole{0, row * kCell, walkable_.width() * kCell, (row + 1) * kCell};
      if (touch_.Of(whole) > first) {
        break;
      }
      first = std::min(first, FirstBlockedOfRow(row));
    }
    return first;
  }

 private:
  // Return the first and last cell that contain a point along one axis; on a border there are two.
  static int FirstOf(Int128 place, int count, std::int64_t divisor = 1) {
    return static_cast<int>(
        std::clamp<std::int64_t>(CeilDivide(place, divisor * kCell) - 1, 0, std::int64_t{count}));
  }
  static int LastOf(Int128 place, int count, std::int64_t divisor = 1) {
    return static_cast<int>(
        std::clamp<std::int64_t>(FloorDivide(place, divisor * kCell), -1, std::int64_t{count} - 1));
  }

  // Returns where the ray leaves the grid along one axis; kNever if it does not.
  static double ExitOf(std::int64_t from, std::int64_t to, int count) {
    const std::int64_t side = count * kCell;
    if (from < 0 || from > side) {
      return 0.0;
    }
    if (to < 0 || to > side) {
      return static_cast<double>((to < 0 ? 0 : side) - from) / static_cast<double>(to - from);
    }
    return kNever;
  }

  double FirstBlockedOfRow(int row) const {
    const std::int64_t dx = to_.x - from_.x;
    const std::int64_t dy = to_.y - from_.y;
    Int128 low = std::min(from_.x, to_.x);
    Int128 high = std::max(from_.x, to_.x);
    std::int64_t divisor = 1;
    if (dy != 0) {
      // Points where the ray enters and leaves the row, times the ray's height.
      divisor = std::abs(dy);
      const auto x_at = [&](std::int64_t y) {
        return Int128{from_.x} * divisor + Int128{y - from_.y} * dx * (dy > 0 ? 1 : -1);
      };
      const auto [y_low, y_high] = std::minmax(from_.y, to_.y);
      const Int128 one = x_at(std::max(row * kCell, y_low));
      const Int128 other = x_at(std::min((row + 1) * kCell, y_high));
      low = std::min(one, other);
      high = std::max(one, other);
    }
    const int first = FirstOf(low, walkable_.width(), divisor);
    const int last = LastOf(high, walkable_.width(), divisor);
    if (first > last || AreSet(walkable_.row(row), first, last)) {
      return kNever;
    }
    const int step = dx >= 0 ? 1 : -1;
    for (int column = step > 0 ? first : last; column >= first && column <= last; column += step) {
      if (!walkable_.Test({column, row})) {
        return touch_.Of(FixedBox{column * kCell, row * kCell, (column + 1) * kCell, (row + 1) * kCell});
      }
    }
    return kNever;
  }

  const BitPlane& walkable_;
  const FixedPoint from_;
  const FixedPoint to_;
  const FirstTouch touch_;
};

// First touch of a ray among those offered so far.
class FirstHit {
 public:
  // REQUIRES: the positions are rounded.
  FirstHit(const WorldPoint& from, const WorldPoint& to)
      : from_(from),
        to_(to),
        steps_(static_cast<double>(std::max(std::abs(ToFixed(to.x) - ToFixed(from.x)),
                                            std::abs(ToFixed(to.y) - ToFixed(from.y))))) {}

  // Keeps a touch if it comes first. `obstacle` is empty for a cell of the grid.
  void Offer(double fraction, absl::string_view obstacle) {
    fraction = std::clamp(fraction, 0.0, 1.0);
    const std::int64_t step = std::llrint(fraction * steps_);
    if (!is_found_ || step < step_ || (step == step_ && IsBefore(obstacle, obstacle_)) ||
        (step == step_ && obstacle == obstacle_ && fraction < fraction_)) {
      is_found_ = true;
      step_ = step;
      fraction_ = fraction;
      obstacle_ = obstacle;
    }
  }

  GraphRayHit Result() const {
    if (!is_found_) {
      return {.position = to_};
    }
    const auto at = [&](double from, double to) { return from + fraction_ * (to - from); };
    return {.is_blocked = true,
            .position = fraction_ == 1.0
                            ? to_
                            : Rounded(WorldPoint{at(from_.x, to_.x), at(from_.y, to_.y), at(from_.z, to_.z)}),
            .fraction = fraction_,
            .obstacle = std::string(obstacle_)};
  }

 private:
  static bool IsBefore(absl::string_view a, absl::string_view b) {
    return !a.empty() && (b.empty() || a < b);
  }

  const WorldPoint from_;
  const WorldPoint to_;
  // Length of the ray along its longer axis, in units of 2^-20.
  const double steps_;
  bool is_found_ = false;
  std::int64_t step_ = 0;
  double fraction_ = 1.0;
  absl::string_view obstacle_;
};

void OfferObstacles(const SightMap& sight, const WorldPoint& from, const WorldPoint& to, FirstHit& hit) {
  const Segment ray{ToFixed(from), ToFixed(to)};
  sight.VisitPartsAlong(from, to, [&](const Obstacle& obstacle, std::size_t part) {
    if (TouchesPart(ray, obstacle.shape, part)) {
      const bool begins_there = TouchesPart({ray.a, ray.a}, obstacle.shape, part);
      hit.Offer(begins_there ? 0.0 : FirstTouchOfPart(FirstTouch(ray), obstacle.shape, part), obstacle.id);
    }
    return true;
  });
}

}  // namespace

GraphRayHit CastRayAtObstacles(const SightMap& sight, const WorldPoint& from, const WorldPoint& to) {
  const WorldPoint start = Rounded(from);
  const WorldPoint end = Rounded(to);
  FirstHit hit(start, end);
  OfferObstacles(sight, start, end, hit);
  return hit.Result();
}

absl::StatusOr<GraphRayHit> CastGraphRay(const WaypointGraph& graph, const WorldPoint& from,
                                         const WorldPoint& to) {
  for (const auto& [position, field] : {std::pair(&from, "from.position"), {&to, "to.position"}}) {
    WAYSTAR_RETURN_IF_ERROR_AT(field, CheckPosition(*position));
  }
  const WorldPoint start = Rounded(from);
  const WorldPoint end = Rounded(to);
  FirstHit hit(start, end);
  OfferObstacles(graph.sight(), start, end, hit);
  if (const GridSight* grid = graph.sight().grid(); grid != nullptr && !grid->IsFree(start, end)) {
    const bool begins_there = !grid->IsFree(start, start);
    hit.Offer(begins_there ? 0.0 : GridRay(*grid, start, end).FirstBlocked(), "");
  }
  return hit.Result();
}

}  // namespace waystar::core
