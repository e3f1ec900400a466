// From the pixels of a map of Tiled to its cells.
#pragma once

#include <array>
#include <optional>

#include "absl/status/status.h"
#include "server/core/grid/hex_board.h"
#include "server/core/import/tiled_map.h"
#include "server/core/shape/shape.h"

namespace waystar::core {

// Maps a map's pixels to a plane of cells on which the centre of cell (x, y) is the point (x, y).
class TiledPlane {
 public:
  // `board` is the grid's board if the map is hexagonal, else null; `first` is the tile at the grid's cell
  // (0, 0). REQUIRES: CheckTileSizes holds.
  TiledPlane(const TiledMap& map, const HexBoard* board, Cell first);

  // Returns the point at the position of an object.
  Point At(Point pixel) const;

  // Converts a way in an object's coordinates, which isometric and oblique maps count along the sides of
  // tiles, to pixels of the screen.
  Point OnScreen(Point pixels) const;
  // Returns the way on the plane that so many pixels of the screen take.
  Point WayOnScreen(Point pixels) const;

  bool is_isometric() const { return is_isometric_; }
  bool has_hexagons() const { return has_hexagons_; }
  // Returns true if objects' coordinates are pixels of the screen.
  bool is_upright() const { return is_upright_; }
  double tile_width() const { return tile_width_; }

  // Returns how many pixels a cell is wide if discs of pixels are discs of cells, else 0.
  double pixels_of_a_square() const { return pixels_of_a_square_; }

 private:
  bool is_isometric_ = false;
  bool has_hexagons_ = false;
  bool is_upright_ = true;
  double tile_width_ = 0.0;
  // The centre of the tile that the grid begins with, in pixels and on the plane.
  Point zero_;
  Point shift_;
  // The vectors on the plane of a pixel to the right, and of one down; and on the screen.
  Point right_;
  Point down_;
  Point screen_right_ = {1.0, 0.0};
  Point screen_down_ = {0.0, 1.0};
  double pixels_of_a_square_ = 0.0;
};

// How far the tiles of a layer are moved: by even[0] columns and even[1] rows those of even lines, and as far
// as `odd` says those of odd ones. Only hexagons have lines, rows or columns, that differ.
struct TileShift {
  std::array<int, 2> even = {0, 0};
  std::array<int, 2> odd = {0, 0};

  friend bool operator==(const TileShift&, const TileShift&) = default;
};

// Returns INVALID_ARGUMENT / BAD_FORMAT without a field unless the sizes of a map's tiles make a plane of
// them.
absl::Status CheckTileSizes(const TiledMap& map, std::optional<HexLayout> layout);

// Returns how far an offset in pixels of the screen moves tiles, or nothing unless it moves them onto others.
// `layout` is that of a map of hexagons. REQUIRES: CheckTileSizes holds.
std::optional<TileShift> ShiftOf(const TiledMap& map, std::optional<HexLayout> layout, Point offset);

}  // namespace waystar::core
