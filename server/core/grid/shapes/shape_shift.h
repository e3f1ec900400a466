// Translation of shapes.
#pragma once

#include "absl/status/statusor.h"
#include "server/geometry/cell.h"
#include "server/geometry/shape.h"

namespace waystar::core {

// Returns the shape moved by dx cells to the right and dy down, for a map with these bounds. The result may
// lie outside the map. Returns INVALID_ARGUMENT / BAD_VALUE with field ".dx" or ".dy" for a value that is not
// finite, exceeds twice kMaxReach or, if the shape has cells or rectangles, is not an integer; OUT_OF_RANGE /
// OFF_MAP without a field if a moved coordinate is out of range.
absl::StatusOr<Shape> ShiftShape(const Shape& shape, double dx, double dy, const Rectangle& bounds);

}  // namespace waystar::core
