#include <cstddef>
#include <cstdint>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/file_errors.h"
#include "server/formats/grid/tiled_map.h"
#include "server/formats/grid/tiled_values.h"
#include "server/formats/parts/json_value.h"
#include "server/formats/text/text.h"

namespace waystar::core {
namespace {

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

// Collects the tiles of a tileset, merging repeated entries of a tile.
class TileCollector {
 public:
  TileCollector(TiledTileset& tileset, TiledReading& reading) : tileset_(tileset), reading_(reading) {}

  absl::Status AddList(const JsonValue& tiles) {
    WAYSTAR_ASSIGN_OR_RETURN(const std::vector<const JsonValue*> list, ObjectsIn(tiles, "tiles"));
    for (const JsonValue* const element : list) {
      WAYSTAR_ASSIGN_OR_RETURN(TiledTile tile, TileOf(*element, reading_));
      Add(std::move(tile));
    }
    return absl::OkStatus();
  }

  // Adds tiles that are members keyed by number, as before version 1.2.
  absl::Status AddKeyed(const JsonValue& tiles) {
    for (const auto& [key, value] : *tiles.object()) {
      WAYSTAR_RETURN_IF_ERROR(TiledMembers().Of("tile").NoteMembers(value, reading_.notes, /*stop=*/nullptr));
      WAYSTAR_ASSIGN_OR_RETURN(TiledTile tile, TileOf(value, reading_));
      WAYSTAR_ASSIGN_OR_RETURN(tile.id, IdOf(key, value));
      Add(std::move(tile));
    }
    return absl::OkStatus();
  }

  // Adds tiles from a separate object of their properties, as before version 1.2.
  absl::Status AddKeyedProperties(const JsonValue& properties) {
    if (properties.object() == nullptr) {
      return JsonError(properties, "\"tileproperties\" is not an object");
    }
    for (const auto& [key, value] : *properties.object()) {
      TiledTile tile;
      WAYSTAR_ASSIGN_OR_RETURN(tile.id, IdOf(key, value));
      WAYSTAR_RETURN_IF_ERROR(AddPropertiesIn(value, reading_.notes, tile.properties));
      Add(std::move(tile));
    }
    return absl::OkStatus();
  }

 private:
  static absl::StatusOr<std::uint32_t> IdOf(absl::string_view key, const JsonValue& value) {
    std::uint32_t id = 0;
    if (!absl::SimpleAtoi(key, &id)) {
      return JsonError(value, absl::StrCat(Quoted(key), " is not the number of a tile"));
    }
    return id;
  }

  // Adds a tile unless it carries no information.
  void Add(TiledTile tile) {
    if (tile.class_name.empty() && tile.properties.empty() && tile.shapes.empty() && !tile.width) {
      return;
    }
    const auto [known, is_new] = index_.try_emplace(tile.id, tileset_.tiles.size());
    if (is_new) {
      tileset_.tiles.push_back(std::move(tile));
      return;
    }
    TiledTile& other = tileset_.tiles[known->second];
    if (other.class_name.empty()) {
      other.class_name = std::move(tile.class_name);
    }
    AddMissing(tile.properties, other.properties);
    std::move(tile.shapes.begin(), tile.shapes.end(), std::back_inserter(other.shapes));
    other.width = other.width ? other.width : tile.width;
    other.height = other.height ? other.height : tile.height;
  }

  TiledTileset& tileset_;
  TiledReading& reading_;
  absl::flat_hash_map<std::uint32_t, std::size_t> index_;
};

absl::Status ReadTilesIn(const JsonValue& value, TiledReading& reading, TiledTileset& tileset) {
  TileCollector collector(tileset, reading);
  // Properties of a tile take precedence over those stored with its shapes.
  const JsonValue* const properties = value.Find("tileproperties");
  if (properties != nullptr && !properties->is_null()) {
    WAYSTAR_RETURN_IF_ERROR(collector.AddKeyedProperties(*properties));
  }
  if (const JsonValue* const tiles = value.Find("tiles")) {
    WAYSTAR_RETURN_IF_ERROR(tiles->object() != nullptr ? collector.AddKeyed(*tiles)
                                                       : collector.AddList(*tiles));
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
  WAYSTAR_RETURN_IF_ERROR(TiledMembers().Of(name).NoteMembers(root, notes, stop));
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
