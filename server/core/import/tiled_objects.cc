#include "server/core/import/tiled_objects.h"

#include <cmath>
#include <cstddef>
#include <numbers>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/format/file_errors.h"
#include "server/core/import/tiled_tiles.h"
#include "server/core/map/obstacle.h"

namespace waystar::core {
namespace {

constexpr absl::string_view kObstacleClass = "obstacle";

absl::Status ObjectError(const TiledLayer& layer, const TiledObject& object, absl::string_view message) {
  return BadFormat(absl::StrCat("layer ", Quoted(layer.name), " (line ", layer.line, "), object ", object.id,
                                ": ", message));
}

// Maps coordinates of an object to pixels.
class ObjectFrame {
 public:
  ObjectFrame(const TiledObject& object, Point offset)
      : origin_{object.position.x + offset.x, object.position.y + offset.y},
        cos_(std::cos(object.rotation * std::numbers::pi / 180.0)),
        sin_(std::sin(object.rotation * std::numbers::pi / 180.0)) {}

  // Turns clockwise, as y points down.
  Point At(Point local) const {
    return {origin_.x + local.x * cos_ - local.y * sin_, origin_.y + local.x * sin_ + local.y * cos_};
  }

 private:
  Point origin_;
  double cos_;
  double sin_;
};

Shape RoundShape(const TiledObject& object, const ObjectFrame& frame, const TiledPlane& plane) {
  const Point radii = {object.width / 2.0, object.height / 2.0};
  const double square = plane.pixels_of_a_square();
  if (object.width == object.height && square > 0.0) {
    return {.discs = {{.center = plane.At(frame.At(radii)), .radius = radii.x / square}}};
  }
  constexpr int kCorners = 64;
  Polygon polygon;
  for (int i = 0; i < kCorners; ++i) {
    const double angle = 2.0 * std::numbers::pi * i / kCorners;
    const Point local = {radii.x * (1.0 + std::cos(angle)), radii.y * (1.0 + std::sin(angle))};
    polygon.vertices.push_back(plane.At(frame.At(local)));
  }
  return {.polygons = {std::move(polygon)}};
}

Shape ShapeOf(const TiledObject& object, Point offset, const TiledPlane& plane) {
  const ObjectFrame frame(object, offset);
  const auto at = [&](Point local) { return plane.At(frame.At(local)); };
  Shape shape;
  if (object.form == TiledObject::Form::kPolygon) {
    Polygon polygon;
    for (const Point& point : object.points) {
      polygon.vertices.push_back(at(point));
    }
    shape.polygons.push_back(std::move(polygon));
  } else if (object.form == TiledObject::Form::kPolyline) {
    for (std::size_t i = 1; i < object.points.size(); ++i) {
      shape.lines.push_back({.start = at(object.points[i - 1]), .end = at(object.points[i])});
    }
  } else if (object.form == TiledObject::Form::kPoint || object.width == 0.0 || object.height == 0.0) {
    shape.lines.push_back({.start = at({}), .end = at({})});
  } else if (object.form == TiledObject::Form::kEllipse) {
    return RoundShape(object, frame, plane);
  } else {
    const double top = object.is_tile ? -object.height : 0.0;
    const double bottom = top + object.height;
    shape.polygons.push_back({.vertices = {at({0.0, top}), at({object.width, top}),
                                           at({object.width, bottom}), at({0.0, bottom})}});
  }
  return shape;
}

bool IsObstacle(const TiledLayer& layer, const TiledObject& object) {
  if (const std::optional<bool> says = SaysBlocked(object.properties)) {
    return *says;
  }
  return object.class_name == kObstacleClass || SaysBlocked(layer.properties).value_or(false) ||
         layer.class_name == kObstacleClass;
}

// Nothing if the object is none of an obstacle's.
absl::StatusOr<std::optional<ObstacleEffect>> EffectOf(const TiledLayer& layer, const TiledObject& object) {
  for (const auto& [name, kind] : {std::pair("cost_factor", ObstacleEffect::Kind::kMultiplyCost),
                                   std::pair("cost_addition", ObstacleEffect::Kind::kAddCost)}) {
    const std::string* text = FindProperty(object.properties, name);
    text = text == nullptr ? FindProperty(layer.properties, name) : text;
    if (text == nullptr) {
      continue;
    }
    ObstacleEffect effect{.kind = kind};
    if (!absl::SimpleAtod(*text, &effect.amount)) {
      return ObjectError(
          layer, object,
          absl::StrCat("the property \"", name, "\" is \"", absl::CHexEscape(*text), "\", not a number"));
    }
    return effect;
  }
  return IsObstacle(layer, object) ? std::optional(ObstacleEffect{}) : std::nullopt;
}

struct NamedObject {
  const TiledLayer* layer = nullptr;
  const TiledObject* object = nullptr;
};

// Returns 3 for an error with the field "edits[3].put_obstacle.shape".
std::optional<std::size_t> EditAtFault(const absl::Status& status) {
  const std::string field = ErrorFieldOf(status);
  constexpr absl::string_view kPrefix = "edits[";
  const std::size_t end = field.find(']');
  std::size_t index = 0;
  if (field.rfind(std::string(kPrefix), 0) != 0 || end == std::string::npos ||
      !absl::SimpleAtoi(field.substr(kPrefix.size(), end - kPrefix.size()), &index)) {
    return std::nullopt;
  }
  return index;
}

}  // namespace

TiledPlane::TiledPlane(const TiledMap& map, const HexBoard* board, Cell first) {
  const double width = map.tile_width;
  const double height = map.tile_height;
  if (board == nullptr) {
    // Pixels of isometric maps are counted along the sides of tiles, which are as long as tiles are high.
    const Point tile = {map.orientation == "isometric" ? height : width, height};
    zero_ = {(first.x + 0.5) * tile.x, (first.y + 0.5) * tile.y};
    right_ = {1.0 / tile.x, 0.0};
    down_ = {0.0, 1.0 / tile.y};
    pixels_of_a_square_ = tile.x == tile.y ? tile.x : 0.0;
    return;
  }
  // The even rows, or columns, are shifted or the odd ones; (0, 0) is one of the even.
  const bool is_even = board->layout == HexLayout::kEvenRows || board->layout == HexLayout::kEvenColumns;
  Point centre = {width / 2.0, height / 2.0};
  if (IsFlatTopped(board->layout)) {
    const double column = (width + map.hex_side_length) / 2.0;
    centre.y += is_even ? height / 2.0 : 0.0;
    centre = {centre.x + first.x * column, centre.y + first.y * height};
    right_ = {1.0 / column, -0.5 / column};
    down_ = {0.0, 1.0 / height};
  } else {
    const double row = (height + map.hex_side_length) / 2.0;
    centre.x += is_even ? width / 2.0 : 0.0;
    centre = {centre.x + first.x * width, centre.y + first.y * row};
    right_ = {1.0 / width, 0.0};
    down_ = {-0.5 / row, 1.0 / row};
  }
  zero_ = centre;
  shift_ = {static_cast<double>(board->zero().x), static_cast<double>(board->zero().y)};
}

Point TiledPlane::At(Point pixel) const {
  const double dx = pixel.x - zero_.x;
  const double dy = pixel.y - zero_.y;
  return {shift_.x + dx * right_.x + dy * down_.x, shift_.y + dx * right_.y + dy * down_.y};
}

absl::StatusOr<GridMap> PutObjects(const std::vector<const TiledLayer*>& layers, const TiledPlane& plane,
                                   GridMap map, const StopCheck* stop) {
  std::vector<Edit> edits;
  std::vector<NamedObject> objects;
  absl::flat_hash_set<std::string> ids;
  for (const TiledLayer* const layer : layers) {
    for (const TiledObject& object : layer->objects) {
      WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
      if (object.has_template) {
        return ObjectError(*layer, object,
                           "it is made by a template, whose file is not read: detach it in Tiled");
      }
      WAYSTAR_ASSIGN_OR_RETURN(const std::optional<ObstacleEffect> effect, EffectOf(*layer, object));
      if (!effect) {
        continue;
      }
      if (edits.size() == kMaxObstacles) {
        return ObjectError(*layer, object, absl::StrCat("a map has at most ", kMaxObstacles, " obstacles"));
      }
      const bool is_id = CheckObstacleId(object.name).ok() && ids.insert(object.name).second;
      PutObstacle put;
      put.obstacle = {.id = is_id ? object.name : absl::StrCat("object-", object.id),
                      .shape = ShapeOf(object, layer->offset, plane),
                      .effect = *effect};
      edits.emplace_back(std::move(put));
      objects.push_back({layer, &object});
    }
  }
  if (edits.empty()) {
    return map;
  }
  absl::StatusOr<EditResult> result = ApplyEdits(map, edits, absl::UnixEpoch(), stop);
  if (!result.ok()) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    const std::optional<std::size_t> index = EditAtFault(result.status());
    if (!index || *index >= objects.size()) {
      return WithField(result.status(), "");
    }
    return ObjectError(*objects[*index].layer, *objects[*index].object, result.status().message());
  }
  return std::move(result->map);
}

}  // namespace waystar::core
