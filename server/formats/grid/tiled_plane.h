// Conversion of Tiled pixels to cells, and of object shapes to cell shapes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/grid/cells/world_frame.h"
#include "server/core/grid/map/grid_map.h"
#include "server/formats/grid/terrain_mapping.h"
#include "server/formats/grid/tiled_map.h"
#include "server/formats/grid/tiled_tiles.h"
#include "server/formats/parts/import_options.h"
#include "server/geometry/shape.h"

namespace waystar::core {

// Maps pixels to a plane on which the centre of cell (x, y) is the point (x, y).
class TiledPlane {
 public:
  // `board` is the hexagon board of a hexagonal map, else null. `first` is the tile at cell (0, 0) of the
  // grid.
  // REQUIRES: CheckTileSizes(map, layout) is OK.
  TiledPlane(const TiledMap& map, const HexBoard* board, Cell first);

  // Returns the point at an object's position.
  Point At(Point pixel) const;

  // Converts a vector in object coordinates, which isometric and oblique maps measure along tile sides, to
  // screen pixels.
  Point OnScreen(Point pixels) const;
  // Converts a vector in screen pixels to the plane.
  Point WayOnScreen(Point pixels) const;

  bool is_isometric() const { return is_isometric_; }
  bool has_hexagons() const { return has_hexagons_; }
  // True if object coordinates are screen pixels.
  bool is_upright() const { return is_upright_; }
  double tile_width() const { return tile_width_; }

  // Returns the width of a cell in pixels if circles stay circles on the plane, else 0.
  double pixels_of_a_square() const { return pixels_of_a_square_; }

 private:
  bool is_isometric_ = false;
  bool has_hexagons_ = false;
  bool is_upright_ = true;
  double tile_width_ = 0.0;
  // Centre of the first tile of the grid, in pixels and on the plane.
  Point zero_;
  Point shift_;
  // Plane vectors of one pixel to the right and one down; then the same on the screen.
  Point right_;
  Point down_;
  Point screen_right_ = {1.0, 0.0};
  Point screen_down_ = {0.0, 1.0};
  double pixels_of_a_square_ = 0.0;
};

// Shift of a layer's tiles in columns and rows, for even and for odd lines. Lines (rows or columns) differ
// only on hexagonal maps.
struct TileShift {
  std::array<int, 2> even = {0, 0};
  std::array<int, 2> odd = {0, 0};

  friend bool operator==(const TileShift&, const TileShift&) = default;
};

// Returns INVALID_ARGUMENT / BAD_FORMAT without a field unless the tile sizes of the map define a plane.
absl::Status CheckTileSizes(const TiledMap& map, std::optional<HexLayout> layout);

// Returns the shift of tiles for an offset in screen pixels, or nullopt if it does not move tiles onto tiles.
// `layout` is that of a hexagonal map.
// REQUIRES: CheckTileSizes(map, layout) is OK.
std::optional<TileShift> ShiftOf(const TiledMap& map, std::optional<HexLayout> layout, Point offset);

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

// Adds the objects of these layers that are obstacles to the map. The first of these that applies decides:
// SaysImpassable of the object's properties; the mapping's rule for its class; its class "obstacle", or a
// tile image with collision shapes; the properties or class of its layer. `cost_factor` and `cost_addition`,
// of the object or else of its layer, make an obstacle that changes costs. `object_rule` ("centre" or
// "overlap") of the object, layer or map selects the covered cells. The obstacle id is the object's name if
// it is valid and unused, else "object-" and the object's id, with a number appended if that is taken.
//
// Objects that are hidden, have no meaning or cover no cell are noted. Returns INVALID_ARGUMENT / BAD_FORMAT
// and the errors of ApplyEdits, without a field, naming layer and object; or the error of `stop`.
absl::StatusOr<GridMap> PutObjects(const TiledMap& map, const TerrainMapping& mapping,
                                   const std::vector<const TiledLayer*>& layers, const TiledPlane& plane,
                                   TiledTemplates& templates, ImportNotes& notes, GridMap grid,
                                   const StopCheck* stop = nullptr);

}  // namespace waystar::core
