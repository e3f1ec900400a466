// Exact integer tests of what a straight line in the plane touches.
//
// Shapes are areas of the plane that include their edges and corners: a line that only touches a shape is
// blocked by it. Coordinates are those of the world: cell (x, y) and rectangles begin at (x, y), the cell
// ends at (x + 1, y + 1), and a line includes the points at most half its width away.
#pragma once

#include <cstddef>
#include <cstdint>

#include "server/geometry/shape.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

struct Segment {
  FixedPoint a;
  FixedPoint b;
};

// Area of the plane, including its edges, in units of 2^-20.
struct FixedBox {
  std::int64_t x_low = 0;
  std::int64_t y_low = 0;
  std::int64_t x_high = 0;
  std::int64_t y_high = 0;
};

bool Touches(const Segment& segment, const FixedBox& box);
bool Touches(const Segment& segment, const Segment& other);
bool Touches(const Segment& segment, const Disc& disc);
// Costs O(vertices).
bool Touches(const Segment& segment, const Polygon& polygon);
bool Touches(const Segment& segment, const Line& line);

// Parts of a shape are numbered: cells, then rectangles, discs, polygons and lines.
inline std::size_t PartCount(const Shape& shape) {
  return shape.cells.size() + shape.rectangles.size() + shape.discs.size() + shape.polygons.size() +
         shape.lines.size();
}
bool TouchesPart(const Segment& segment, const Shape& shape, std::size_t part);
// Returns true if the segment touches any part.
bool Touches(const Segment& segment, const Shape& shape);
// Returns the smallest box around a part, up to rounding.
FixedBox BoxOfPart(const Shape& shape, std::size_t part);

}  // namespace waystar::core
