#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/file_errors.h"
#include "server/formats/grid/tiled_map.h"
#include "server/formats/parts/json_value.h"
#include "server/formats/text/text.h"

namespace waystar::core {
namespace {

// Reads a member if it is present and not null. In XML, numbers and booleans are text.
template <typename T>
absl::Status ReadMember(const JsonValue& value, absl::string_view name, T& out) {
  const JsonValue* const member = value.Find(name);
  if (member == nullptr || member->is_null()) {
    return absl::OkStatus();
  }
  const auto wrong = [&](absl::string_view what) {
    return JsonError(*member, absl::StrCat("\"", name, "\" is ", what));
  };
  const std::string* const text = member->string();
  if constexpr (std::is_same_v<T, std::string>) {
    if (text == nullptr) {
      return wrong("not a string");
    }
    out = *text;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (text != nullptr ? !absl::SimpleAtob(*text, &out) : member->boolean() == nullptr) {
      return wrong("neither true nor false");
    }
    out = text != nullptr ? out : *member->boolean();
  } else {
    double number = member->number() == nullptr ? 0.0 : *member->number();
    if (text != nullptr ? !absl::SimpleAtod(*text, &number) || !std::isfinite(number)
                        : member->number() == nullptr) {
      return wrong("not a number");
    }
    // 64-bit integers beyond the precision of a double far exceed any map side.
    constexpr double kLeast = std::is_signed_v<T> ? -0x1p31 : 0.0;
    constexpr double kMost = std::is_same_v<T, std::int64_t> ? 0x1p53
                             : std::is_signed_v<T>           ? 0x1p31 - 1
                                                             : 0x1p32 - 1;
    if (std::is_integral_v<T> && (!(number >= kLeast && number <= kMost) || number != std::floor(number))) {
      return wrong(ShortestText(number));
    }
    out = static_cast<T>(number);
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status ReadMember(const JsonValue& value, absl::string_view name, std::optional<T>& out) {
  const JsonValue* const member = value.Find(name);
  return member == nullptr || member->is_null() ? absl::OkStatus() : ReadMember(value, name, out.emplace());
}

// Reads several members, given as a name and a place each.
template <typename T, typename... Others>
absl::Status ReadMembers(const JsonValue& value, absl::string_view name, T& out, Others&&... others) {
  WAYSTAR_RETURN_IF_ERROR(ReadMember(value, name, out));
  if constexpr (sizeof...(others) > 0) {
    return ReadMembers(value, others...);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<const JsonValue*>> FindObjects(const JsonValue& value, absl::string_view name) {
  const JsonValue* const list = value.Find(name);
  return list == nullptr ? std::vector<const JsonValue*>() : ObjectsIn(*list, name);
}

absl::Status ReadPoints(const JsonValue& value, std::vector<Point>& points) {
  if (value.array() == nullptr) {
    return JsonError(value, "these are not points");
  }
  for (const JsonValue& element : *value.array()) {
    Point& point = points.emplace_back();
    WAYSTAR_RETURN_IF_ERROR(ReadMembers(element, "x", point.x, "y", point.y));
  }
  return absl::OkStatus();
}

absl::Status ReadForm(const JsonValue& value, TiledObject& object) {
  using Form = TiledObject::Form;
  for (const auto& [name, form] :
       {std::pair("polygon", Form::kPolygon), std::pair("polyline", Form::kPolyline)}) {
    if (const JsonValue* const points = value.Find(name)) {
      object.form = form;
      return ReadPoints(*points, object.points);
    }
  }
  for (const auto& [name, form] : {std::pair("ellipse", Form::kEllipse), std::pair("capsule", Form::kCapsule),
                                   std::pair("point", Form::kPoint)}) {
    bool is_form = false;
    WAYSTAR_RETURN_IF_ERROR(ReadMember(value, name, is_form));
    if (is_form) {
      object.form = form;
    }
  }
  if (value.Find("text") != nullptr) {
    object.form = Form::kText;
  }
  return absl::OkStatus();
}

// State of reading one file: notes and object count.
struct TiledReading {
  ImportNotes& notes;
  std::size_t objects = 0;
};

// Reads "class", its name in version 1.9, or "type", its name before and after.
absl::Status ReadClass(const JsonValue& value, std::string& out) {
  WAYSTAR_RETURN_IF_ERROR(ReadMember(value, "class", out));
  return out.empty() ? ReadMember(value, "type", out) : absl::OkStatus();
}

absl::StatusOr<TiledObject> ReadObject(const JsonValue& value, TiledReading& reading) {
  // An object takes about 100 times the bytes of its shortest text.
  constexpr std::size_t kMaxObjects = std::size_t{1} << 18;
  if (++reading.objects > kMaxObjects) {
    return JsonError(value, absl::StrCat("more than ", kMaxObjects, " objects in one file"));
  }
  TiledObject object;
  WAYSTAR_RETURN_IF_ERROR(ReadMembers(value, "id", object.id, "name", object.name, "x", object.position.x,
                                      "y", object.position.y, "width", object.width, "height", object.height,
                                      "rotation", object.rotation, "visible", object.visible, "gid",
                                      object.gid, "template", object.template_file));
  WAYSTAR_RETURN_IF_ERROR(ReadProperties(value, reading.notes, object.properties));
  WAYSTAR_RETURN_IF_ERROR(ReadForm(value, object));
  std::string class_name;
  WAYSTAR_RETURN_IF_ERROR(ReadClass(value, class_name));
  if (!class_name.empty()) {
    object.class_name = std::move(class_name);
  }
  return object;
}

absl::StatusOr<std::vector<TiledObject>> ObjectsOf(const JsonValue& layer, TiledReading& reading) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<const JsonValue*> values, FindObjects(layer, "objects"));
  std::vector<TiledObject> objects;
  for (const JsonValue* const value : values) {
    WAYSTAR_ASSIGN_OR_RETURN(TiledObject object, ReadObject(*value, reading));
    objects.push_back(std::move(object));
  }
  return objects;
}

absl::StatusOr<TiledTile> TileOf(const JsonValue& value, TiledReading& reading) {
  TiledTile tile;
  WAYSTAR_RETURN_IF_ERROR(ReadMember(value, "id", tile.id));
  WAYSTAR_RETURN_IF_ERROR(ReadClass(value, tile.class_name));
  WAYSTAR_RETURN_IF_ERROR(ReadProperties(value, reading.notes, tile.properties));
  for (const auto& [size, of_picture, out] :
       {std::tuple("width", "imagewidth", &tile.width), std::tuple("height", "imageheight", &tile.height)}) {
    // Since version 1.9 a tile may be a part of its image.
    WAYSTAR_RETURN_IF_ERROR(ReadMember(value, value.Find(size) == nullptr ? of_picture : size, *out));
  }
  if (const JsonValue* const shapes = value.Find("objectgroup")) {
    WAYSTAR_ASSIGN_OR_RETURN(tile.shapes, ObjectsOf(*shapes, reading));
    // Before version 1.1 properties of a tile were stored with its shapes.
    TiledProperties of_shapes;
    WAYSTAR_RETURN_IF_ERROR(ReadProperties(*shapes, reading.notes, of_shapes));
    AddMissing(of_shapes, tile.properties);
  }
  return tile;
}

// Returns the members of an object; none of another value or null.
const JsonValue::Object& MembersOf(const JsonValue* value) {
  static const auto* const kNone = new JsonValue::Object;
  return value == nullptr || value->object() == nullptr ? *kNone : *value->object();
}

absl::StatusOr<std::uint32_t> IdOf(absl::string_view key, const JsonValue& value) {
  std::uint32_t id = 0;
  if (!absl::SimpleAtoi(key, &id)) {
    return JsonError(value, absl::StrCat(Quoted(key), " is not the number of a tile"));
  }
  return id;
}

// Adds a tile that carries information, or what an earlier entry of it lacks.
void AddTile(TiledTile tile, TiledTileset& tileset) {
  if (tile.class_name.empty() && tile.properties.empty() && tile.shapes.empty() && !tile.width) {
    return;
  }
  const auto [known, is_new] = tileset.tiles.try_emplace(tile.id, std::move(tile));
  if (is_new) {
    return;
  }
  TiledTile& other = known->second;
  if (other.class_name.empty()) {
    other.class_name = std::move(tile.class_name);
  }
  AddMissing(tile.properties, other.properties);
  std::move(tile.shapes.begin(), tile.shapes.end(), std::back_inserter(other.shapes));
  other.width = other.width ? other.width : tile.width;
  other.height = other.height ? other.height : tile.height;
}

// Reads a list of tiles. Before version 1.2, tiles are members keyed by number, and their properties lie
// apart.
absl::Status ReadTilesIn(const JsonValue& value, TiledReading& reading, TiledTileset& tileset) {
  // Properties of a tile take precedence over those stored with its shapes.
  const JsonValue* const properties = value.Find("tileproperties");
  if (properties != nullptr && properties->object() == nullptr && !properties->is_null()) {
    return JsonError(*properties, "\"tileproperties\" is not an object");
  }
  for (const auto& [key, held] : MembersOf(properties)) {
    TiledTile tile;
    WAYSTAR_ASSIGN_OR_RETURN(tile.id, IdOf(key, held));
    WAYSTAR_RETURN_IF_ERROR(AddPropertiesIn(held, reading.notes, tile.properties));
    AddTile(std::move(tile), tileset);
  }
  const JsonValue* const tiles = value.Find("tiles");
  for (const auto& [key, held] : MembersOf(tiles)) {
    WAYSTAR_RETURN_IF_ERROR(TiledMembers().NoteMembers("tile", held, reading.notes, /*stop=*/nullptr));
    WAYSTAR_ASSIGN_OR_RETURN(TiledTile tile, TileOf(held, reading));
    WAYSTAR_ASSIGN_OR_RETURN(tile.id, IdOf(key, held));
    AddTile(std::move(tile), tileset);
  }
  if (tiles != nullptr && tiles->object() != nullptr) {
    return absl::OkStatus();
  }
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<const JsonValue*> list, FindObjects(value, "tiles"));
  for (const JsonValue* const element : list) {
    WAYSTAR_ASSIGN_OR_RETURN(TiledTile tile, TileOf(*element, reading));
    AddTile(std::move(tile), tileset);
  }
  return absl::OkStatus();
}

absl::StatusOr<TiledTileset> TilesetOf(const JsonValue& value, TiledReading& reading) {
  TiledTileset tileset;
  WAYSTAR_RETURN_IF_ERROR(ReadMembers(value, "firstgid", tileset.first_gid, "source", tileset.source,
                                      "tilewidth", tileset.tile_width, "tileheight", tileset.tile_height,
                                      "objectalignment", tileset.object_alignment));
  if (const JsonValue* const offset = value.Find("tileoffset")) {
    WAYSTAR_RETURN_IF_ERROR(ReadMembers(*offset, "x", tileset.tile_offset.x, "y", tileset.tile_offset.y));
  }
  if (value.FindString("fillmode") == "preserve-aspect-fit") {
    reading.notes.Add("fill modes are not read: pictures of objects are stretched",
                      absl::StrCat("a tileset (line ", value.line(), ")"));
  }
  const JsonValue* const grid = value.Find("grid");
  if (grid != nullptr && grid->FindString("orientation") == "isometric") {
    WAYSTAR_RETURN_IF_ERROR(
        ReadMembers(*grid, "width", tileset.diamond_width, "height", tileset.diamond_height));
  }
  WAYSTAR_RETURN_IF_ERROR(ReadTilesIn(value, reading, tileset));
  TiledProperties properties;
  WAYSTAR_RETURN_IF_ERROR(ReadProperties(value, reading.notes, properties));
  NoteOthers(properties, {}, absl::StrCat("a tileset (line ", value.line(), ")"), reading.notes);
  return tileset;
}

// Reads the cells of a layer or of a chunk; `layer` holds their encoding and compression.
absl::StatusOr<TiledTileData> CellsIn(const JsonValue& value, const TiledTileData& layer) {
  TiledTileData data{.encoding = layer.encoding, .compression = layer.compression};
  WAYSTAR_RETURN_IF_ERROR(ReadMembers(value, "x", data.area.x, "y", data.area.y, "width", data.area.width,
                                      "height", data.area.height));
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
  WAYSTAR_RETURN_IF_ERROR(ReadMembers(value, "encoding", form.encoding, "compression", form.compression));
  if (value.Find("chunks") == nullptr) {
    WAYSTAR_ASSIGN_OR_RETURN(TiledTileData whole, CellsIn(value, form));
    layer.tiles.push_back(std::move(whole));
    return absl::OkStatus();
  }
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<const JsonValue*> chunks, FindObjects(value, "chunks"));
  for (const JsonValue* const chunk : chunks) {
    WAYSTAR_ASSIGN_OR_RETURN(TiledTileData part, CellsIn(*chunk, form));
    part.is_chunk = true;
    layer.tiles.push_back(std::move(part));
  }
  return absl::OkStatus();
}

absl::StatusOr<TiledLayer> LayerHeadOf(const JsonValue& value, TiledReading& reading) {
  TiledLayer layer{.line = value.line()};
  WAYSTAR_RETURN_IF_ERROR(ReadMembers(value, "class", layer.class_name, "name", layer.name, "visible",
                                      layer.visible, "offsetx", layer.offset.x, "offsety", layer.offset.y));
  WAYSTAR_RETURN_IF_ERROR(ReadProperties(value, reading.notes, layer.properties));
  Point parallax = {1.0, 1.0};
  WAYSTAR_RETURN_IF_ERROR(ReadMembers(value, "parallaxx", parallax.x, "parallaxy", parallax.y));
  if (parallax != Point{1.0, 1.0}) {
    reading.notes.Add("parallax, which moves a layer with the camera, is not read", PlaceOf(layer));
  }
  return layer;
}

// Applies the inherited attributes of a group to a layer in it.
void PutIntoGroup(const TiledLayer& group, TiledLayer& layer) {
  layer.visible = layer.visible && group.visible;
  layer.offset = {layer.offset.x + group.offset.x, layer.offset.y + group.offset.y};
  AddMissing(group.properties, layer.properties);
}

// Appends the layers of a map, or of a group and its groups; `group` is null for a map.
absl::Status ReadLayersOf(const JsonValue& parent, const TiledLayer* group, int depth, TiledReading& reading,
                          std::vector<TiledLayer>& layers) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<const JsonValue*> values, FindObjects(parent, "layers"));
  for (const JsonValue* const value : values) {
    const absl::string_view kind = value->FindString("type");
    if (kind != "tilelayer" && kind != "objectgroup" && kind != "group" && kind != "imagelayer") {
      return JsonError(*value, absl::StrCat("layers of the type ", Quoted(kind), " are not known"));
    }
    WAYSTAR_ASSIGN_OR_RETURN(TiledLayer layer, LayerHeadOf(*value, reading));
    if (kind == "imagelayer") {
      NoteOthers(layer.properties, {}, absl::StrCat("a layer of a picture (line ", layer.line, ")"),
                 reading.notes);
      continue;
    }
    if (group != nullptr) {
      PutIntoGroup(*group, layer);
    }
    if (kind == "group") {
      if (depth == kMaxTiledGroups) {
        return JsonError(*value,
                         absl::StrCat("groups lie more than ", kMaxTiledGroups, " deep in each other"));
      }
      WAYSTAR_RETURN_IF_ERROR(ReadLayersOf(*value, &layer, depth + 1, reading, layers));
      continue;
    }
    if (kind == "tilelayer") {
      WAYSTAR_RETURN_IF_ERROR(ReadTilesOf(*value, layer));
    }
    WAYSTAR_ASSIGN_OR_RETURN(layer.objects, ObjectsOf(*value, reading));
    layers.push_back(std::move(layer));
  }
  return absl::OkStatus();
}

// Clears the data of layers without tiles: in an infinite map, they have data without chunks.
void DropEmptyLayers(std::vector<TiledLayer>& layers) {
  for (TiledLayer& layer : layers) {
    if (layer.tiles.size() == 1 && !layer.tiles.front().is_chunk && layer.tiles.front().numbers.empty() &&
        absl::StripAsciiWhitespace(layer.tiles.front().text).empty()) {
      layer.tiles.clear();
    }
  }
}

// Parses an object of the kind `name`, and notes its unknown members.
absl::StatusOr<JsonValue> RootOf(absl::string_view bytes, const char* name, ImportNotes& notes,
                                 const StopCheck* stop) {
  WAYSTAR_ASSIGN_OR_RETURN(JsonValue root, FirstOfText(bytes) == '<'
                                               ? TiledXmlAsJson(bytes, name, stop)
                                               : ParseJson(SkipByteOrderMark(bytes), stop));
  if (root.object() == nullptr) {
    return JsonError(root, absl::StrCat("this is no ", name, " of Tiled"));
  }
  WAYSTAR_RETURN_IF_ERROR(TiledMembers().NoteMembers(name, root, notes, stop));
  return root;
}

}  // namespace

const MemberTables& TiledMembers() {
  static const auto* const tables = new MemberTables({
      {"map",
       "orientation width height infinite tilewidth tileheight hexsidelength staggeraxis staggerindex "
       "layers:[layer] tilesets:[tileset] properties:[property] skewx skewy",
       "type version tiledversion class renderorder backgroundcolor nextlayerid nextobjectid "
       "compressionlevel parallaxoriginx parallaxoriginy editorsettings propertytypes"},
      // A layer of any kind: tiles, objects, image or group.
      {"layer",
       "type name class visible offsetx offsety properties:[property] data chunks:[chunk] encoding "
       "compression width height objects:[object] layers:[layer] x y parallaxx parallaxy",
       "id opacity tintcolor color draworder locked mode startx starty propertytypes image imagewidth "
       "imageheight transparentcolor repeatx repeaty"},
      {"chunk", "x y width height data"},
      {"object",
       "id name type class x y width height rotation visible gid template properties:[property] "
       "ellipse point capsule polygon:[point] polyline:[point] text",
       "opacity propertytypes"},
      {"point", "x y"},
      {"tileset",
       "firstgid source name tilewidth tileheight tileoffset:tile_offset objectalignment tiles:[tile] "
       "tileproperties fillmode grid:grid_of_a_tileset",
       "type version tiledversion class columns tilecount margin spacing image imagewidth imageheight "
       "transparentcolor backgroundcolor terrains terraintypes wangsets transformations "
       "tilerendersize editorsettings properties propertytypes tilepropertytypes"},
      {"tile offset", "x y"},
      {"grid of a tileset", "orientation width height"},
      {"tile",
       "id type class properties:[property] objectgroup:collision_of_a_tile imagewidth imageheight "
       "width height",
       "animation image probability terrain x y"},
      // It has the members of an object layer.
      {"collision of a tile", "objects:[object] properties",
       "type name id class draworder opacity visible x y width height color propertytypes tintcolor "
       "offsetx offsety parallaxx parallaxy mode locked"},
      {"property", "name value", "type propertytype"},
      {"template", "object:object tileset:tileset", "type"},
  });
  return *tables;
}

absl::StatusOr<TiledMap> ParseTiledMap(absl::string_view bytes, ImportNotes& notes, const StopCheck* stop) {
  WAYSTAR_ASSIGN_OR_RETURN(const JsonValue root, RootOf(bytes, "map", notes, stop));
  TiledReading reading{.notes = notes};
  TiledMap map;
  WAYSTAR_RETURN_IF_ERROR(ReadMembers(root, "orientation", map.orientation, "staggeraxis", map.stagger_axis,
                                      "staggerindex", map.stagger_index, "width", map.width, "height",
                                      map.height, "infinite", map.infinite, "tilewidth", map.tile_width,
                                      "tileheight", map.tile_height, "hexsidelength", map.hex_side_length,
                                      "skewx", map.skew_x, "skewy", map.skew_y));
  WAYSTAR_RETURN_IF_ERROR(ReadProperties(root, notes, map.properties));
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<const JsonValue*> tilesets, FindObjects(root, "tilesets"));
  for (const JsonValue* const value : tilesets) {
    WAYSTAR_ASSIGN_OR_RETURN(TiledTileset tileset, TilesetOf(*value, reading));
    map.tilesets.push_back(std::move(tileset));
  }
  WAYSTAR_RETURN_IF_ERROR(ReadLayersOf(root, nullptr, 0, reading, map.layers));
  if (map.infinite) {
    DropEmptyLayers(map.layers);
  }
  return map;
}

absl::StatusOr<TiledTileset> ParseTileset(absl::string_view bytes, ImportNotes& notes) {
  WAYSTAR_ASSIGN_OR_RETURN(const JsonValue root, RootOf(bytes, "tileset", notes, nullptr));
  TiledReading reading{.notes = notes};
  return TilesetOf(root, reading);
}

absl::StatusOr<TiledTemplate> ParseTiledTemplate(absl::string_view bytes, ImportNotes& notes) {
  WAYSTAR_ASSIGN_OR_RETURN(const JsonValue root, RootOf(bytes, "template", notes, nullptr));
  const JsonValue* const object = root.Find("object");
  if (object == nullptr || object->object() == nullptr) {
    return JsonError(root, "this is not a template of Tiled: it has no object");
  }
  TiledReading reading{.notes = notes};
  TiledTemplate made;
  WAYSTAR_ASSIGN_OR_RETURN(made.object, ReadObject(*object, reading));
  if (const JsonValue* const tileset = root.Find("tileset")) {
    WAYSTAR_ASSIGN_OR_RETURN(made.tileset, TilesetOf(*tileset, reading));
  }
  return made;
}

}  // namespace waystar::core
