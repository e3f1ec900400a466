#include "server/core/import/tiled_xml.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "pugixml.hpp"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/format/file_errors.h"
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
        return ErrorAt(OffsetOf(node), "a document type with declarations of its own is not read");
      }
    }
    return absl::OkStatus();
  }

  pugi::xml_node root(const char* name) const { return document_.child(name); }

  // Costs O(1) on the average if nodes are asked for in their order.
  std::size_t LineOf(pugi::xml_node node) { return LineAt(OffsetOf(node)); }

  absl::Status ErrorAt(std::size_t offset, absl::string_view message) {
    return BadLine(LineAt(offset), message);
  }

 private:
  static std::size_t OffsetOf(pugi::xml_node node) {
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(node.offset_debug(), 0));
  }

  std::size_t LineAt(std::size_t offset) {
    offset = std::min(offset, bytes_.size());
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

// The JSON that Tiled writes for elements: attributes are members, as text, and elements of one kind a list.
class JsonMaker {
 public:
  JsonMaker(XmlFile& file, const StopCheck* stop) : file_(file), stop_(stop) {}

  // Groups that lie too deep stay empty; who reads the JSON refuses them. Leaves out the rest once it has to
  // stop.
  JsonValue ObjectOf(pugi::xml_node node, int depth) {
    const std::size_t line = file_.LineOf(node);
    const absl::string_view name = node.name();
    JsonValue::Object members;
    const auto add = [&](absl::string_view key, JsonValue::Kind kind) {
      members.emplace_back(key, JsonValue(std::move(kind), line));
    };
    if (name == "layer" || name == "objectgroup" || name == "group") {
      add("type", name == "layer" ? "tilelayer" : std::string(name));
    }
    for (const pugi::xml_attribute attribute : node.attributes()) {
      add(attribute.name(), std::string(attribute.value()));
    }
    add("properties", PropertiesOf(node.child("properties"), line));
    if (name == "map") {
      add("tilesets", ListOf(node, {"tileset"}, depth));
    }
    if (name == "map" || (name == "group" && depth <= kMaxTiledGroups)) {
      add("layers", ListOf(node, {"layer", "objectgroup", "group"}, depth + 1));
    } else if (name == "tileset") {
      add("tiles", ListOf(node, {"tile"}, depth));
    } else if (name == "tile" && node.child("objectgroup")) {
      members.emplace_back("objectgroup", ObjectOf(node.child("objectgroup"), depth));
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
    return {std::move(members), line};
  }

 private:
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

  static JsonValue::Array PropertiesOf(pugi::xml_node parent, std::size_t line) {
    JsonValue::Array properties;
    for (const pugi::xml_node node : parent.children("property")) {
      const pugi::xml_attribute value = node.attribute("value");
      // Values of several lines are the element's text.
      properties.push_back(Pair("name", node.attribute("name").value(), "value",
                                value ? value.value() : node.child_value(), line));
    }
    return properties;
  }

  static JsonValue Pair(const char* a, absl::string_view of_a, const char* b, absl::string_view of_b,
                        std::size_t line) {
    JsonValue::Object pair;
    pair.emplace_back(a, JsonValue(std::string(of_a), line));
    pair.emplace_back(b, JsonValue(std::string(of_b), line));
    return {std::move(pair), line};
  }

  // Tiles as elements, as files without an encoding have them; or else text.
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
    for (const char* const form : {"ellipse", "point"}) {
      members.emplace_back(form, JsonValue(!node.child(form).empty(), line));
    }
  }

  static constexpr std::size_t kTilesBetweenChecks = 1 << 12;

  XmlFile& file_;
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
