// Conversion of Tiled XML to the equivalent Tiled JSON.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "pugixml.hpp"
#include "server/base/error.h"
#include "server/base/file_errors.h"
#include "server/formats/grid/tiled_map.h"

namespace waystar::core {
namespace {

// A file of 80 MB may have more elements than fit in memory.
constexpr std::size_t kMaxXmlMarks = std::size_t{1} << 23;

class XmlFile {
 public:
  explicit XmlFile(absl::string_view bytes) : bytes_(bytes) {
    for (std::size_t at = bytes.find('\n'); at != absl::string_view::npos; at = bytes.find('\n', at + 1)) {
      line_ends_.push_back(at);
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
    return static_cast<std::size_t>(absl::c_lower_bound(line_ends_, offset) - line_ends_.begin()) + 1;
  }

  // Stops at the first element that is nested too deep.
  struct DepthLimit : pugi::xml_tree_walker {
    bool for_each(pugi::xml_node& node) override {
      at_fault = node;
      return depth() < static_cast<int>(kMaxJsonDepth);
    }

    pugi::xml_node at_fault;
  };

  absl::string_view bytes_;
  pugi::xml_document document_;
  std::vector<std::size_t> line_ends_;
};

// Returns the name of the list that JSON has for elements of this name; empty if it has none.
absl::string_view ListOf(absl::string_view parent, absl::string_view name) {
  if (name == "layer" || name == "imagelayer" || name == "group" ||
      (name == "objectgroup" && parent != "tile")) {
    return "layers";
  }
  if (name == "object") {
    return parent == "template" ? "" : "objects";
  }
  if (name == "tileset") {
    return parent == "template" ? "" : "tilesets";
  }
  return name == "tile" ? "tiles" : "";
}

// Builds the JSON that Tiled would write: attributes become text members, elements of one kind a list.
class JsonMaker {
 public:
  JsonMaker(const XmlFile& file, const StopCheck* stop) : file_(file), stop_(stop) {}

  // Converts an element. Once `stop` fails, skips the rest.
  JsonValue ObjectOf(pugi::xml_node node) const {
    const std::size_t line = file_.LineOf(node);
    const absl::string_view name = node.name();
    JsonValue::Object members;
    const auto add = [&](absl::string_view key, JsonValue::Kind kind) {
      members.emplace_back(key, JsonValue(std::move(kind), line));
    };
    if (ListOf("", name) == "layers") {
      add("type", name == "layer" ? "tilelayer" : std::string(name));
    }
    for (const pugi::xml_attribute attribute : node.attributes()) {
      add(attribute.name(), std::string(attribute.value()));
    }
    if (name == "tile") {
      const pugi::xml_node image = node.child("image");
      for (const auto& [attribute, member] : {std::pair(image.attribute("width"), "imagewidth"),
                                              std::pair(image.attribute("height"), "imageheight")}) {
        if (*attribute.value() != '\0') {
          add(member, std::string(attribute.value()));
        }
      }
    } else if (name == "layer") {
      const pugi::xml_node data = node.child("data");
      add("encoding", std::string(data.attribute("encoding").value()));
      add("compression", std::string(data.attribute("compression").value()));
      if (data.child("chunk")) {
        add("chunks", ChunksOf(data));
      } else {
        add("data", CellsOf(data));
      }
    } else if (name == "chunk") {
      add("data", CellsOf(node));
      return {std::move(members), line};
    }
    AddElements(node, members);
    return {std::move(members), line};
  }

 private:
  // Adds the elements of a parent, but not its data: lists, known objects and values, and only the names of
  // others, so that they can be noted.
  void AddElements(pugi::xml_node parent, JsonValue::Object& members) const {
    std::vector<std::pair<absl::string_view, JsonValue::Array>> lists;
    absl::flat_hash_set<absl::string_view> unknown;
    for (const pugi::xml_node child : parent.children()) {
      if (IsStopped(stop_)) {
        break;
      }
      const absl::string_view name = child.name();
      if (const absl::string_view list = ListOf(parent.name(), name); !list.empty()) {
        const auto known = absl::c_find_if(lists, [&](const auto& other) { return other.first == list; });
        auto& elements = known == lists.end() ? lists.emplace_back(list, JsonValue::Array()) : *known;
        elements.second.push_back(ObjectOf(child));
      } else if (name == "properties") {
        members.emplace_back(name, JsonValue(PropertiesOf(child), file_.LineOf(child)));
      } else if (name == "object" || name == "tileset" || name == "objectgroup" || name == "tileoffset" ||
                 name == "grid") {
        members.emplace_back(name, ObjectOf(child));
      } else if (name == "polygon" || name == "polyline") {
        members.emplace_back(name, PointsOf(child));
      } else if (name == "ellipse" || name == "capsule" || name == "point") {
        members.emplace_back(name, JsonValue(true, file_.LineOf(child)));
      } else if (child.type() == pugi::node_element && name != "data" && unknown.insert(name).second) {
        members.emplace_back(name, JsonValue(nullptr, file_.LineOf(child)));
      }
    }
    for (auto& [name, list] : lists) {
      members.emplace_back(name, JsonValue(std::move(list), file_.LineOf(parent)));
    }
  }

  JsonValue::Array ChunksOf(pugi::xml_node data) const {
    JsonValue::Array chunks;
    for (const pugi::xml_node chunk : data.children("chunk")) {
      if (IsStopped(stop_)) {
        break;
      }
      chunks.push_back(ObjectOf(chunk));
    }
    return chunks;
  }

  JsonValue::Array PropertiesOf(pugi::xml_node parent) const {
    JsonValue::Array properties;
    for (const pugi::xml_node node : parent.children("property")) {
      const std::size_t line = file_.LineOf(node);
      JsonValue::Object property;
      for (const char* const attribute : {"name", "type", "propertytype"}) {
        property.emplace_back(attribute, JsonValue(std::string(node.attribute(attribute).value()), line));
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

  // Returns tile elements as numbers for files without an encoding, else the text.
  JsonValue::Kind CellsOf(pugi::xml_node node) const {
    if (!node.child("tile")) {
      return std::string(node.text().get());
    }
    JsonValue::Numbers numbers;
    for (const pugi::xml_node tile : node.children("tile")) {
      if (!CheckStopAt(stop_, numbers.size()).ok()) {
        break;
      }
      double& gid = numbers.emplace_back();
      if (tile.attribute("gid") && !absl::SimpleAtod(tile.attribute("gid").value(), &gid)) {
        gid = std::numeric_limits<double>::quiet_NaN();
      }
    }
    return numbers;
  }

  JsonValue PointsOf(pugi::xml_node node) const {
    const std::size_t line = file_.LineOf(node);
    JsonValue::Array points;
    for (const absl::string_view text :
         absl::StrSplit(node.attribute("points").value(), ' ', absl::SkipEmpty())) {
      const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits(',', 1));
      JsonValue::Object point;
      point.emplace_back("x", JsonValue(parts.first, line));
      point.emplace_back("y", JsonValue(parts.second, line));
      points.emplace_back(std::move(point), line);
    }
    return {std::move(points), line};
  }

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
  JsonValue json = JsonMaker(file, stop).ObjectOf(file.root(root));
  WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
  return json;
}

}  // namespace waystar::core
