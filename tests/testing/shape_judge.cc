#include "tests/testing/shape_judge.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace waystar {
namespace {

using core::Cell;
using core::Disc;
using core::Line;
using core::Point;
using core::Polygon;
using core::Rectangle;
using core::Shape;

// In units of 1/16, so that half a width is a whole number.
struct Exact {
  std::int64_t x = 0;
  std::int64_t y = 0;
};

std::int64_t ToExact(double value) { return std::llround(value * 16.0); }
Exact ToExact(Point point) { return {ToExact(point.x), ToExact(point.y)}; }
Exact ToExact(Cell cell) { return {cell.x * 16, cell.y * 16}; }

std::int64_t Cross(Exact a, Exact b, Exact c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}
std::int64_t Dot(Exact a, Exact b, Exact c) { return (b.x - a.x) * (c.x - a.x) + (b.y - a.y) * (c.y - a.y); }

// Whether c is at most `reach` from the straight line between a and b.
bool IsNear(Exact a, Exact b, Exact c, std::int64_t reach) {
  if (Dot(a, b, c) <= 0) {
    return Dot(a, c, c) <= reach * reach;
  }
  if (Dot(b, a, c) <= 0) {
    return Dot(b, c, c) <= reach * reach;
  }
  return Cross(a, b, c) * Cross(a, b, c) <= reach * reach * Dot(a, b, b);
}

bool Covers(const Rectangle& r, Cell cell) {
  return cell.x >= r.x && cell.x < r.x + r.width && cell.y >= r.y && cell.y < r.y + r.height;
}

bool Covers(const Disc& disc, Cell cell) {
  return IsNear(ToExact(disc.center), ToExact(disc.center), ToExact(cell), ToExact(disc.radius));
}

// By a ray that goes straight down.
bool Covers(const Polygon& polygon, Cell cell) {
  const Exact p = ToExact(cell);
  bool inside = false;
  for (std::size_t i = 0; i < polygon.vertices.size(); ++i) {
    Exact a = ToExact(polygon.vertices[i]);
    Exact b = ToExact(polygon.vertices[(i + 1) % polygon.vertices.size()]);
    if (IsNear(a, b, p, 0)) {
      return true;
    }
    if (a.x > b.x) {
      std::swap(a, b);
    }
    inside ^= a.x <= p.x && p.x < b.x && Cross(a, b, p) < 0;
  }
  return inside;
}

// Where it is between each two crossings of edges of cells.
std::vector<Cell> CellsPassed(const Line& line) {
  const double dx = line.end.x - line.start.x;
  const double dy = line.end.y - line.start.y;
  std::vector<double> crossings = {0.0, 1.0};
  const auto add_crossings = [&](double from, double length) {
    for (double edge = std::floor(std::min(from, from + length)) - 0.5;
         length != 0 && edge < std::max(from, from + length); edge += 1.0) {
      if (const double t = (edge - from) / length; t > 0 && t < 1) {
        crossings.push_back(t);
      }
    }
  };
  add_crossings(line.start.x, dx);
  add_crossings(line.start.y, dy);
  std::sort(crossings.begin(), crossings.end());
  std::vector<Cell> cells;
  for (std::size_t i = 0; i + 1 < crossings.size(); ++i) {
    if (crossings[i + 1] - crossings[i] < 1e-9) {
      continue;
    }
    const double t = (crossings[i] + crossings[i + 1]) / 2;
    const Cell cell{static_cast<int>(std::floor(line.start.x + t * dx + 0.5)),
                    static_cast<int>(std::floor(line.start.y + t * dy + 0.5))};
    if (!cells.empty() && cell.x != cells.back().x && cell.y != cells.back().y) {
      const Cell upper = cell.y < cells.back().y ? cell : cells.back();
      cells.push_back({upper.x, upper.y + 1});
    }
    cells.push_back(cell);
  }
  return cells;
}

bool Covers(const Line& line, Cell cell) {
  const std::vector<Cell> passed = CellsPassed(line);
  return std::find(passed.begin(), passed.end(), cell) != passed.end() ||
         IsNear(ToExact(line.start), ToExact(line.end), ToExact(cell), ToExact(line.width / 2));
}

template <typename Part>
int CountIn(const std::vector<Part>& parts, Cell cell) {
  const auto count =
      std::count_if(parts.begin(), parts.end(), [&](const Part& part) { return Covers(part, cell); });
  return static_cast<int>(count);
}

class Maker {
 public:
  Maker(Random& random, int side) : random_(random), side_(side) {
    constexpr double kUnits[] = {1.0, 0.5, 0.125};
    unit_ = kUnits[random.Between(0, 2)];
  }

  double Length(int max) { return unit_ * random_.Between(0, static_cast<int>(max / unit_)); }
  Point AnyPoint() { return {Length(side_ + 10) - 5, Length(side_ + 10) - 5}; }

  void AddPart(Shape& shape) {
    switch (random_.Between(0, 4)) {
      case 0:
        shape.cells.push_back({random_.Between(-2, side_ + 1), random_.Between(-2, side_ + 1)});
        break;
      case 1:
        shape.rectangles.push_back({random_.Between(-4, side_), random_.Between(-4, side_),
                                    random_.Between(1, 8), random_.Between(1, 8)});
        break;
      case 2:
        shape.discs.push_back({AnyPoint(), Length(8)});
        break;
      case 3:
        shape.polygons.push_back(AnyPolygon());
        break;
      default:
        shape.lines.push_back({AnyPoint(), AnyPoint(), random_.Chance(0.5) ? 0.0 : Length(5)});
    }
  }

 private:
  Polygon AnyPolygon() {
    Polygon polygon;
    const Point first = AnyPoint();
    polygon.vertices = {first,
                        {first.x + unit_ * random_.Between(1, 40), first.y},
                        {first.x, first.y + unit_ * random_.Between(1, 40)}};
    for (int more = random_.Between(0, 6); more > 0; --more) {
      polygon.vertices.push_back(AnyPoint());
    }
    return polygon;
  }

  Random& random_;
  int side_;
  double unit_;
};

}  // namespace

int CountParts(const Shape& shape, Cell cell) {
  return static_cast<int>(std::count(shape.cells.begin(), shape.cells.end(), cell)) +
         CountIn(shape.rectangles, cell) + CountIn(shape.discs, cell) + CountIn(shape.polygons, cell) +
         CountIn(shape.lines, cell);
}

Shape RandomShape(Random& random, int side) {
  Shape shape;
  Maker maker(random, side);
  for (int parts = random.Chance(0.6) ? 1 : random.Between(2, 3); parts > 0; --parts) {
    maker.AddPart(shape);
  }
  return shape;
}

}  // namespace waystar
