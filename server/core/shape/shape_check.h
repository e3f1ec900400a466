// Validation of shapes.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "server/core/grid/cell.h"
#include "server/core/shape/shape.h"

namespace waystar::core {

// How much of a shape has to overlap the map.
enum class ShapeOverlap : std::uint8_t {
  // Each part must overlap the map, and each of the cells must be on it.
  kEachPart,
  // At least one part must overlap it.
  kAny,
  // No part need overlap it.
  kNone,
  // Each part but rectangles must, and at least one part. A rectangle by columns and rows of hexagons is one
  // for each of its lines on the plane, of which some may lie beside that.
  kEachButRectangles,
};

// Checks a shape for a map with these bounds. A part overlaps the map if the rectangle around it does, even
// if no cell's centre lies in it.
//
// Errors, with fields like ".discs[2].radius": INVALID_ARGUMENT with reason EMPTY_SHAPE, BAD_RECTANGLE (a
// side below 1), BAD_DISC, BAD_POLYGON, BAD_LINE (out of their ranges) or BAD_VALUE (no finite number);
// OUT_OF_RANGE / OFF_MAP.
absl::Status CheckShape(const Shape& shape, const Rectangle& bounds, ShapeOverlap overlap);

}  // namespace waystar::core
