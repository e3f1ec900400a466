// Conversion of Tiled object shapes to cell shapes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "server/formats/grid/tiled_plane.h"
#include "server/formats/grid/tiled_tiles.h"
#include "server/geometry/shape.h"

namespace waystar::core {

// Rule that selects the cells of an area.
enum class ObjectRule : std::uint8_t {
  // Cells whose centre is inside.
  kCentre,
  // Cells that overlap the area.
  kOverlap,
};

// Returns the number of corners of an object's shape on the plane.
std::size_t CornersOf(const TiledObject& object);

// Returns the shape of an object, which may be a tile image. A tile image has the collision shapes of its
// tile, scaled to the image. Without shapes it is its rectangle; on isometric maps, where images stand
// upright, the square of the image's width that ends at the middle of its lower edge. `offset` is that of the
// layer. Returns INVALID_ARGUMENT / BAD_FORMAT for an unknown alignment.
absl::StatusOr<Shape> ShapeOfObject(const TiledObject& object, const TileRef& picture, Point offset,
                                    const TiledPlane& plane, ObjectRule rule);

}  // namespace waystar::core
