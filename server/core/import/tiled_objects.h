// Objects of Tiled as named obstacles.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/grid/hex_board.h"
#include "server/core/import/tiled_map.h"
#include "server/core/map/grid_map.h"
#include "server/core/shape/shape.h"

namespace waystar::core {

// From a map's pixels to a plane of cells on which the centre of cell (x, y) is the point (x, y).
class TiledPlane {
 public:
  // `board` is null unless the map is of hexagons, and then that of the grid; `first` the tile that its cell
  // (0, 0) is. REQUIRES: the sizes of tiles are more than 0.
  TiledPlane(const TiledMap& map, const HexBoard* board, Cell first);

  Point At(Point pixel) const;

  // Whether discs of pixels are discs of cells, and if so how many pixels a cell is wide, else 0.
  double pixels_of_a_square() const { return pixels_of_a_square_; }

 private:
  // The centre of the tile that the grid begins with, in pixels and on the plane.
  Point zero_;
  Point shift_;
  // Of a pixel to the right, and of one down.
  Point right_;
  Point down_;
  double pixels_of_a_square_ = 0.0;
};

// The map with the objects of these layers that are obstacles: by SaysBlocked of the object's properties,
// else by its class "obstacle", else by the layer's. `cost_factor` and `cost_addition`, of the object or its
// layer, make one that changes costs. It is called by its name if that can be an obstacle's and no other has
// it, else "object-" and its id. INVALID_ARGUMENT / BAD_FORMAT and the errors of ApplyEdits, without a field,
// naming layer and object.
absl::StatusOr<GridMap> PutObjects(const std::vector<const TiledLayer*>& layers, const TiledPlane& plane,
                                   GridMap map);

}  // namespace waystar::core
