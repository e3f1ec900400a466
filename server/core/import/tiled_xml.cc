#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "pugixml.hpp"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/import/tiled_map.h"

namespace waystar::core {
namespace {

// A file of 80 MB may have more elements than memory.
constexpr std::size_t kMaxXmlMarks = std::size_t{1} << 23;

class XmlFile {
 public:
  explicit XmlFile(absl::string_view bytes) : bytes_(bytes) {}

  absl::Status Load() {
    const auto marks =
        std::count_if(bytes_.begin(), bytes_.end(), [](char c) { return c == '<' || c == '='; });
    if (static_cast<std::size_t>(marks) > kMaxXmlMarks) {
      return ErrorAt(0, absl::StrCat("more than ", kMaxXmlMarks, " elements and attributes in one file"));
    }
    constexpr unsigned kOptions = pugi::parse_default | pugi::parse_doctype;
    const pugi::xml_parse_result result =
        document_.load_buffer(bytes_.data(), bytes_.size(), kOptions, pugi::encoding_utf8);
    if (!result) {
      return ErrorAt(static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0)),
                     absl::StrCat("bad XML: ", result.description()));
    }
    for (const pugi::xml_node node : document_) {
      // Old versions name a DTD, which nobody reads.
      if (node.type() == pugi::node_doctype && std::strchr(node.value(), '[') != nullptr) {
        return Error(node, "a document type with declarations of its own is not read");
      }
    }
    return absl::OkStatus();
  }

  pugi::xml_node root(const char* name) const { return document_.child(name); }

  // Costs O(1) on the average if nodes are asked for in their order.
  std::size_t LineOf(pugi::xml_node node) {
    const auto offset = static_cast<std::size_t>(std::max<std::ptrdiff_t>(node.offset_debug(), 0));
    return LineAt(std::min(offset, bytes_.size()));
  }

  absl::Status Error(pugi::xml_node node, absl::string_view message) {
    return InvalidArgument(ErrorReason::kBadFormat, "", absl::StrCat("line ", LineOf(node), ": ", message));
  }
  absl::Status ErrorAt(std::size_t offset, absl::string_view message) {
    return InvalidArgument(ErrorReason::kBadFormat, "",
                           absl::StrCat("line ", LineAt(std::min(offset, bytes_.size())), ": ", message));
  }

  // Reads an attribute if there is one.
  template <typename Value>
  absl::Status Read(pugi::xml_node node, const char* name, Value& value) {
    const pugi::xml_attribute attribute = node.attribute(name);
    if (!attribute || ReadText(attribute.value(), value)) {
      return absl::OkStatus();
    }
    return Error(node,
                 absl::StrCat("\"", absl::CHexEscape(absl::string_view(attribute.value()).substr(0, 60)),
                              "\" is no ", name, " of a ", node.name()));
  }

 private:
  static bool ReadText(absl::string_view text, std::string& value) {
    value = std::string(text);
    return true;
  }
  static bool ReadText(absl::string_view text, double& value) {
    return absl::SimpleAtod(text, &value) && std::isfinite(value);
  }
  static bool ReadText(absl::string_view text, bool& value) { return absl::SimpleAtob(text, &value); }
  template <typename Integer>
  static bool ReadText(absl::string_view text, Integer& value) {
    return absl::SimpleAtoi(text, &value);
  }

  std::size_t LineAt(std::size_t offset) {
    if (offset < known_offset_) {
      known_offset_ = 0;
      known_line_ = 1;
    }
    known_line_ +=
        static_cast<std::size_t>(std::count(bytes_.begin() + known_offset_, bytes_.begin() + offset, '\n'));
    known_offset_ = offset;
    return known_line_;
  }

  absl::string_view bytes_;
  pugi::xml_document document_;
  std::size_t known_offset_ = 0;
  std::size_t known_line_ = 1;
};

TiledProperties PropertiesOf(pugi::xml_node node) {
  TiledProperties properties;
  for (const pugi::xml_node property : node.child("properties").children("property")) {
    const pugi::xml_attribute value = property.attribute("value");
    // Values of several lines are the element's text.
    AddProperty(property.attribute("name").value(), value ? value.value() : property.child_value(),
                properties);
  }
  return properties;
}

// "class" in version 1.9, "type" before and after, for tiles and objects.
std::string ClassOf(pugi::xml_node node) {
  return node.attribute("class") ? node.attribute("class").value() : node.attribute("type").value();
}

absl::Status ReadTiles(XmlFile& file, pugi::xml_node node, std::vector<TiledTile>& tiles) {
  for (const pugi::xml_node element : node.children("tile")) {
    TiledTile tile{.class_name = ClassOf(element), .properties = PropertiesOf(element)};
    WAYSTAR_RETURN_IF_ERROR(file.Read(element, "id", tile.id));
    tile.has_collision_shapes = !element.child("objectgroup").child("object").empty();
    if (!tile.class_name.empty() || !tile.properties.empty() || tile.has_collision_shapes) {
      tiles.push_back(std::move(tile));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<TiledTileset> ReadTileset(XmlFile& file, pugi::xml_node node) {
  TiledTileset tileset;
  WAYSTAR_RETURN_IF_ERROR(file.Read(node, "firstgid", tileset.first_gid));
  WAYSTAR_RETURN_IF_ERROR(file.Read(node, "source", tileset.source));
  WAYSTAR_RETURN_IF_ERROR(ReadTiles(file, node, tileset.tiles));
  return tileset;
}

absl::Status ReadPoints(XmlFile& file, pugi::xml_node node, std::vector<Point>& points) {
  for (const absl::string_view pair :
       absl::StrSplit(node.attribute("points").value(), ' ', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(pair, absl::MaxSplits(',', 1));
    Point point;
    if (!absl::SimpleAtod(parts.first, &point.x) || !absl::SimpleAtod(parts.second, &point.y)) {
      return file.Error(node, absl::StrCat("\"", absl::CHexEscape(pair.substr(0, 60)), "\" is no point"));
    }
    points.push_back(point);
  }
  return absl::OkStatus();
}

absl::StatusOr<TiledObject> ReadObject(XmlFile& file, pugi::xml_node node) {
  TiledObject object{.class_name = ClassOf(node), .properties = PropertiesOf(node)};
  WAYSTAR_RETURN_IF_ERROR(file.Read(node, "id", object.id));
  WAYSTAR_RETURN_IF_ERROR(file.Read(node, "name", object.name));
  WAYSTAR_RETURN_IF_ERROR(file.Read(node, "x", object.position.x));
  WAYSTAR_RETURN_IF_ERROR(file.Read(node, "y", object.position.y));
  WAYSTAR_RETURN_IF_ERROR(file.Read(node, "width", object.width));
  WAYSTAR_RETURN_IF_ERROR(file.Read(node, "height", object.height));
  WAYSTAR_RETURN_IF_ERROR(file.Read(node, "rotation", object.rotation));
  object.is_tile = !node.attribute("gid").empty();
  object.has_template = !node.attribute("template").empty();
  if (const pugi::xml_node polygon = node.child("polygon")) {
    object.form = TiledObject::Form::kPolygon;
    WAYSTAR_RETURN_IF_ERROR(ReadPoints(file, polygon, object.points));
  } else if (const pugi::xml_node polyline = node.child("polyline")) {
    object.form = TiledObject::Form::kPolyline;
    WAYSTAR_RETURN_IF_ERROR(ReadPoints(file, polyline, object.points));
  } else if (node.child("ellipse")) {
    object.form = TiledObject::Form::kEllipse;
  } else if (node.child("point")) {
    object.form = TiledObject::Form::kPoint;
  }
  return object;
}

// Tiles as elements, as files without an encoding have them; or else text.
absl::Status ReadCells(XmlFile& file, pugi::xml_node node, TiledTileData& data) {
  if (!data.encoding.empty()) {
    data.text = node.text().get();
    return absl::OkStatus();
  }
  for (const pugi::xml_node tile : node.children("tile")) {
    std::uint32_t gid = 0;
    WAYSTAR_RETURN_IF_ERROR(file.Read(tile, "gid", gid));
    data.numbers.push_back(gid);
  }
  return absl::OkStatus();
}

absl::Status ReadArea(XmlFile& file, pugi::xml_node node, Rectangle& area) {
  WAYSTAR_RETURN_IF_ERROR(file.Read(node, "x", area.x));
  WAYSTAR_RETURN_IF_ERROR(file.Read(node, "y", area.y));
  WAYSTAR_RETURN_IF_ERROR(file.Read(node, "width", area.width));
  return file.Read(node, "height", area.height);
}

absl::Status ReadTileLayer(XmlFile& file, pugi::xml_node node, TiledLayer& layer) {
  const pugi::xml_node data = node.child("data");
  TiledTileData whole;
  WAYSTAR_RETURN_IF_ERROR(file.Read(data, "encoding", whole.encoding));
  WAYSTAR_RETURN_IF_ERROR(file.Read(data, "compression", whole.compression));
  if (!data.child("chunk")) {
    WAYSTAR_RETURN_IF_ERROR(file.Read(node, "width", whole.area.width));
    WAYSTAR_RETURN_IF_ERROR(file.Read(node, "height", whole.area.height));
    WAYSTAR_RETURN_IF_ERROR(ReadCells(file, data, whole));
    layer.tiles.push_back(std::move(whole));
    return absl::OkStatus();
  }
  for (const pugi::xml_node chunk : data.children("chunk")) {
    TiledTileData part{.encoding = whole.encoding, .compression = whole.compression};
    WAYSTAR_RETURN_IF_ERROR(ReadArea(file, chunk, part.area));
    WAYSTAR_RETURN_IF_ERROR(ReadCells(file, chunk, part));
    layer.tiles.push_back(std::move(part));
  }
  return absl::OkStatus();
}

absl::StatusOr<TiledLayer> ReadLayerHead(XmlFile& file, pugi::xml_node node) {
  TiledLayer layer{.class_name = node.attribute("class").value(), .line = file.LineOf(node)};
  layer.properties = PropertiesOf(node);
  WAYSTAR_RETURN_IF_ERROR(file.Read(node, "name", layer.name));
  WAYSTAR_RETURN_IF_ERROR(file.Read(node, "visible", layer.visible));
  WAYSTAR_RETURN_IF_ERROR(file.Read(node, "offsetx", layer.offset.x));
  WAYSTAR_RETURN_IF_ERROR(file.Read(node, "offsety", layer.offset.y));
  return layer;
}

// `group` is null at the top.
absl::Status ReadLayers(XmlFile& file, pugi::xml_node parent, const TiledLayer* group, int depth,
                        std::vector<TiledLayer>& layers) {
  for (const pugi::xml_node node : parent.children()) {
    const absl::string_view kind = node.name();
    if (kind != "layer" && kind != "objectgroup" && kind != "group") {
      continue;
    }
    WAYSTAR_ASSIGN_OR_RETURN(TiledLayer layer, ReadLayerHead(file, node));
    if (group != nullptr) {
      PutIntoGroup(*group, layer);
    }
    if (kind == "group") {
      if (depth == kMaxTiledGroups) {
        return file.Error(node,
                          absl::StrCat("groups lie more than ", kMaxTiledGroups, " deep in each other"));
      }
      WAYSTAR_RETURN_IF_ERROR(ReadLayers(file, node, &layer, depth + 1, layers));
      continue;
    }
    if (kind == "layer") {
      WAYSTAR_RETURN_IF_ERROR(ReadTileLayer(file, node, layer));
    }
    for (const pugi::xml_node element : node.children("object")) {
      WAYSTAR_ASSIGN_OR_RETURN(TiledObject object, ReadObject(file, element));
      layer.objects.push_back(std::move(object));
    }
    layers.push_back(std::move(layer));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TiledMap> ParseTiledXml(absl::string_view bytes) {
  XmlFile file(bytes);
  WAYSTAR_RETURN_IF_ERROR(file.Load());
  const pugi::xml_node root = file.root("map");
  if (!root) {
    return file.ErrorAt(0, "there is no element \"map\": this is no map of Tiled");
  }
  TiledMap map;
  WAYSTAR_RETURN_IF_ERROR(file.Read(root, "orientation", map.orientation));
  WAYSTAR_RETURN_IF_ERROR(file.Read(root, "staggeraxis", map.stagger_axis));
  WAYSTAR_RETURN_IF_ERROR(file.Read(root, "staggerindex", map.stagger_index));
  WAYSTAR_RETURN_IF_ERROR(file.Read(root, "width", map.width));
  WAYSTAR_RETURN_IF_ERROR(file.Read(root, "height", map.height));
  WAYSTAR_RETURN_IF_ERROR(file.Read(root, "infinite", map.infinite));
  WAYSTAR_RETURN_IF_ERROR(file.Read(root, "tilewidth", map.tile_width));
  WAYSTAR_RETURN_IF_ERROR(file.Read(root, "tileheight", map.tile_height));
  WAYSTAR_RETURN_IF_ERROR(file.Read(root, "hexsidelength", map.hex_side_length));
  map.properties = PropertiesOf(root);
  for (const pugi::xml_node node : root.children("tileset")) {
    WAYSTAR_ASSIGN_OR_RETURN(TiledTileset tileset, ReadTileset(file, node));
    map.tilesets.push_back(std::move(tileset));
  }
  WAYSTAR_RETURN_IF_ERROR(ReadLayers(file, root, nullptr, 0, map.layers));
  return map;
}

absl::StatusOr<TiledTileset> ParseTilesetXml(absl::string_view bytes) {
  XmlFile file(bytes);
  WAYSTAR_RETURN_IF_ERROR(file.Load());
  const pugi::xml_node root = file.root("tileset");
  if (!root) {
    return file.ErrorAt(0, "there is no element \"tileset\"");
  }
  return ReadTileset(file, root);
}

}  // namespace waystar::core
