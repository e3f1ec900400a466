// Compiled without contraction of floating-point operations: see shape_raster.h.

#include "server/core/grid/shapes/shape_rows.h"

#include <cmath>
#include <limits>
#include <utility>

namespace waystar::core {
namespace {

constexpr std::int64_t kHalfCell = kUnitsPerCell / 2;

std::int32_t ToCell(std::int64_t value) { return static_cast<std::int32_t>(value); }

// Returns the rows whose cell centres lie from `top` to `bottom`.
Interval CentresBetween(std::int64_t top, std::int64_t bottom) {
  return {ToCell(CeilDivide(top, kUnitsPerCell)), ToCell(FloorDivide(bottom, kUnitsPerCell) + 1)};
}

// Returns the x at which the line through two points is at height y, times (to.y - from.y).
Int128 ScaledXAt(const FixedPoint& from, const FixedPoint& to, std::int64_t y) {
  return Int128{from.x} * (to.y - from.y) + Int128{y - from.y} * (to.x - from.x);
}

Int128 Square(std::int64_t value) { return Int128{value} * value; }

// Interval that grows to contain x.
struct Reach {
  double left = std::numeric_limits<double>::infinity();
  double right = -std::numeric_limits<double>::infinity();

  void Add(double x) {
    left = std::min(left, x);
    right = std::max(right, x);
  }
};

// Adds the points where the row at height y intersects the disc's boundary.
void AddDisc(const Point& center, double radius, double y, Reach& reach) {
  const double dy = y - center.y;
  if (const double squared = radius * radius - dy * dy; squared >= 0.0) {
    reach.Add(center.x - std::sqrt(squared));
    reach.Add(center.x + std::sqrt(squared));
  }
}

}  // namespace

DiscRows::DiscRows(const Disc& disc, Lattice lattice) : disc_(disc), lattice_(lattice) {
  // Rows of hexagons are closer together than columns.
  const double reach = lattice == Lattice::kHexagonal ? disc.radius * kHexReach : disc.radius;
  rows_ = {static_cast<std::int32_t>(std::floor(disc.center.y - reach)),
           static_cast<std::int32_t>(std::ceil(disc.center.y + reach)) + 1};
}

Interval DiscRows::Row(std::int32_t y) const {
  const double dy = y - disc_.center.y;
  const double dy_squared = dy * dy;
  const double radius_squared = disc_.radius * disc_.radius;
  const bool is_hexagonal = lattice_ == Lattice::kHexagonal;
  const auto is_inside = [&](std::int32_t x) {
    const double dx = x - disc_.center.x;
    return dx * dx + dy_squared + (is_hexagonal ? dx * dy : 0.0) <= radius_squared;
  };
  const double half = std::sqrt(std::max(0.0, radius_squared - (is_hexagonal ? 0.75 : 1.0) * dy_squared));
  const double middle = disc_.center.x - (is_hexagonal ? dy / 2 : 0.0);
  auto first = static_cast<std::int32_t>(std::ceil(middle - half));
  auto last = static_cast<std::int32_t>(std::floor(middle + half));
  while (is_inside(first - 1)) {
    --first;
  }
  while (is_inside(last + 1)) {
    ++last;
  }
  while (first <= last && !is_inside(first)) {
    ++first;
  }
  while (first <= last && !is_inside(last)) {
    --last;
  }
  return {first, last + 1};
}

PolygonRows::PolygonRows(const Polygon& polygon) {
  FixedPoint before = ToFixed(polygon.vertices.back());
  std::int64_t top = before.y;
  std::int64_t bottom = before.y;
  for (const Point& vertex : polygon.vertices) {
    const FixedPoint point = ToFixed(vertex);
    Edge edge{before, point, {}};
    if (edge.from.y > edge.to.y || (edge.from.y == edge.to.y && edge.from.x > edge.to.x)) {
      std::swap(edge.from, edge.to);
    }
    edge.rows = CentresBetween(edge.from.y, edge.to.y);
    if (!edge.rows.empty()) {
      edges_.push_back(edge);
    }
    top = std::min(top, point.y);
    bottom = std::max(bottom, point.y);
    before = point;
  }
  std::sort(edges_.begin(), edges_.end(),
            [](const Edge& a, const Edge& b) { return a.rows.begin < b.rows.begin; });
  rows_ = CentresBetween(top, bottom);
}

void PolygonRows::CrossRow(const Edge& edge, std::int32_t y) {
  if (edge.from.y == edge.to.y) {
    if (const Interval on_edge = CentresBetween(edge.from.x, edge.to.x); !on_edge.empty()) {
      spans_.push_back(on_edge);
    }
    return;
  }
  const std::int64_t height = edge.to.y - edge.from.y;
  const std::int64_t row = y * kUnitsPerCell;
  const Int128 x = ScaledXAt(edge.from, edge.to, row);
  const std::int64_t divisor = height * kUnitsPerCell;
  const std::int64_t first = CeilDivide(x, divisor);
  if (Int128{first} * divisor == x) {
    spans_.push_back({ToCell(first), ToCell(first + 1)});
  }
  // Excludes the lower end, so that a vertex between two edges that continue in one direction counts once.
  if (row < edge.to.y) {
    crossings_.push_back(ToCell(first));
  }
}

void PolygonRows::FillRow(std::int32_t y) {
  for (; next_ < edges_.size() && edges_[next_].rows.begin <= y; ++next_) {
    active_.push_back(&edges_[next_]);
  }
  active_.erase(
      std::remove_if(active_.begin(), active_.end(), [&](const Edge* edge) { return edge->rows.end <= y; }),
      active_.end());
  crossings_.clear();
  spans_.clear();
  for (const Edge* edge : active_) {
    CrossRow(*edge, y);
  }
  std::sort(crossings_.begin(), crossings_.end());
  for (std::size_t i = 0; i + 1 < crossings_.size(); i += 2) {
    if (crossings_[i] < crossings_[i + 1]) {
      spans_.push_back({crossings_[i], crossings_[i + 1]});
    }
  }
  std::sort(spans_.begin(), spans_.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  std::size_t kept = 0;
  for (const Interval span : spans_) {
    if (kept > 0 && span.begin <= spans_[kept - 1].end) {
      spans_[kept - 1].end = std::max(spans_[kept - 1].end, span.end);
    } else {
      spans_[kept++] = span;
    }
  }
  spans_.resize(kept);
}

LineRows::LineRows(const Line& line)
    : from_(ToFixed(line.start)), to_(ToFixed(line.end)), half_width_(ToFixed(line.width / 2)) {
  if (from_.y > to_.y || (from_.y == to_.y && from_.x > to_.x)) {
    std::swap(from_, to_);
  }
  const std::int64_t reach = std::max(half_width_, kHalfCell);
  rows_ = CentresBetween(from_.y - reach, to_.y + reach);
}

Interval LineRows::ThinRow(std::int32_t y) const {
  const std::int64_t row_top = y * kUnitsPerCell - kHalfCell;
  const std::int64_t row_bottom = row_top + kUnitsPerCell;
  const auto cell_at = [](Int128 x, std::int64_t divisor) {
    return ToCell(FloorDivide(x + Int128{kHalfCell} * divisor, divisor * kUnitsPerCell));
  };
  const auto cell_before = [](Int128 x, std::int64_t divisor) {
    return ToCell(CeilDivide(x + Int128{kHalfCell} * divisor, divisor * kUnitsPerCell) - 1);
  };
  if (from_.y == to_.y) {
    if (from_.y < row_top || from_.y >= row_bottom) {
      return {};
    }
    const std::int32_t first = cell_at(from_.x, 1);
    return {first, std::max(first, cell_before(to_.x, 1)) + 1};
  }
  const std::int64_t top = std::max(from_.y, row_top);
  const std::int64_t bottom = std::min(to_.y, row_bottom);
  if (top >= bottom) {
    return {};
  }
  const std::int64_t height = to_.y - from_.y;
  const Int128 top_x = ScaledXAt(from_, to_, top);
  const Int128 bottom_x = ScaledXAt(from_, to_, bottom);
  std::int32_t first = cell_at(std::min(top_x, bottom_x), height);
  std::int32_t last = std::max(first, cell_before(std::max(top_x, bottom_x), height));
  const bool is_at_corner = from_.y < row_top && from_.x != to_.x &&
                            (top_x + Int128{kHalfCell} * height) % (Int128{height} * kUnitsPerCell) == 0;
  if (is_at_corner) {
    // The line entered the row through a corner between four cells. The cell below the one that it left
    // closes the gap.
    (from_.x < to_.x ? first : last) += from_.x < to_.x ? -1 : 1;
  }
  return {first, last + 1};
}

bool LineRows::IsNear(std::int64_t x, std::int64_t y) const {
  const std::int64_t from_x = x * kUnitsPerCell - from_.x;
  const std::int64_t from_y = y * kUnitsPerCell - from_.y;
  const std::int64_t to_x = x * kUnitsPerCell - to_.x;
  const std::int64_t to_y = y * kUnitsPerCell - to_.y;
  const std::int64_t length_x = to_.x - from_.x;
  const std::int64_t length_y = to_.y - from_.y;
  const Int128 reach = Square(half_width_);
  if (Int128{from_x} * length_x + Int128{from_y} * length_y <= 0) {
    return Square(from_x) + Square(from_y) <= reach;
  }
  if (Int128{to_x} * length_x + Int128{to_y} * length_y >= 0) {
    return Square(to_x) + Square(to_y) <= reach;
  }
  const Int128 area = Int128{from_x} * length_y - Int128{from_y} * length_x;
  const auto magnitude = static_cast<UInt128>(area < 0 ? -area : area);
  return IsProductAtMost(magnitude, magnitude, static_cast<UInt128>(reach),
                         static_cast<UInt128>(Square(length_x) + Square(length_y)));
}

Interval LineRows::NearestInRow(std::int32_t y) const {
  const std::int64_t row = y * kUnitsPerCell;
  if (from_.y == to_.y || row <= from_.y || row >= to_.y) {
    const std::int64_t x = row < to_.y || from_.y == to_.y ? from_.x : to_.x;
    return {ToCell(FloorDivide(x, kUnitsPerCell)), ToCell(CeilDivide(x, kUnitsPerCell) + 1)};
  }
  const Int128 x = ScaledXAt(from_, to_, row);
  const std::int64_t divisor = (to_.y - from_.y) * kUnitsPerCell;
  return {ToCell(FloorDivide(x, divisor)), ToCell(CeilDivide(x, divisor) + 1)};
}

Interval LineRows::GuessRow(std::int32_t y) const {
  const auto scale = static_cast<double>(kUnitsPerCell);
  const double ax = static_cast<double>(from_.x) / scale;
  const double ay = static_cast<double>(from_.y) / scale;
  const double bx = static_cast<double>(to_.x) / scale;
  const double by = static_cast<double>(to_.y) / scale;
  const double h = static_cast<double>(half_width_) / scale;
  Reach reach{std::max(ax, bx) + h, std::min(ax, bx) - h};
  AddDisc({ax, ay}, h, y, reach);
  AddDisc({bx, by}, h, y, reach);
  // The two sides parallel to the line.
  if (const double length = std::hypot(bx - ax, by - ay); by > ay) {
    const double across_x = h * (by - ay) / length;
    const double across_y = -h * (bx - ax) / length;
    for (const double side : {-1.0, 1.0}) {
      const double t = (y - (ay + side * across_y)) / (by - ay);
      if (t >= 0 && t <= 1) {
        reach.Add(ax + side * across_x + t * (bx - ax));
      }
    }
  }
  return {static_cast<std::int32_t>(std::ceil(reach.left)),
          static_cast<std::int32_t>(std::floor(reach.right)) + 1};
}

Interval LineRows::WideRow(std::int32_t y) const {
  if (half_width_ == 0) {
    return {};
  }
  const Interval nearest = NearestInRow(y);
  std::int32_t inside = nearest.begin;
  while (inside < nearest.end && !IsNear(inside, y)) {
    ++inside;
  }
  if (inside == nearest.end) {
    return {};
  }
  // The cells near the line are a run around `inside`.
  const Interval guess = GuessRow(y);
  const auto last_near = [&](std::int32_t guessed, std::int32_t step) {
    if ((guessed - inside) * step >= 0 && IsNear(guessed, y) && !IsNear(guessed + step, y)) {
      return guessed;
    }
    std::int32_t near = inside;
    std::int32_t far = inside + step * static_cast<std::int32_t>(8 * kMaxReach);
    while ((far - near) * step > 1) {
      const std::int32_t middle = near + (far - near) / 2;
      (IsNear(middle, y) ? near : far) = middle;
    }
    return near;
  };
  return {last_near(guess.begin, -1), last_near(guess.end - 1, 1) + 1};
}

namespace {

const double kRowHeight = std::sqrt(0.75);

// Converts to Cartesian coordinates, in units of a step.
Point Upright(const Point& axial) { return {axial.x + axial.y / 2, axial.y * kRowHeight}; }

HexLine::Place PlaceOf(const Point& point) {
  const FixedPoint fixed = ToFixed(point);
  return {fixed.x, fixed.y};
}

void AddSide(const Point& a, const Point& b, double y, Reach& reach) {
  if (std::min(a.y, b.y) <= y && y <= std::max(a.y, b.y) && a.y != b.y) {
    reach.Add(a.x + (b.x - a.x) * ((y - a.y) / (b.y - a.y)));
  }
}

}  // namespace

HexLineRows::HexLineRows(const Line& line)
    : line_(line), thin_(PlaceOf(line.start), PlaceOf(line.end), kUnitsPerCell) {
  const double reach = line.width / 2 * kHexReach;
  const double top = std::min(line.start.y, line.end.y) - reach;
  const double bottom = std::max(line.start.y, line.end.y) + reach;
  rows_ = {std::min(thin_.first_row(), static_cast<std::int32_t>(std::floor(top))),
           std::max(thin_.last_row(), static_cast<std::int32_t>(std::ceil(bottom))) + 1};
}

Interval HexLineRows::Row(std::int32_t y) const {
  const Interval thin = ThinRow(y);
  const Interval wide = WideRow(y);
  if (thin.empty() || wide.empty()) {
    return thin.empty() ? wide : thin;
  }
  return {std::min(thin.begin, wide.begin), std::max(thin.end, wide.end)};
}

Interval HexLineRows::ThinRow(std::int32_t y) const {
  if (y < thin_.first_row() || y > thin_.last_row()) {
    return {};
  }
  const HexLine::Run run = thin_.InRow(y);
  return {run.first, run.last + 1};
}

Interval HexLineRows::WideRow(std::int32_t y) const {
  const double half = line_.width / 2;
  const Point start = Upright(line_.start);
  const Point end = Upright(line_.end);
  const double height = y * kRowHeight;
  Reach reach;
  AddDisc(start, half, height, reach);
  AddDisc(end, half, height, reach);
  if (const double length = std::hypot(end.x - start.x, end.y - start.y); length > 0.0) {
    const double aside_x = -(end.y - start.y) / length * half;
    const double aside_y = (end.x - start.x) / length * half;
    const Point corners[] = {{start.x + aside_x, start.y + aside_y},
                             {end.x + aside_x, end.y + aside_y},
                             {end.x - aside_x, end.y - aside_y},
                             {start.x - aside_x, start.y - aside_y}};
    for (std::size_t i = 0; i < 4; ++i) {
      AddSide(corners[i], corners[(i + 1) % 4], height, reach);
    }
  }
  if (reach.left > reach.right) {
    return {};
  }
  // Tolerance for rounding.
  constexpr double kSlack = 1e-9;
  const double shift = static_cast<double>(y) / 2;
  return {static_cast<std::int32_t>(std::ceil(reach.left - shift - kSlack)),
          static_cast<std::int32_t>(std::floor(reach.right - shift + kSlack)) + 1};
}

}  // namespace waystar::core
