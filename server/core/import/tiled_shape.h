// The shapes of Tiled's objects as shapes of cells.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "server/core/import/tiled_plane.h"
#include "server/core/import/tiled_tiles.h"
#include "server/core/shape/shape.h"

namespace waystar::core {

// Which cells an object with an area has.
enum class ObjectRule : std::uint8_t {
  // Those whose centre lies inside.
  kCentre,
  // All that it overlaps.
  kOverlap,
};

// Returns how many corners the form of an object has on the plane.
std::size_t CornersOf(const TiledObject& object);

// Returns the shape of an object, which may be a picture of a tile. The picture of a tile with shapes of its
// own has those, as large as the picture; on isometric maps, where pictures stand upright, one without has
// the square of the picture's width that ends at the middle of its lower edge. `offset` is that of the layer.
// Returns INVALID_ARGUMENT / BAD_FORMAT for an alignment that Tiled does not have.
absl::StatusOr<Shape> ShapeOfObject(const TiledObject& object, const TileRef& picture, Point offset,
                                    const TiledPlane& plane, ObjectRule rule);

}  // namespace waystar::core
