// Validation of shapes.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/geometry/cell.h"
#include "server/geometry/shape.h"

namespace waystar::core {

// Required overlap of a shape with the map.
enum class ShapeOverlap : std::uint8_t {
  // Each part must overlap the map, and each cell must be on it.
  kEachPart,
  // At least one part must overlap the map.
  kAny,
  // No part needs to overlap the map.
  kNone,
  // Each part except rectangles must overlap the map, and at least one part. A rectangle in columns and rows
  // of hexagons becomes one rectangle per line of the plane, of which some may lie outside the map.
  kEachButRectangles,
};

// Checks a shape for a map with these bounds. A part overlaps the map if its bounding rectangle does, even if
// it contains no cell's centre.
//
// Errors, with fields like ".discs[2].radius": INVALID_ARGUMENT with reason EMPTY_SHAPE, BAD_RECTANGLE (a
// side below 1), BAD_DISC, BAD_POLYGON, BAD_LINE (out of their ranges) or BAD_VALUE (not a finite number);
// OUT_OF_RANGE / OFF_MAP.
absl::Status CheckShape(const Shape& shape, const Rectangle& bounds, ShapeOverlap overlap);

// Returns the shape moved by dx cells to the right and dy down, for a map with these bounds. The result may
// lie outside the map. Returns INVALID_ARGUMENT / BAD_VALUE with field ".dx" or ".dy" for a value that is not
// finite, exceeds twice kMaxReach or, if the shape has cells or rectangles, is not an integer; OUT_OF_RANGE /
// OFF_MAP without a field if a moved coordinate is out of range.
absl::StatusOr<Shape> ShiftShape(const Shape& shape, double dx, double dy, const Rectangle& bounds);

}  // namespace waystar::core
