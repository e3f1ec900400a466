// Conversion of Tiled XML to the equivalent Tiled JSON.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "pugixml.hpp"
#include "server/base/error.h"
#include "server/base/file_errors.h"
#include "server/formats/grid/tiled_map.h"
#include "server/formats/grid/tiled_values.h"

namespace waystar::core {
namespace {

// A file of 80 MB may have more elements than fit in memory.
constexpr std::size_t kMaxXmlMarks = std::size_t{1} << 23;

class XmlFile {
 public:
  explicit XmlFile(absl::string_view bytes) : bytes_(bytes) {
    std::size_t lines = 0;
    for (std::size_t begin = 0; begin <= bytes.size(); begin += kBlock) {
      lines_before_.push_back(lines);
      lines += LinesIn(bytes.substr(begin, kBlock));
    }
  }

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
    DepthLimit limit;
    if (!document_.traverse(limit)) {
      return ErrorAt(OffsetOf(limit.at_fault),
                     absl::StrCat("elements lie more than ", kMaxJsonDepth, " deep in each other"));
    }
    for (const pugi::xml_node node : document_) {
      // Old versions name a DTD; it is ignored.
      if (node.type() == pugi::node_doctype && std::strchr(node.value(), '[') != nullptr) {
        return ErrorAt(OffsetOf(node), "a document type with declarations of its own is not read");
      }
    }
    return absl::OkStatus();
  }

  pugi::xml_node root(const char* name) const { return document_.child(name); }

  std::size_t LineOf(pugi::xml_node node) const { return LineAt(OffsetOf(node)); }

  absl::Status ErrorAt(std::size_t offset, absl::string_view message) const {
    return BadLine(LineAt(offset), message);
  }

 private:
  static std::size_t OffsetOf(pugi::xml_node node) {
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(node.offset_debug(), 0));
  }

  std::size_t LineAt(std::size_t offset) const {
    offset = std::min(offset, bytes_.size());
    const std::size_t block = offset / kBlock;
    return 1 + lines_before_[block] + LinesIn(bytes_.substr(block * kBlock, offset - block * kBlock));
  }

  static std::size_t LinesIn(absl::string_view text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  // Stops at the first element that is nested too deep.
  struct DepthLimit : pugi::xml_tree_walker {
    bool for_each(pugi::xml_node& node) override {
      at_fault = node;
      return depth() < static_cast<int>(kMaxJsonDepth);
    }

    pugi::xml_node at_fault;
  };

  // Bounds the scan for a line number to one block.
  static constexpr std::size_t kBlock = 4096;

  absl::string_view bytes_;
  pugi::xml_document document_;
  // Number of lines that end before each block.
  std::vector<std::size_t> lines_before_;
};

// Builds the JSON that Tiled would write: attributes become text members, elements of one kind a list.
class JsonMaker {
 public:
  JsonMaker(const XmlFile& file, const StopCheck* stop) : file_(file), stop_(stop) {}

  // Converts an element. Groups nested too deep stay empty and are rejected by the reader of the JSON. Once
  // `stop` fails, skips the rest.
  JsonValue ObjectOf(pugi::xml_node node, int depth) {
    const std::size_t line = file_.LineOf(node);
    const absl::string_view name = node.name();
    JsonValue::Object members;
    const auto add = [&](absl::string_view key, JsonValue::Kind kind) {
      members.emplace_back(key, JsonValue(std::move(kind), line));
    };
    if (name == "layer" || name == "objectgroup" || name == "imagelayer" || name == "group") {
      add("type", name == "layer" ? "tilelayer" : std::string(name));
    }
    for (const pugi::xml_attribute attribute : node.attributes()) {
      add(attribute.name(), std::string(attribute.value()));
    }
    if (const pugi::xml_node properties = node.child("properties")) {
      add("properties", PropertiesOf(properties));
    }
    if (name == "map") {
      add("tilesets", ListOf(node, {"tileset"}, depth));
    }
    if (name == "map" || (name == "group" && depth <= kMaxTiledGroups)) {
      add("layers", ListOf(node, {"layer", "objectgroup", "imagelayer", "group"}, depth + 1));
    } else if (name == "tileset") {
      add("tiles", ListOf(node, {"tile"}, depth));
    } else if (name == "tile") {
      for (const auto& [attribute, member] :
           {std::pair("width", "imagewidth"), std::pair("height", "imageheight")}) {
        const absl::string_view size = node.child("image").attribute(attribute).value();
        if (!size.empty()) {
          add(member, std::string(size));
        }
      }
    } else if (name == "layer") {
      const pugi::xml_node data = node.child("data");
      add("encoding", std::string(data.attribute("encoding").value()));
      add("compression", std::string(data.attribute("compression").value()));
      if (data.child("chunk")) {
        add("chunks", ListOf(data, {"chunk"}, depth));
      } else {
        add("data", CellsOf(data));
      }
    } else if (name == "chunk") {
      add("data", CellsOf(node));
    } else if (name == "objectgroup") {
      add("objects", ListOf(node, {"object"}, depth));
    } else if (name == "object") {
      AddForm(node, line, members);
    }
    AddOthers(node, depth, members);
    return {std::move(members), line};
  }

 private:
  // Adds the elements that are not lists: known ones as objects, and only the names of others, so that they
  // can be noted.
  void AddOthers(pugi::xml_node node, int depth, JsonValue::Object& members) {
    constexpr std::array<absl::string_view, 15> kDone = {
        "capsule",     "chunk", "data",    "ellipse",  "group",      "imagelayer", "layer",  "object",
        "objectgroup", "point", "polygon", "polyline", "properties", "tile",       "tileset"};
    const absl::string_view parent = node.name();
    absl::flat_hash_set<absl::string_view> unknown;
    std::size_t children = 0;
    for (const pugi::xml_node child : node.children()) {
      if (++children % kTilesBetweenChecks == 0 && IsStopped(stop_)) {
        break;
      }
      const absl::string_view name = child.name();
      const bool is_object = (parent == "template" && (name == "object" || name == "tileset")) ||
                             (parent == "tileset" && (name == "tileoffset" || name == "grid")) ||
                             (parent == "tile" && name == "objectgroup");
      if (is_object) {
        members.emplace_back(name, ObjectOf(child, depth));
      } else if (child.type() == pugi::node_element &&
                 std::find(kDone.begin(), kDone.end(), name) == kDone.end() && unknown.insert(name).second) {
        members.emplace_back(name, JsonValue(nullptr, file_.LineOf(child)));
      }
    }
  }

  JsonValue::Array ListOf(pugi::xml_node parent, std::initializer_list<absl::string_view> names, int depth) {
    JsonValue::Array list;
    for (const pugi::xml_node node : parent.children()) {
      if (IsStopped(stop_)) {
        break;
      }
      if (std::find(names.begin(), names.end(), node.name()) != names.end()) {
        list.push_back(ObjectOf(node, depth));
      }
    }
    return list;
  }

  JsonValue::Array PropertiesOf(pugi::xml_node parent) const {
    JsonValue::Array properties;
    for (const pugi::xml_node node : parent.children("property")) {
      const std::size_t line = file_.LineOf(node);
      JsonValue::Object property;
      for (const char* const attribute : {"name", "type", "propertytype"}) {
        if (node.attribute(attribute)) {
          property.emplace_back(attribute, JsonValue(std::string(node.attribute(attribute).value()), line));
        }
      }
      property.emplace_back("value", ValueOf(node, line));
      properties.emplace_back(std::move(property), line);
    }
    return properties;
  }

  // Returns the value of a property; for a class, an object of the property values.
  static JsonValue ValueOf(pugi::xml_node node, std::size_t line) {
    const pugi::xml_node inner = node.child("properties");
    if (inner || absl::string_view(node.attribute("type").value()) == "class") {
      JsonValue::Object members;
      for (const pugi::xml_node property : inner.children("property")) {
        members.emplace_back(property.attribute("name").value(), ValueOf(property, line));
      }
      return {std::move(members), line};
    }
    if (node.child("item")) {
      return {JsonValue::Array(), line};
    }
    const pugi::xml_attribute value = node.attribute("value");
    // A value of several lines is the element's text.
    return {std::string(value ? value.value() : node.child_value()), line};
  }

  static JsonValue Pair(const char* a, absl::string_view of_a, const char* b, absl::string_view of_b,
                        std::size_t line) {
    JsonValue::Object pair;
    pair.emplace_back(a, JsonValue(std::string(of_a), line));
    pair.emplace_back(b, JsonValue(std::string(of_b), line));
    return {std::move(pair), line};
  }

  // Returns tile elements as numbers for files without an encoding, else the text.
  JsonValue::Kind CellsOf(pugi::xml_node node) const {
    if (!node.child("tile")) {
      return std::string(node.text().get());
    }
    JsonValue::Numbers numbers;
    for (const pugi::xml_node tile : node.children("tile")) {
      if (numbers.size() % kTilesBetweenChecks == 0 && IsStopped(stop_)) {
        break;
      }
      double& gid = numbers.emplace_back();
      if (tile.attribute("gid") && !absl::SimpleAtod(tile.attribute("gid").value(), &gid)) {
        gid = std::numeric_limits<double>::quiet_NaN();
      }
    }
    return numbers;
  }

  static void AddForm(pugi::xml_node node, std::size_t line, JsonValue::Object& members) {
    for (const char* const form : {"polygon", "polyline"}) {
      if (const pugi::xml_node child = node.child(form)) {
        JsonValue::Array points;
        for (const absl::string_view point :
             absl::StrSplit(child.attribute("points").value(), ' ', absl::SkipEmpty())) {
          const std::pair<absl::string_view, absl::string_view> parts =
              absl::StrSplit(point, absl::MaxSplits(',', 1));
          points.push_back(Pair("x", parts.first, "y", parts.second, line));
        }
        members.emplace_back(form, JsonValue(std::move(points), line));
      }
    }
    for (const char* const form : {"ellipse", "capsule", "point"}) {
      if (node.child(form)) {
        members.emplace_back(form, JsonValue(true, line));
      }
    }
  }

  static constexpr std::size_t kTilesBetweenChecks = 1 << 12;

  const XmlFile& file_;
  const StopCheck* const stop_;
};

}  // namespace

absl::StatusOr<JsonValue> TiledXmlAsJson(absl::string_view bytes, const char* root, const StopCheck* stop) {
  XmlFile file(bytes);
  WAYSTAR_RETURN_IF_ERROR(file.Load());
  WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
  if (!file.root(root)) {
    return file.ErrorAt(0,
                        absl::StrCat("there is no element \"", root, "\": this is no ", root, " of Tiled"));
  }
  JsonValue json = JsonMaker(file, stop).ObjectOf(file.root(root), 0);
  WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
  return json;
}

}  // namespace waystar::core
