#include "server/core/grid/shapes/shape_shift.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "server/base/bad_number.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/grid/shapes/shape_check.h"

namespace waystar::core {
namespace {

absl::Status CheckDistance(double distance, bool is_whole, absl::string_view field) {
  // Negated so that NaN fails.
  if (!(std::abs(distance) <= 2 * kMaxReach)) {
    return BadNumber(ErrorReason::kBadValue, field, distance,
                     absl::StrFormat("from %.12g to %.12g", -2 * kMaxReach, 2 * kMaxReach));
  }
  if (is_whole && distance != std::floor(distance)) {
    return BadNumber(ErrorReason::kBadValue, field, distance,
                     "a whole number of cells, since the shape has cells or rectangles");
  }
  return absl::OkStatus();
}

// Returns false if the result does not fit into 32 bits.
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
