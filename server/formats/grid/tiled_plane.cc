#include "server/formats/grid/tiled_plane.h"

#include <cmath>

#include "server/base/file_errors.h"

namespace waystar::core {
namespace {

// Returns a number of cells if it is an integer within rounding, and not too large.
std::optional<int> Whole(double cells) {
  constexpr double kMost = 1 << 24;
  constexpr double kRounding = 1e-6;
  const double whole = std::round(cells);
  return std::abs(whole) <= kMost && std::abs(cells - whole) <= kRounding
             ? std::optional(static_cast<int>(whole))
             : std::nullopt;
}

// Returns the screen vectors of one pixel to the right and one down in object coordinates, on a map of
// squares.
std::array<Point, 2> ScreenVectors(const TiledMap& map) {
  if (map.orientation == "isometric") {
    const double half = map.tile_width / (2.0 * map.tile_height);
    return {Point{half, 0.5}, Point{-half, 0.5}};
  }
  if (map.orientation == "oblique") {
    return {Point{1.0, map.skew_y / map.tile_width}, Point{map.skew_x / map.tile_height, 1.0}};
  }
  return {Point{1.0, 0.0}, Point{0.0, 1.0}};
}

Point Sum(const std::array<Point, 2>& vectors, Point times) {
  return {times.x * vectors[0].x + times.y * vectors[1].x, times.x * vectors[0].y + times.y * vectors[1].y};
}

// Returns the coefficients of the vectors in a sum.
Point InverseSum(const std::array<Point, 2>& vectors, Point sum) {
  const double area = vectors[0].x * vectors[1].y - vectors[1].x * vectors[0].y;
  return {(sum.x * vectors[1].y - sum.y * vectors[1].x) / area,
          (sum.y * vectors[0].x - sum.x * vectors[0].y) / area};
}

// Sizes of a hexagonal map as Tiled draws it: whole pixels, and even where the size is halved.
struct HexSizes {
  explicit HexSizes(const TiledMap& map, bool has_columns)
      : width(std::floor(map.tile_width / 2.0) * 2.0), height(std::floor(map.tile_height / 2.0) * 2.0) {
    const double size = has_columns ? width : height;
    line = std::floor((size - map.hex_side_length) / 2.0) + map.hex_side_length;
  }

  double width;
  double height;
  // Distance between adjacent columns or rows.
  double line = 0.0;
};

// Returns the shift along line `line` of the staggered axis when the layer moves `lines` lines across and
// `along` cells along.
std::optional<int> ShiftAlong(bool odd_are_moved, int line, int lines, double along) {
  const auto moved = [&](int number) { return (number & 1) == (odd_are_moved ? 1 : 0) ? 0.5 : 0.0; };
  return Whole(along + moved(line) - moved(line + lines));
}

}  // namespace

TiledPlane::TiledPlane(const TiledMap& map, const HexBoard* board, Cell first)
    : is_isometric_(map.orientation == "isometric"),
      has_hexagons_(board != nullptr),
      tile_width_(map.tile_width) {
  const double width = map.tile_width;
  const double height = map.tile_height;
  if (board == nullptr) {
    // Isometric coordinates are measured along tile sides, which count as long as tiles are high.
    const Point tile = {is_isometric_ ? height : width, height};
    zero_ = {(first.x + 0.5) * tile.x, (first.y + 0.5) * tile.y};
    right_ = {1.0 / tile.x, 0.0};
    down_ = {0.0, 1.0 / tile.y};
    const std::array<Point, 2> screen = ScreenVectors(map);
    screen_right_ = screen[0];
    screen_down_ = screen[1];
    is_upright_ = screen_right_ == Point{1.0, 0.0} && screen_down_ == Point{0.0, 1.0};
    pixels_of_a_square_ = tile.x == tile.y ? tile.x : 0.0;
    return;
  }
  // Either the even or the odd lines are shifted; tile (0, 0) is on an even line.
  const bool is_even = board->layout == HexLayout::kEvenRows || board->layout == HexLayout::kEvenColumns;
  const HexSizes sizes(map, IsFlatTopped(board->layout));
  Point centre = {sizes.width / 2.0, sizes.height / 2.0};
  if (IsFlatTopped(board->layout)) {
    centre.y += is_even ? sizes.height / 2.0 : 0.0;
    centre = {centre.x + first.x * sizes.line, centre.y + first.y * sizes.height};
    right_ = {1.0 / sizes.line, -0.5 / sizes.line};
    down_ = {0.0, 1.0 / sizes.height};
  } else {
    centre.x += is_even ? sizes.width / 2.0 : 0.0;
    centre = {centre.x + first.x * sizes.width, centre.y + first.y * sizes.line};
    right_ = {1.0 / sizes.width, 0.0};
    down_ = {-0.5 / sizes.line, 1.0 / sizes.line};
  }
  zero_ = centre;
  shift_ = {static_cast<double>(board->zero().x), static_cast<double>(board->zero().y)};
}

Point TiledPlane::At(Point pixel) const {
  const Point way = Sum({right_, down_}, {pixel.x - zero_.x, pixel.y - zero_.y});
  return {shift_.x + way.x, shift_.y + way.y};
}

Point TiledPlane::OnScreen(Point pixels) const { return Sum({screen_right_, screen_down_}, pixels); }

Point TiledPlane::WayOnScreen(Point pixels) const {
  return Sum({right_, down_}, InverseSum({screen_right_, screen_down_}, pixels));
}

absl::Status CheckTileSizes(const TiledMap& map, std::optional<HexLayout> layout) {
  if (!(map.tile_width > 0.0 && map.tile_height > 0.0 && map.hex_side_length >= 0.0)) {
    return BadFormat("the sizes of tiles are not more than 0");
  }
  if (layout) {
    const HexSizes sizes(map, IsFlatTopped(*layout));
    return sizes.width > 0.0 && sizes.height > 0.0 && sizes.line > 0.0
               ? absl::OkStatus()
               : BadFormat("tilewidth, tileheight and hexsidelength make no hexagons");
  }
  const std::array<Point, 2> screen = ScreenVectors(map);
  return screen[0].x * screen[1].y - screen[1].x * screen[0].y > 0.0
             ? absl::OkStatus()
             : BadFormat("skewx and skewy make tiles without an area");
}

std::optional<TileShift> ShiftOf(const TiledMap& map, std::optional<HexLayout> layout, Point offset) {
  if (!layout) {
    const Point pixels = InverseSum(ScreenVectors(map), offset);
    const std::optional<int> columns =
        Whole(pixels.x / (map.orientation == "isometric" ? map.tile_height : map.tile_width));
    const std::optional<int> rows = Whole(pixels.y / map.tile_height);
    return columns && rows ? std::optional(TileShift{{*columns, *rows}, {*columns, *rows}}) : std::nullopt;
  }
  const bool has_columns = IsFlatTopped(*layout);
  const bool odd_are_moved = *layout == HexLayout::kOddRows || *layout == HexLayout::kOddColumns;
  const HexSizes sizes(map, has_columns);
  const std::optional<int> lines = Whole((has_columns ? offset.x : offset.y) / sizes.line);
  if (!lines) {
    return std::nullopt;
  }
  const double along = has_columns ? offset.y / sizes.height : offset.x / sizes.width;
  const std::optional<int> even = ShiftAlong(odd_are_moved, 0, *lines, along);
  const std::optional<int> odd = ShiftAlong(odd_are_moved, 1, *lines, along);
  if (!even || !odd) {
    return std::nullopt;
  }
  return has_columns ? TileShift{{*lines, *even}, {*lines, *odd}}
                     : TileShift{{*even, *lines}, {*odd, *lines}};
}

}  // namespace waystar::core
