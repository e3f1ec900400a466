// Moving shapes.
#pragma once

#include "absl/status/statusor.h"
#include "server/core/grid/cell.h"
#include "server/core/shape/shape.h"

namespace waystar::core {

// The shape, so many cells to the right and down, for a map with these bounds. INVALID_ARGUMENT / BAD_VALUE
// with field ".dx" or ".dy" for what is no finite number, is more than twice kMaxReach or, if the shape has
// cells or rectangles, no whole number; OUT_OF_RANGE / OFF_MAP without a field if one of its coordinates is
// out of range then. It may lie off the map.
absl::StatusOr<Shape> ShiftShape(const Shape& shape, double dx, double dy, const Rectangle& bounds);

}  // namespace waystar::core
