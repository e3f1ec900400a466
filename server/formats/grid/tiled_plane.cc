#include "server/formats/grid/tiled_plane.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
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

// Returns the coefficients by which multiples of the vectors add up to `sum`.
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

namespace {

constexpr std::size_t kCornersOfRound = 64;

// Converts a point of an object to the plane.
using Placer = absl::FunctionRef<Point(Point)>;

// Rotates clockwise, since y points down.
Point Turned(Point point, double degrees) {
  const double angle = degrees * std::numbers::pi / 180.0;
  const double cos = std::cos(angle);
  const double sin = std::sin(angle);
  return {point.x * cos - point.y * sin, point.x * sin + point.y * cos};
}

// Appends an ellipse with these half axes, whose halves are each moved outwards by `stretch`: a capsule
// unless it is zero.
void AppendRound(Point center, Point radii, Point stretch, Placer place, Shape& shape) {
  Polygon& polygon = shape.polygons.emplace_back();
  for (std::size_t i = 0; i < kCornersOfRound; ++i) {
    const double angle = 2.0 * std::numbers::pi * (static_cast<double>(i) + 0.5) / kCornersOfRound;
    const Point unit = {std::cos(angle), std::sin(angle)};
    polygon.vertices.push_back(place({center.x + radii.x * unit.x + std::copysign(stretch.x, unit.x),
                                      center.y + radii.y * unit.y + std::copysign(stretch.y, unit.y)}));
  }
}

// Appends the shape of an object. A disc becomes a disc scaled by `per_pixel`, or a polygon if that is 0.
void AppendForm(const TiledObject& object, double width, double height, Placer place, double per_pixel,
                Shape& shape) {
  using Form = TiledObject::Form;
  const Form form = object.form.value_or(Form::kRectangle);
  const auto line = [&](Point from, Point to) {
    shape.lines.push_back({.start = place(from), .end = place(to)});
  };
  if (form == Form::kPolygon) {
    Polygon& polygon = shape.polygons.emplace_back();
    for (const Point& point : object.points) {
      polygon.vertices.push_back(place(point));
    }
  } else if (form == Form::kPolyline) {
    for (std::size_t i = 1; i < object.points.size(); ++i) {
      line(object.points[i - 1], object.points[i]);
    }
  } else if (form == Form::kPoint || width == 0.0 || height == 0.0) {
    line({}, form == Form::kPoint ? Point{} : Point{width, height});
  } else if (form == Form::kEllipse && width == height && per_pixel > 0.0) {
    shape.discs.push_back({.center = place({width / 2.0, height / 2.0}), .radius = width / 2.0 * per_pixel});
  } else if (form == Form::kEllipse) {
    AppendRound({width / 2.0, height / 2.0}, {width / 2.0, height / 2.0}, {}, place, shape);
  } else if (form == Form::kCapsule) {
    const double radius = std::min(width, height) / 2.0;
    AppendRound({width / 2.0, height / 2.0}, {radius, radius}, {width / 2.0 - radius, height / 2.0 - radius},
                place, shape);
  } else {
    shape.polygons.push_back(
        {.vertices = {place({}), place({width, 0.0}), place({width, height}), place({0.0, height})}});
  }
}

// Returns the point of an image that lies at the object's position, as fractions of its width and height.
absl::StatusOr<Point> AnchorOf(absl::string_view alignment, bool is_isometric) {
  if (alignment.empty() || alignment == "unspecified") {
    alignment = is_isometric ? "bottom" : "bottomleft";
  }
  constexpr std::array<std::pair<absl::string_view, Point>, 9> kAnchors = {{{"topleft", {0.0, 0.0}},
                                                                            {"top", {0.5, 0.0}},
                                                                            {"topright", {1.0, 0.0}},
                                                                            {"left", {0.0, 0.5}},
                                                                            {"center", {0.5, 0.5}},
                                                                            {"right", {1.0, 0.5}},
                                                                            {"bottomleft", {0.0, 1.0}},
                                                                            {"bottom", {0.5, 1.0}},
                                                                            {"bottomright", {1.0, 1.0}}}};
  const auto* const anchor = std::find_if(kAnchors.begin(), kAnchors.end(),
                                          [&](const auto& known) { return known.first == alignment; });
  if (anchor == kAnchors.end()) {
    return BadFormat(absl::StrCat("its tileset has the unknown objectalignment ", Quoted(alignment)));
  }
  return anchor->second;
}

// Returns the size of a tile's image in pixels.
Point SizeOfTile(const TileRef& picture) {
  const TiledTileset& tileset = *picture.tileset;
  const TiledTile* const tile = picture.tile;
  return {tile != nullptr ? tile->width.value_or(tileset.tile_width) : tileset.tile_width,
          tile != nullptr ? tile->height.value_or(tileset.tile_height) : tileset.tile_height};
}

// Converts a point of a shape on a tile to image pixels, for an image `height` high. Isometric tilesets
// measure shapes along the sides of a diamond in the image's lower left corner.
Point OnPicture(Point point, const TileRef& picture, double height) {
  const double diamond_width = picture.tileset->diamond_width;
  const double diamond_height = picture.tileset->diamond_height;
  if (!(diamond_width > 0.0 && diamond_height > 0.0)) {
    return point;
  }
  return {(point.x - point.y) * diamond_width / (2.0 * diamond_height) + diamond_width / 2.0,
          (point.x + point.y) / 2.0 + height - diamond_height};
}

// Converts points of a tile's image to the box of the object on the screen.
class PictureBox {
 public:
  PictureBox(Point natural, Point size, std::uint32_t bits)
      : natural_(natural),
        size_(size),
        scale_{natural.x > 0.0 ? size.x / natural.x : 1.0, natural.y > 0.0 ? size.y / natural.y : 1.0},
        is_turned_((bits & kTurned) != 0) {
    const bool is_across = (bits & kFlippedAcross) != 0;
    const bool is_down = (bits & kFlippedDown) != 0;
    // A turned image is flipped before the turn.
    signs_ = {(is_turned_ ? is_down : is_across) ? -1.0 : 1.0,
              (is_turned_ ? !is_across : is_down) ? -1.0 : 1.0};
  }

  Point scale() const { return scale_; }

  Point At(Point on_picture) const {
    const Point from_middle = {(on_picture.x - natural_.x / 2.0) * scale_.x * signs_.x,
                               (on_picture.y - natural_.y / 2.0) * scale_.y * signs_.y};
    if (!is_turned_) {
      return {size_.x / 2.0 + from_middle.x, size_.y / 2.0 + from_middle.y};
    }
    // The lower left corner stays in place.
    const double moved = (size_.y - size_.x) / 2.0;
    return {size_.x / 2.0 + moved - from_middle.y, size_.y / 2.0 + moved + from_middle.x};
  }

 private:
  Point natural_;
  Point size_;
  Point scale_;
  Point signs_;
  bool is_turned_;
};

absl::StatusOr<Shape> ShapeOfPicture(const TiledObject& object, const TileRef& picture, Point origin,
                                     const TiledPlane& plane) {
  const Point of_tile = SizeOfTile(picture);
  const auto if_any = [](double size, double other) { return size == 0.0 ? other : size; };
  const Point size = {if_any(object.width.value_or(0.0), of_tile.x),
                      if_any(object.height.value_or(0.0), of_tile.y)};
  const Point natural = {if_any(of_tile.x, size.x), if_any(of_tile.y, size.y)};
  // These bits mean other angles on hexagonal maps.
  const std::uint32_t unread = plane.has_hexagons() ? kTurned | kTurnedTwice : 0;
  const PictureBox box(natural, size, object.gid.value_or(0) & ~unread);
  WAYSTAR_ASSIGN_OR_RETURN(const Point anchor,
                           AnchorOf(picture.tileset->object_alignment, plane.is_isometric()));
  const Point moved = {picture.tileset->tile_offset.x * box.scale().x - anchor.x * size.x,
                       picture.tileset->tile_offset.y * box.scale().y - anchor.y * size.y};
  // Images are upright on the screen, even on isometric maps.
  const auto on_screen = [&](Point in_box) {
    const Point way =
        plane.WayOnScreen(Turned({in_box.x + moved.x, in_box.y + moved.y}, object.rotation.value_or(0.0)));
    return Point{origin.x + way.x, origin.y + way.y};
  };
  Shape shape;
  if (picture.tile != nullptr && !picture.tile->shapes.empty()) {
    for (const TiledObject& part : picture.tile->shapes) {
      const auto place = [&](Point point) {
        const Point position = OnPicture(part.position, picture, natural.y);
        const Point end =
            OnPicture({part.position.x + point.x, part.position.y + point.y}, picture, natural.y);
        const Point turned = Turned({end.x - position.x, end.y - position.y}, part.rotation.value_or(0.0));
        return on_screen(box.At({position.x + turned.x, position.y + turned.y}));
      };
      AppendForm(part, part.width.value_or(0.0), part.height.value_or(0.0), place, 0.0, shape);
    }
    return shape;
  }
  if (plane.is_isometric()) {
    const Point foot = on_screen({size.x / 2.0, size.y});
    const double side = size.x / plane.tile_width();
    shape.polygons.push_back(
        {.vertices = {
             foot, {foot.x - side, foot.y}, {foot.x - side, foot.y - side}, {foot.x, foot.y - side}}});
    return shape;
  }
  const auto place = [&](Point point) { return on_screen(box.At(point)); };
  AppendForm({}, natural.x, natural.y, place, 0.0, shape);
  return shape;
}

// Adds the line just inside an edge of a polygon with its interior to the right, or to the left if `side` is
// -1.
void AddInnerLine(Point from, Point to, double side, Shape& shape) {
  // Exceeds rounding errors, so that an outline along cell borders does not touch the cells beyond.
  constexpr double kInwards = 0x1p-16;
  // Keeps the ends inside corners of more than 8 degrees.
  constexpr double kTrimmed = 0x1p-12;
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  if (length <= 2.0 * kTrimmed) {
    return;
  }
  const Point unit = {(to.x - from.x) / length, (to.y - from.y) / length};
  const Point along = {unit.x * kTrimmed, unit.y * kTrimmed};
  const Point inwards = {-unit.y * side * kInwards, unit.x * side * kInwards};
  shape.lines.push_back({.start = {from.x + along.x + inwards.x, from.y + along.y + inwards.y},
                         .end = {to.x - along.x + inwards.x, to.y - along.y + inwards.y}});
}

// Adds the cells that outlines pass through to those whose centre is inside.
void AddOutlines(Shape& shape) {
  for (const Disc& disc : shape.discs) {
    const auto place = [](Point point) { return point; };
    AppendRound(disc.center, {disc.radius, disc.radius}, {}, place, shape);
  }
  for (const Polygon& polygon : shape.polygons) {
    const std::vector<Point>& vertices = polygon.vertices;
    double area = 0.0;
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      const Point& next = vertices[(i + 1) % vertices.size()];
      area += vertices[i].x * next.y - next.x * vertices[i].y;
    }
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      AddInnerLine(vertices[i], vertices[(i + 1) % vertices.size()], area < 0.0 ? -1.0 : 1.0, shape);
    }
  }
}

}  // namespace

std::size_t CornersOf(const TiledObject& object) {
  switch (object.form.value_or(TiledObject::Form::kRectangle)) {
    case TiledObject::Form::kEllipse:
    case TiledObject::Form::kCapsule:
      return kCornersOfRound;
    case TiledObject::Form::kPolygon:
    case TiledObject::Form::kPolyline:
      return object.points.size();
    default:
      return 4;
  }
}

absl::StatusOr<Shape> ShapeOfObject(const TiledObject& object, const TileRef& picture, Point offset,
                                    const TiledPlane& plane, ObjectRule rule) {
  const Point moved = plane.WayOnScreen(offset);
  const Point position = plane.At(object.position);
  const Point origin = {position.x + moved.x, position.y + moved.y};
  Shape shape;
  if (picture.tileset != nullptr) {
    WAYSTAR_ASSIGN_OR_RETURN(shape, ShapeOfPicture(object, picture, origin, plane));
  } else {
    // Tiled rotates objects on the screen.
    const auto place = [&](Point point) {
      const Point way = plane.WayOnScreen(Turned(plane.OnScreen(point), object.rotation.value_or(0.0)));
      return Point{origin.x + way.x, origin.y + way.y};
    };
    const double square = plane.pixels_of_a_square();
    const bool is_disc = square > 0.0 && (plane.is_upright() || object.rotation.value_or(0.0) == 0.0);
    AppendForm(object, object.width.value_or(0.0), object.height.value_or(0.0), place,
               is_disc ? 1.0 / square : 0.0, shape);
  }
  if (rule == ObjectRule::kOverlap) {
    AddOutlines(shape);
  }
  return shape;
}

}  // namespace waystar::core
