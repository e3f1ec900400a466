#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/core/format/text_start.h"
#include "server/core/import/json_value.h"
#include "server/core/import/tiled_map.h"
#include "server/core/import/tiled_xml.h"

namespace waystar::core {
namespace {

// Reads a member if there is one. In XML numbers and booleans are text.
absl::Status Read(const JsonValue& value, absl::string_view name, std::string& out) {
  const JsonValue* const member = value.Find(name);
  if (member == nullptr) {
    return absl::OkStatus();
  }
  if (member->string() == nullptr) {
    return JsonError(*member, absl::StrCat("\"", name, "\" is no string"));
  }
  out = *member->string();
  return absl::OkStatus();
}

absl::Status Read(const JsonValue& value, absl::string_view name, bool& out) {
  const JsonValue* const member = value.Find(name);
  if (member == nullptr || (member->string() != nullptr && absl::SimpleAtob(*member->string(), &out))) {
    return absl::OkStatus();
  }
  if (member->boolean() == nullptr) {
    return JsonError(*member, absl::StrCat("\"", name, "\" is neither true nor false"));
  }
  out = *member->boolean();
  return absl::OkStatus();
}

absl::Status Read(const JsonValue& value, absl::string_view name, double& out) {
  const JsonValue* const member = value.Find(name);
  if (member == nullptr ||
      (member->string() != nullptr && absl::SimpleAtod(*member->string(), &out) && std::isfinite(out))) {
    return absl::OkStatus();
  }
  if (member->number() == nullptr) {
    return JsonError(*member, absl::StrCat("\"", name, "\" is no number"));
  }
  out = *member->number();
  return absl::OkStatus();
}

template <typename Integer>
absl::Status Read(const JsonValue& value, absl::string_view name, Integer& out) {
  double number = static_cast<double>(out);
  WAYSTAR_RETURN_IF_ERROR(Read(value, name, number));
  // 64-bit integers that a double cannot hold are far beyond any side of a map.
  constexpr double kLeast = std::is_signed_v<Integer> ? -0x1p31 : 0.0;
  constexpr double kMost = std::is_same_v<Integer, std::int64_t> ? 0x1p53
                           : std::is_signed_v<Integer>           ? 0x1p31 - 1
                                                                 : 0x1p32 - 1;
  if (!(number >= kLeast && number <= kMost) || number != std::floor(number)) {
    return JsonError(*value.Find(name), absl::StrCat("\"", name, "\" is ", number));
  }
  out = static_cast<Integer>(number);
  return absl::OkStatus();
}

TiledProperties PropertiesIn(const JsonValue& value) {
  TiledProperties properties;
  for (const JsonValue& property : value.FindArray("properties")) {
    const JsonValue* const held = property.Find("value");
    if (held == nullptr) {
      continue;
    }
    std::string text;
    if (const std::string* const string = held->string()) {
      text = *string;
    } else if (const bool* const boolean = held->boolean()) {
      text = *boolean ? "true" : "false";
    } else if (const double* const number = held->number()) {
      text = absl::StrCat(*number);
    }
    AddProperty(property.FindString("name"), text, properties);
  }
  return properties;
}

// "class" in version 1.9, "type" before and after, for tiles and objects.
std::string ClassIn(const JsonValue& value) {
  const absl::string_view class_name = value.FindString("class");
  return std::string(class_name.empty() ? value.FindString("type") : class_name);
}

absl::StatusOr<TiledTileset> TilesetOf(const JsonValue& value) {
  TiledTileset tileset;
  WAYSTAR_RETURN_IF_ERROR(Read(value, "firstgid", tileset.first_gid));
  WAYSTAR_RETURN_IF_ERROR(Read(value, "source", tileset.source));
  for (const JsonValue& element : value.FindArray("tiles")) {
    TiledTile tile{.class_name = ClassIn(element), .properties = PropertiesIn(element)};
    WAYSTAR_RETURN_IF_ERROR(Read(element, "id", tile.id));
    const JsonValue* const shapes = element.Find("objectgroup");
    tile.has_collision_shapes = shapes != nullptr && !shapes->FindArray("objects").empty();
    if (!tile.class_name.empty() || !tile.properties.empty() || tile.has_collision_shapes) {
      tileset.tiles.push_back(std::move(tile));
    }
  }
  return tileset;
}

absl::Status ReadPointsOf(const JsonValue& value, std::vector<Point>& points) {
  if (value.array() == nullptr) {
    return JsonError(value, "these are no points");
  }
  for (const JsonValue& element : *value.array()) {
    Point& point = points.emplace_back();
    WAYSTAR_RETURN_IF_ERROR(Read(element, "x", point.x));
    WAYSTAR_RETURN_IF_ERROR(Read(element, "y", point.y));
  }
  return absl::OkStatus();
}

absl::StatusOr<TiledObject> ObjectOf(const JsonValue& value) {
  TiledObject object{.class_name = ClassIn(value), .properties = PropertiesIn(value)};
  WAYSTAR_RETURN_IF_ERROR(Read(value, "id", object.id));
  WAYSTAR_RETURN_IF_ERROR(Read(value, "name", object.name));
  WAYSTAR_RETURN_IF_ERROR(Read(value, "x", object.position.x));
  WAYSTAR_RETURN_IF_ERROR(Read(value, "y", object.position.y));
  WAYSTAR_RETURN_IF_ERROR(Read(value, "width", object.width));
  WAYSTAR_RETURN_IF_ERROR(Read(value, "height", object.height));
  WAYSTAR_RETURN_IF_ERROR(Read(value, "rotation", object.rotation));
  object.is_tile = value.Find("gid") != nullptr;
  object.has_template = value.Find("template") != nullptr;
  if (const JsonValue* const polygon = value.Find("polygon")) {
    object.form = TiledObject::Form::kPolygon;
    WAYSTAR_RETURN_IF_ERROR(ReadPointsOf(*polygon, object.points));
  } else if (const JsonValue* const polyline = value.Find("polyline")) {
    object.form = TiledObject::Form::kPolyline;
    WAYSTAR_RETURN_IF_ERROR(ReadPointsOf(*polyline, object.points));
  } else if (value.FindBoolean("ellipse").value_or(false)) {
    object.form = TiledObject::Form::kEllipse;
  } else if (value.FindBoolean("point").value_or(false)) {
    object.form = TiledObject::Form::kPoint;
  }
  return object;
}

// `encoding` and `compression` stand with the layer.
absl::StatusOr<TiledTileData> CellsIn(const JsonValue& value, const TiledTileData& layer) {
  TiledTileData data{.encoding = layer.encoding, .compression = layer.compression};
  WAYSTAR_RETURN_IF_ERROR(Read(value, "x", data.area.x));
  WAYSTAR_RETURN_IF_ERROR(Read(value, "y", data.area.y));
  WAYSTAR_RETURN_IF_ERROR(Read(value, "width", data.area.width));
  WAYSTAR_RETURN_IF_ERROR(Read(value, "height", data.area.height));
  const JsonValue* const cells = value.Find("data");
  if (cells != nullptr && cells->string() != nullptr) {
    data.text = *cells->string();
    return data;
  }
  if (data.encoding == "csv") {
    data.encoding.clear();
  }
  if (cells == nullptr || cells->numbers() == nullptr || !data.encoding.empty()) {
    return JsonError(cells == nullptr ? value : *cells, "\"data\" is neither an array of numbers nor text");
  }
  data.numbers = *cells->numbers();
  return data;
}

absl::Status ReadTilesOf(const JsonValue& value, TiledLayer& layer) {
  TiledTileData form;
  WAYSTAR_RETURN_IF_ERROR(Read(value, "encoding", form.encoding));
  WAYSTAR_RETURN_IF_ERROR(Read(value, "compression", form.compression));
  if (value.Find("chunks") == nullptr) {
    WAYSTAR_ASSIGN_OR_RETURN(TiledTileData whole, CellsIn(value, form));
    layer.tiles.push_back(std::move(whole));
    return absl::OkStatus();
  }
  for (const JsonValue& chunk : value.FindArray("chunks")) {
    WAYSTAR_ASSIGN_OR_RETURN(TiledTileData part, CellsIn(chunk, form));
    layer.tiles.push_back(std::move(part));
  }
  return absl::OkStatus();
}

absl::StatusOr<TiledLayer> LayerHeadOf(const JsonValue& value) {
  TiledLayer layer{.class_name = std::string(value.FindString("class")), .line = value.line()};
  layer.properties = PropertiesIn(value);
  WAYSTAR_RETURN_IF_ERROR(Read(value, "name", layer.name));
  WAYSTAR_RETURN_IF_ERROR(Read(value, "visible", layer.visible));
  WAYSTAR_RETURN_IF_ERROR(Read(value, "offsetx", layer.offset.x));
  WAYSTAR_RETURN_IF_ERROR(Read(value, "offsety", layer.offset.y));
  return layer;
}

// `group` is null at the top.
absl::Status ReadLayersOf(const JsonValue& parent, const TiledLayer* group, int depth,
                          std::vector<TiledLayer>& layers) {
  for (const JsonValue& value : parent.FindArray("layers")) {
    const absl::string_view kind = value.FindString("type");
    if (kind != "tilelayer" && kind != "objectgroup" && kind != "group") {
      continue;
    }
    WAYSTAR_ASSIGN_OR_RETURN(TiledLayer layer, LayerHeadOf(value));
    if (group != nullptr) {
      PutIntoGroup(*group, layer);
    }
    if (kind == "group") {
      if (depth == kMaxTiledGroups) {
        return JsonError(value,
                         absl::StrCat("groups lie more than ", kMaxTiledGroups, " deep in each other"));
      }
      WAYSTAR_RETURN_IF_ERROR(ReadLayersOf(value, &layer, depth + 1, layers));
      continue;
    }
    if (kind == "tilelayer") {
      WAYSTAR_RETURN_IF_ERROR(ReadTilesOf(value, layer));
    }
    for (const JsonValue& element : value.FindArray("objects")) {
      WAYSTAR_ASSIGN_OR_RETURN(TiledObject object, ObjectOf(element));
      layer.objects.push_back(std::move(object));
    }
    layers.push_back(std::move(layer));
  }
  return absl::OkStatus();
}

absl::StatusOr<JsonValue> RootOf(absl::string_view bytes, const char* name, const StopCheck* stop) {
  WAYSTAR_ASSIGN_OR_RETURN(
      JsonValue root, FirstOfText(bytes) == '<' ? TiledXmlAsJson(bytes, name, stop) : ParseJson(bytes, stop));
  if (root.object() == nullptr) {
    return JsonError(root, absl::StrCat("this is no ", name, " of Tiled"));
  }
  return root;
}

}  // namespace

absl::StatusOr<TiledMap> ParseTiledMap(absl::string_view bytes, const StopCheck* stop) {
  WAYSTAR_ASSIGN_OR_RETURN(const JsonValue root, RootOf(bytes, "map", stop));
  TiledMap map;
  WAYSTAR_RETURN_IF_ERROR(Read(root, "orientation", map.orientation));
  WAYSTAR_RETURN_IF_ERROR(Read(root, "staggeraxis", map.stagger_axis));
  WAYSTAR_RETURN_IF_ERROR(Read(root, "staggerindex", map.stagger_index));
  WAYSTAR_RETURN_IF_ERROR(Read(root, "width", map.width));
  WAYSTAR_RETURN_IF_ERROR(Read(root, "height", map.height));
  WAYSTAR_RETURN_IF_ERROR(Read(root, "infinite", map.infinite));
  WAYSTAR_RETURN_IF_ERROR(Read(root, "tilewidth", map.tile_width));
  WAYSTAR_RETURN_IF_ERROR(Read(root, "tileheight", map.tile_height));
  WAYSTAR_RETURN_IF_ERROR(Read(root, "hexsidelength", map.hex_side_length));
  map.properties = PropertiesIn(root);
  for (const JsonValue& value : root.FindArray("tilesets")) {
    WAYSTAR_ASSIGN_OR_RETURN(TiledTileset tileset, TilesetOf(value));
    map.tilesets.push_back(std::move(tileset));
  }
  WAYSTAR_RETURN_IF_ERROR(ReadLayersOf(root, nullptr, 0, map.layers));
  return map;
}

absl::StatusOr<TiledTileset> ParseTileset(absl::string_view bytes) {
  WAYSTAR_ASSIGN_OR_RETURN(const JsonValue root, RootOf(bytes, "tileset", nullptr));
  return TilesetOf(root);
}

}  // namespace waystar::core
