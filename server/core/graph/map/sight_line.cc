#include "server/core/graph/map/sight_line.h"

#include <algorithm>
#include <cmath>

#include "server/core/grid/cells/bit_row.h"
#include "server/geometry/wide_integer.h"

namespace waystar::core {
namespace {

// Side of a cell, or a unit of length, in fixed point.
constexpr std::int64_t kOne = std::int64_t{1} << 20;

// Returns a positive number if p lies on one side of the line from a to b, a negative one on the other.
Int128 Side(FixedPoint a, FixedPoint b, FixedPoint p) {
  return Int128{b.x - a.x} * (p.y - a.y) - Int128{b.y - a.y} * (p.x - a.x);
}

FixedBox BoxOf(const Segment& segment) {
  return {std::min(segment.a.x, segment.b.x), std::min(segment.a.y, segment.b.y),
          std::max(segment.a.x, segment.b.x), std::max(segment.a.y, segment.b.y)};
}

bool Overlap(const FixedBox& a, const FixedBox& b) {
  return a.x_low <= b.x_high && b.x_low <= a.x_high && a.y_low <= b.y_high && b.y_low <= a.y_high;
}

bool AreOnOneSide(Int128 first, Int128 second) {
  return (first > 0 && second > 0) || (first < 0 && second < 0);
}

Int128 Dot(FixedPoint a, FixedPoint b) { return Int128{a.x} * b.x + Int128{a.y} * b.y; }

FixedPoint Minus(FixedPoint a, FixedPoint b) { return {a.x - b.x, a.y - b.y}; }

// Returns true if the point is at most `width` / 2 from the segment.
bool IsNear(FixedPoint point, const Segment& segment, std::int64_t width) {
  const FixedPoint along = Minus(segment.b, segment.a);
  const FixedPoint from_a = Minus(point, segment.a);
  const FixedPoint from_b = Minus(point, segment.b);
  const Int128 width_squared = Int128{width} * width;
  const Int128 place = Dot(along, from_a);
  if (place <= 0) {
    return 4 * Dot(from_a, from_a) <= width_squared;
  }
  if (place >= Dot(along, along)) {
    return 4 * Dot(from_b, from_b) <= width_squared;
  }
  const Int128 side = Side(segment.a, segment.b, point);
  const auto twice = static_cast<UInt128>(side < 0 ? -2 * side : 2 * side);
  return IsProductAtMost(twice, twice, static_cast<UInt128>(width_squared),
                         static_cast<UInt128>(Dot(along, along)));
}

Segment SegmentOf(const Line& line) { return {ToFixed(line.start), ToFixed(line.end)}; }

FixedBox BoxOf(const Rectangle& r) {
  return {r.x * kOne, r.y * kOne, (std::int64_t{r.x} + r.width) * kOne,
          (std::int64_t{r.y} + r.height) * kOne};
}

FixedBox BoxOf(const Disc& disc) {
  const FixedPoint center = ToFixed(disc.center);
  const std::int64_t radius = ToFixed(disc.radius);
  return {center.x - radius, center.y - radius, center.x + radius, center.y + radius};
}

FixedBox BoxOf(const Polygon& polygon) {
  const FixedPoint first = ToFixed(polygon.vertices.front());
  FixedBox box{first.x, first.y, first.x, first.y};
  for (const Point& vertex : polygon.vertices) {
    const FixedPoint point = ToFixed(vertex);
    box = {std::min(box.x_low, point.x), std::min(box.y_low, point.y), std::max(box.x_high, point.x),
           std::max(box.y_high, point.y)};
  }
  return box;
}

FixedBox BoxOf(const Line& line) {
  const FixedBox box = BoxOf(SegmentOf(line));
  const std::int64_t half = ToFixed(line.width) / 2 + 1;
  return {box.x_low - half, box.y_low - half, box.x_high + half, box.y_high + half};
}

// Returns visit(part) for the part with that number.
template <typename Visitor>
auto VisitPart(const Shape& shape, std::size_t part, Visitor visit) {
  if (part < shape.cells.size()) {
    return visit(Rectangle{shape.cells[part].x, shape.cells[part].y, 1, 1});
  }
  part -= shape.cells.size();
  if (part < shape.rectangles.size()) {
    return visit(shape.rectangles[part]);
  }
  part -= shape.rectangles.size();
  if (part < shape.discs.size()) {
    return visit(shape.discs[part]);
  }
  part -= shape.discs.size();
  if (part < shape.polygons.size()) {
    return visit(shape.polygons[part]);
  }
  return visit(shape.lines[part - shape.polygons.size()]);
}

bool Touches(const Segment& segment, const Rectangle& rectangle) {
  return Touches(segment, BoxOf(rectangle));
}

// First and last of `count` cells that touch an interval; cells outside the grid are not counted.
struct CellRange {
  std::int64_t first;
  std::int64_t last;

  // Returns the cells from low / divisor to high / divisor, in units of 2^-20 cells.
  static CellRange Of(Int128 low, Int128 high, std::int64_t divisor, std::int64_t count) {
    return {std::max<std::int64_t>(CeilDivide(low, divisor * kOne) - 1, 0),
            std::min<std::int64_t>(FloorDivide(high, divisor * kOne), count - 1)};
  }
};

}  // namespace

bool Touches(const Segment& segment, const FixedBox& box) {
  if (!Overlap(BoxOf(segment), box)) {
    return false;
  }
  // The boxes overlap, so only the segment's line can separate the two, with all corners on one side.
  const Int128 first = Side(segment.a, segment.b, {box.x_low, box.y_low});
  for (const FixedPoint corner : {FixedPoint{box.x_low, box.y_high}, FixedPoint{box.x_high, box.y_low},
                                  FixedPoint{box.x_high, box.y_high}}) {
    if (!AreOnOneSide(first, Side(segment.a, segment.b, corner))) {
      return true;
    }
  }
  return false;
}

bool Touches(const Segment& segment, const Segment& other) {
  return Overlap(BoxOf(segment), BoxOf(other)) &&
         !AreOnOneSide(Side(segment.a, segment.b, other.a), Side(segment.a, segment.b, other.b)) &&
         !AreOnOneSide(Side(other.a, other.b, segment.a), Side(other.a, other.b, segment.b));
}

bool Touches(const Segment& segment, const Disc& disc) {
  return IsNear(ToFixed(disc.center), segment, 2 * ToFixed(disc.radius));
}

bool Touches(const Segment& segment, const Polygon& polygon) {
  bool is_inside = false;
  FixedPoint last = ToFixed(polygon.vertices.back());
  for (const Point& vertex : polygon.vertices) {
    const FixedPoint next = ToFixed(vertex);
    if (Touches(segment, Segment{last, next})) {
      return true;
    }
    // Counts the edges to the right of the start.
    if ((last.y > segment.a.y) != (next.y > segment.a.y) &&
        (Side(last, next, segment.a) > 0) == (next.y > last.y)) {
      is_inside = !is_inside;
    }
    last = next;
  }
  return is_inside;
}

bool Touches(const Segment& segment, const Line& line) {
  const Segment middle = SegmentOf(line);
  const std::int64_t width = ToFixed(line.width);
  return Touches(segment, middle) || IsNear(segment.a, middle, width) || IsNear(segment.b, middle, width) ||
         IsNear(middle.a, segment, width) || IsNear(middle.b, segment, width);
}

bool TouchesPart(const Segment& segment, const Shape& shape, std::size_t part) {
  return VisitPart(shape, part, [&](const auto& found) { return Touches(segment, found); });
}

bool Touches(const Segment& segment, const Shape& shape) {
  for (std::size_t part = 0; part < PartCount(shape); ++part) {
    if (TouchesPart(segment, shape, part)) {
      return true;
    }
  }
  return false;
}

FixedBox BoxOfPart(const Shape& shape, std::size_t part) {
  return VisitPart(shape, part, [](const auto& found) { return BoxOf(found); });
}

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
  if (x_low < 0 || low.y < 0 || x_high > width * kOne || high.y > height * kOne) {
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
      const Int128 one = x_at(std::max(row * kOne, low.y));
      const Int128 other = x_at(std::min((row + 1) * kOne, high.y));
      columns = CellRange::Of(std::min(one, other), std::max(one, other), dy, width);
    }
    if (!AreSet(walkable_.row(static_cast<int>(row)), static_cast<int>(columns.first),
                static_cast<int>(columns.last))) {
      return false;
    }
  }
  return true;
}

Box BoxAroundPart(const Shape& shape, std::size_t part) {
  const FixedBox fixed = BoxOfPart(shape, part);
  const auto low = [](std::int64_t value) { return static_cast<double>(value - 1) / kFixedScale; };
  const auto high = [](std::int64_t value) { return static_cast<double>(value + 1) / kFixedScale; };
  return {low(fixed.x_low), low(fixed.y_low), high(fixed.x_high), high(fixed.y_high)};
}

SightMap::Part SightMap::PartOf(const Obstacle& obstacle, std::size_t number) {
  return {.around = BoxAroundPart(obstacle.shape, number), .obstacle = &obstacle, .number = number};
}

bool SightMap::IsNear(const Obstacle& obstacle, const Box& area) {
  for (std::size_t i = 0; i < PartCount(obstacle.shape); ++i) {
    if (BoxAroundPart(obstacle.shape, i).Overlaps(area)) {
      return true;
    }
  }
  return false;
}

void SightMap::Put(std::shared_ptr<const Obstacle> obstacle, Owner owner) {
  if (obstacles_.Find(obstacle->id) != nullptr) {
    Remove(obstacle->id, owner);
  }
  for (std::size_t i = 0; i < PartCount(obstacle->shape); ++i) {
    parts_.Put(PartOf(*obstacle, i), owner);
  }
  obstacles_.Put(obstacle);
}

void SightMap::Remove(absl::string_view id, Owner owner) {
  const std::shared_ptr<const Obstacle> obstacle = obstacles_.Find(id);
  for (std::size_t i = 0; i < PartCount(obstacle->shape); ++i) {
    parts_.Remove(PartOf(*obstacle, i), owner);
  }
  obstacles_.Remove(obstacle->id);
}

bool SightMap::IsClearOfObstacles(const WorldPoint& a, const WorldPoint& b) const {
  if (parts_.size() == 0) {
    return true;
  }
  const Segment segment{ToFixed(a), ToFixed(b)};
  return VisitPartsAlong(a, b, [&](const Obstacle& obstacle, std::size_t part) {
    return !TouchesPart(segment, obstacle.shape, part);
  });
}

std::vector<const Obstacle*> SightMap::ObstaclesNear(const Box& area) const {
  std::vector<const Obstacle*> found;
  parts_.VisitOverlapping(area, [&](const Part& part) {
    found.push_back(part.obstacle);
    return true;
  });
  std::sort(found.begin(), found.end(), [](const Obstacle* a, const Obstacle* b) { return a->id < b->id; });
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::size_t SightMap::memory_bytes() const {
  return obstacles_.memory_bytes() + parts_.BytesBeyond({}) + (grid_ != nullptr ? grid_->memory_bytes() : 0);
}

std::size_t SightMap::BytesBeyond(const SightMap& other) const {
  return obstacles_.BytesBeyond(other.obstacles_) + parts_.BytesBeyond(other.parts_);
}

}  // namespace waystar::core
