#include "server/core/grid/shapes/shape_check.h"

#include <cmath>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/core/grid/shapes/shape_raster.h"

namespace waystar::core {
namespace {

absl::Status CheckRange(double value, double low, ErrorReason reason, absl::string_view field) {
  if (!std::isfinite(value)) {
    return BadNumber(ErrorReason::kBadValue, field, value, "a finite number");
  }
  if (value < low || value > kMaxReach) {
    return BadNumber(reason, field, value, absl::StrFormat("%.12g to %.12g", low, kMaxReach));
  }
  return absl::OkStatus();
}

absl::Status CheckPoint(const Point& point, ErrorReason reason, absl::string_view field) {
  WAYSTAR_RETURN_IF_ERROR(CheckRange(point.x, -kMaxReach, reason, absl::StrCat(field, ".x")));
  return CheckRange(point.y, -kMaxReach, reason, absl::StrCat(field, ".y"));
}

absl::Status CheckPart(const Rectangle& r) {
  if (!r.empty()) {
    return absl::OkStatus();
  }
  return MakeError(
      ErrorReason::kBadRectangle, r.width <= 0 ? ".width" : ".height",
      absl::StrCat("a rectangle's width and height must be at least 1, got ", r.width, " x ", r.height));
}

absl::Status CheckPart(const Disc& disc) {
  WAYSTAR_RETURN_IF_ERROR(CheckPoint(disc.center, ErrorReason::kBadDisc, ".center"));
  return CheckRange(disc.radius, 0.0, ErrorReason::kBadDisc, ".radius");
}

absl::Status CheckPart(const Polygon& polygon) {
  const std::size_t count = polygon.vertices.size();
  if (count < 3 || count > std::size_t{kMaxVertices}) {
    return MakeError(ErrorReason::kBadPolygon, ".vertices",
                     absl::StrCat("a polygon must have 3 to ", kMaxVertices, " vertices, got ", count));
  }
  for (std::size_t i = 0; i < count; ++i) {
    WAYSTAR_RETURN_IF_ERROR(
        CheckPoint(polygon.vertices[i], ErrorReason::kBadPolygon, absl::StrCat(".vertices[", i, "]")));
  }
  if (IsFlat(polygon)) {
    return MakeError(ErrorReason::kBadPolygon, ".vertices", "the vertices all lie on one line");
  }
  return absl::OkStatus();
}

absl::Status CheckPart(const Line& line) {
  WAYSTAR_RETURN_IF_ERROR(CheckPoint(line.start, ErrorReason::kBadLine, ".start"));
  WAYSTAR_RETURN_IF_ERROR(CheckPoint(line.end, ErrorReason::kBadLine, ".end"));
  return CheckRange(line.width, 0.0, ErrorReason::kBadLine, ".width");
}

class ShapeChecker {
 public:
  ShapeChecker(const Rectangle& map, ShapeOverlap overlap) : map_(map), overlap_(overlap) {}

  template <typename Part>
  absl::Status Check(absl::string_view list, absl::string_view name, const std::vector<Part>& parts) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (absl::Status status = CheckPart(parts[i]); !status.ok()) {
        return WithFieldPrefix(status, absl::StrCat(".", list, "[", i, "]"));
      }
      if (!Intersect(AreaAround(parts[i]), map_).empty()) {
        overlaps_ = true;
      } else if (MustOverlap<Part>()) {
        return OffMap(absl::StrCat(".", list, "[", i, "]"), name);
      }
    }
    return absl::OkStatus();
  }

  absl::Status Check(const std::vector<Cell>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const Rectangle area{cells[i].x, cells[i].y, 1, 1};
      if (!Intersect(area, map_).empty()) {
        overlaps_ = true;
      } else if (MustOverlap<Cell>()) {
        return OffMap(absl::StrCat(".cells[", i, "]"),
                      absl::StrCat("cell (", cells[i].x, ", ", cells[i].y, ")"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Finish() const {
    return overlaps_ || overlap_ == ShapeOverlap::kNone ? absl::OkStatus() : OffMap("", "the shape");
  }

 private:
  template <typename Part>
  bool MustOverlap() const {
    return overlap_ == ShapeOverlap::kEachPart ||
           (overlap_ == ShapeOverlap::kEachButRectangles && !std::is_same_v<Part, Rectangle>);
  }

  absl::Status OffMap(absl::string_view field, absl::string_view what) const {
    return MakeError(
        ErrorReason::kOffMap, field,
        absl::StrCat(what, " is off the map, which is ", map_.width, " x ", map_.height, " cells"));
  }

  const Rectangle map_;
  const ShapeOverlap overlap_;
  bool overlaps_ = false;
};

}  // namespace

absl::Status CheckShape(const Shape& shape, const Rectangle& bounds, ShapeOverlap overlap) {
  if (shape.empty()) {
    return MakeError(ErrorReason::kEmptyShape, "", "a shape has at least one part");
  }
  ShapeChecker checker(bounds, overlap);
  WAYSTAR_RETURN_IF_ERROR(checker.Check(shape.cells));
  WAYSTAR_RETURN_IF_ERROR(checker.Check("rectangles", "the rectangle", shape.rectangles));
  WAYSTAR_RETURN_IF_ERROR(checker.Check("discs", "the disc", shape.discs));
  WAYSTAR_RETURN_IF_ERROR(checker.Check("polygons", "the polygon", shape.polygons));
  WAYSTAR_RETURN_IF_ERROR(checker.Check("lines", "the line", shape.lines));
  return checker.Finish();
}

namespace {

absl::Status CheckDistance(double distance, bool is_whole, absl::string_view field) {
  // Negated so that NaN fails.
  if (!(std::abs(distance) <= 2 * kMaxReach)) {
    return BadNumber(ErrorReason::kBadValue, field, distance,
                     absl::StrFormat("%.12g to %.12g", -2 * kMaxReach, 2 * kMaxReach));
  }
  if (is_whole && distance != std::floor(distance)) {
    return BadNumber(ErrorReason::kBadValue, field, distance,
                     "a whole number of cells, since the shape has cells or rectangles");
  }
  return absl::OkStatus();
}

// Shifts a coordinate. Returns false if the result does not fit into 32 bits.
bool Shift(std::int32_t& coordinate, double distance) {
  const std::int64_t shifted = coordinate + static_cast<std::int64_t>(distance);
  coordinate = static_cast<std::int32_t>(shifted);
  return shifted == coordinate;
}

class Shifter {
 public:
  Shifter(double dx, double dy) : dx_(dx), dy_(dy) {}

  // Shifts a cell or rectangle.
  template <typename Part>
  void ShiftWhole(Part& part) {
    is_in_range_ = Shift(part.x, dx_) && Shift(part.y, dy_) && is_in_range_;
  }
  void ShiftPoint(Point& point) const { point = {point.x + dx_, point.y + dy_}; }

  bool is_in_range() const { return is_in_range_; }

 private:
  double dx_;
  double dy_;
  bool is_in_range_ = true;
};

}  // namespace

absl::StatusOr<Shape> ShiftShape(const Shape& shape, double dx, double dy, const Rectangle& bounds) {
  const bool is_whole = !shape.cells.empty() || !shape.rectangles.empty();
  WAYSTAR_RETURN_IF_ERROR(CheckDistance(dx, is_whole, ".dx"));
  WAYSTAR_RETURN_IF_ERROR(CheckDistance(dy, is_whole, ".dy"));
  Shape shifted = shape;
  Shifter shifter(dx, dy);
  for (Cell& cell : shifted.cells) {
    shifter.ShiftWhole(cell);
  }
  for (Rectangle& rectangle : shifted.rectangles) {
    shifter.ShiftWhole(rectangle);
  }
  for (Disc& disc : shifted.discs) {
    shifter.ShiftPoint(disc.center);
  }
  for (Polygon& polygon : shifted.polygons) {
    for (Point& vertex : polygon.vertices) {
      shifter.ShiftPoint(vertex);
    }
  }
  for (Line& line : shifted.lines) {
    shifter.ShiftPoint(line.start);
    shifter.ShiftPoint(line.end);
  }
  if (!shifter.is_in_range() || !CheckShape(shifted, bounds, ShapeOverlap::kNone).ok()) {
    return MakeError(ErrorReason::kOffMap, "",
                     absl::StrFormat("the shape would lie further away from the map than coordinates go, "
                                     "which are from %.12g to %.12g",
                                     -kMaxReach, kMaxReach));
  }
  return shifted;
}

}  // namespace waystar::core
