#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/base/error.h"
#include "server/base/file_errors.h"
#include "server/formats/mesh/mesh_readers.h"
#include "server/formats/mesh/soup_mesh.h"
#include "server/formats/text/text.h"

namespace waystar::core {
namespace {

constexpr std::size_t kMaxPathLength = 4096;

// Tokenizer of Godot text files.
//
// Thread safety: none.
class GodotText {
 public:
  GodotText(absl::string_view text, const StopCheck* stop) : rest_(text), stop_(stop) {}

  std::size_t line() const { return line_; }
  absl::Status Error(absl::string_view message) const { return BadLine(line_, message); }
  absl::Status CheckTime() { return CheckStopAt(stop_, ++steps_); }

  // Skips blanks and comments and returns the next character without consuming it, or 0 at the end.
  char Peek() {
    while (!rest_.empty()) {
      if (rest_.front() == ';') {
        Pass(std::min(rest_.find('\n'), rest_.size()));
      } else if (IsBlank(rest_.front())) {
        Pass(1);
      } else {
        return rest_.front();
      }
    }
    return '\0';
  }

  // Consumes the character if it is next.
  bool Take(char c) {
    if (Peek() != c || rest_.empty()) {
      return false;
    }
    Pass(1);
    return true;
  }
  absl::Status Expect(char c) {
    return Take(c) ? absl::OkStatus()
                   : Error(absl::StrCat("there should be \"", std::string(1, c), "\" before ",
                                        rest_.empty() ? "the end" : Quoted(rest_.substr(0, 10))));
  }

  // Consumes and returns a name.
  absl::string_view TakeName() {
    Peek();
    std::size_t end = 0;
    while (end < rest_.size() && !IsBlank(rest_[end]) && !absl::StrContains("=[](){},;", rest_[end])) {
      ++end;
    }
    return Pass(end);
  }

  // Consumes a value and returns its text. A blank or closing bracket outside brackets and strings ends it.
  absl::StatusOr<absl::string_view> TakeValue() {
    Peek();
    const absl::string_view begin = rest_;
    std::size_t depth = 0;
    while (!rest_.empty()) {
      WAYSTAR_RETURN_IF_ERROR(CheckTime());
      const char c = rest_.front();
      if (c == '"') {
        WAYSTAR_RETURN_IF_ERROR(PassString());
        continue;
      }
      if (depth == 0 && (IsBlank(c) || c == ']')) {
        break;
      }
      depth += c == '(' || c == '[' || c == '{' ? 1 : 0;
      if (c == ')' || c == ']' || c == '}') {
        if (depth == 0) {
          return Error("a bracket is closed that is not open");
        }
        --depth;
      }
      Pass(1);
    }
    if (depth > 0) {
      return Error("the file ends within brackets");
    }
    return begin.substr(0, begin.size() - rest_.size());
  }

 private:
  static bool IsBlank(char c) { return absl::ascii_isspace(static_cast<unsigned char>(c)); }

  absl::string_view Pass(std::size_t count) {
    const absl::string_view passed = rest_.substr(0, count);
    line_ += static_cast<std::size_t>(std::count(passed.begin(), passed.end(), '\n'));
    rest_.remove_prefix(count);
    return passed;
  }

  absl::Status PassString() {
    std::size_t end = 1;
    while (end < rest_.size() && rest_[end] != '"') {
      end += rest_[end] == '\\' ? 2 : 1;
    }
    if (end >= rest_.size()) {
      return Error("the file ends within a string");
    }
    Pass(end + 1);
    return absl::OkStatus();
  }

  absl::string_view rest_;
  const StopCheck* stop_;
  std::size_t line_ = 1;
  std::size_t steps_ = 0;
};

// Strips the quotes of a quoted value.
absl::string_view Unquoted(absl::string_view value) {
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
    return value.substr(1, value.size() - 2);
  }
  return value;
}

// Returns the id in `SubResource("id")`, or empty if the value is something else.
absl::string_view SubResourceId(absl::string_view value) {
  if (!absl::ConsumePrefix(&value, "SubResource(") || !absl::ConsumeSuffix(&value, ")")) {
    return {};
  }
  return Unquoted(absl::StripAsciiWhitespace(value));
}

// Returns true if a property of a node has the identity transform.
bool IsAtRest(absl::string_view property, absl::string_view value) {
  std::vector<double> numbers;
  const std::size_t open = value.find('(');
  absl::string_view rest = open == absl::string_view::npos ? value : value.substr(open + 1);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of(",)"), rest.size());
    double number = 0.0;
    if (!absl::SimpleAtod(absl::StripAsciiWhitespace(rest.substr(0, end)), &number)) {
      return false;
    }
    numbers.push_back(number);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (property == "transform") {
    return numbers == std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0} ||
           numbers == std::vector<double>{1, 0, 0, 1, 0, 0};
  }
  const double rest_value = property == "scale" ? 1.0 : 0.0;
  return std::all_of(numbers.begin(), numbers.end(), [&](double number) { return number == rest_value; });
}

bool MovesNodes(absl::string_view property) {
  constexpr absl::string_view kNames[] = {"transform",        "position", "translation", "rotation",
                                          "rotation_degrees", "scale",    "skew"};
  return absl::c_linear_search(kNames, property);
}

class GodotParser {
 public:
  GodotParser(absl::string_view bytes, const ImportOptions& options)
      : text_(SkipByteOrderMark(bytes), options.grid.stop), axes_(options.mesh_axes()) {}

  absl::StatusOr<FileFaces> Parse() {
    if (text_.Peek() != '[') {
      return text_.Error("the file does not begin as a text file of Godot does");
    }
    while (text_.Peek() != '\0') {
      WAYSTAR_RETURN_IF_ERROR(text_.CheckTime());
      WAYSTAR_RETURN_IF_ERROR(text_.Peek() == '[' ? ReadTag() : ReadProperty());
    }
    WAYSTAR_RETURN_IF_ERROR(EndPart());
    if (resource_count_ == 0) {
      return BadFormat("the file has no NavigationMesh and no NavigationPolygon");
    }
    WAYSTAR_RETURN_IF_ERROR(CheckNodes());
    SetKinds();
    return std::move(faces_);
  }

 private:
  struct Node {
    // Names from the root ".".
    std::string path;
    std::size_t line = 0;
    // The navigation mesh that it uses, counted from 1, or 0.
    std::uint32_t resource = 0;
    double cost = 1.0;
    std::uint32_t layers = 1;
  };

  // Reads `[name key=value ...]`.
  absl::Status ReadTag() {
    WAYSTAR_RETURN_IF_ERROR(EndPart());
    WAYSTAR_RETURN_IF_ERROR(text_.Expect('['));
    const std::size_t line = text_.line();
    tag_ = text_.TakeName();
    absl::flat_hash_map<absl::string_view, absl::string_view> values;
    while (!text_.Take(']')) {
      WAYSTAR_RETURN_IF_ERROR(text_.CheckTime());
      const absl::string_view key = text_.TakeName();
      if (key.empty()) {
        return text_.Error("a tag is not closed");
      }
      WAYSTAR_RETURN_IF_ERROR(text_.Expect('='));
      WAYSTAR_ASSIGN_OR_RETURN(values[key], text_.TakeValue());
    }
    const absl::string_view type = Unquoted(values["type"]);
    if (tag_ == "gd_resource") {
      file_type_ = type;
    } else if (tag_ == "sub_resource" || tag_ == "resource") {
      BeginResource(tag_ == "resource" ? file_type_ : type, Unquoted(values["id"]));
    } else if (tag_ == "node") {
      const bool has_parent = values.contains("parent");
      return BeginNode(Unquoted(values["name"]), has_parent, Unquoted(values["parent"]), line);
    }
    return absl::OkStatus();
  }

  void BeginResource(absl::string_view type, absl::string_view id) {
    is_mesh_ = type == "NavigationMesh" || type == "NavigationPolygon";
    is_plan_ = type == "NavigationPolygon";
    if (is_mesh_) {
      resources_[id] = ++resource_count_;
    }
  }

  absl::Status BeginNode(absl::string_view name, bool has_parent, absl::string_view parent,
                         std::size_t line) {
    if (name.size() + parent.size() > kMaxPathLength) {
      return text_.Error(absl::StrCat("the path of a node is longer than ", kMaxPathLength, " bytes"));
    }
    node_.line = line;
    node_.path = !has_parent ? "." : parent == "." ? std::string(name) : absl::StrCat(parent, "/", name);
    return absl::OkStatus();
  }

  // Reads `name = value`.
  absl::Status ReadProperty() {
    absl::string_view name = text_.TakeName();
    if (text_.Peek() == '"') {
      WAYSTAR_ASSIGN_OR_RETURN(name, text_.TakeValue());
    }
    if (name.empty()) {
      return text_.Error("there should be the name of a property");
    }
    WAYSTAR_RETURN_IF_ERROR(text_.Expect('='));
    if (is_mesh_ && name == "vertices") {
      return ReadVertices();
    }
    if (is_mesh_ && name == "polygons") {
      return ReadPolygons();
    }
    WAYSTAR_ASSIGN_OR_RETURN(absl::string_view value, text_.TakeValue());
    value = absl::StripAsciiWhitespace(value);
    if (tag_ == "node") {
      if (MovesNodes(name) && !IsAtRest(name, value)) {
        moved_.insert(node_.path);
      }
      const absl::string_view id = SubResourceId(value);
      if (const auto used = resources_.find(id); !id.empty() && used != resources_.end()) {
        node_.resource = used->second;
      }
      double cost = 0.0;
      if (name == "travel_cost" && absl::SimpleAtod(value, &cost) && cost >= 0.0) {
        node_.cost = std::clamp(cost, kMinGroundCost, kMaxGroundCost);
      }
      std::uint32_t layers = 0;
      if (name == "navigation_layers" && absl::SimpleAtoi(value, &layers)) {
        node_.layers = layers;
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadVertices() {
    const absl::string_view type = text_.TakeName();
    const absl::string_view wanted = is_plan_ ? "Vector2Array" : "Vector3Array";
    if (type != absl::StrCat("Packed", wanted) && type != absl::StrCat("Pool", wanted)) {
      return text_.Error(absl::StrCat("vertices are a Packed", wanted, ", and not ", Quoted(type)));
    }
    const std::size_t size = is_plan_ ? 2 : 3;
    double coordinates[3] = {};
    std::size_t count = 0;
    WAYSTAR_RETURN_IF_ERROR(text_.Expect('('));
    while (!text_.Take(')')) {
      WAYSTAR_RETURN_IF_ERROR(text_.CheckTime());
      const absl::string_view word = text_.TakeName();
      if (!absl::SimpleAtod(word, &coordinates[count])) {
        return text_.Error(absl::StrCat(Quoted(word), " should be a coordinate"));
      }
      if (++count == size) {
        count = 0;
        WAYSTAR_RETURN_IF_ERROR(
            AddVertex(is_plan_ ? WorldPoint{coordinates[0], coordinates[1], 0.0}
                               : FromAxes(axes_, coordinates[0], coordinates[1], coordinates[2]),
                      text_.line(), vertices_));
      }
      if (!text_.Take(',') && text_.Peek() != ')') {
        return text_.Error("numbers of a list are separated by commas");
      }
    }
    return count == 0 ? absl::OkStatus() : text_.Error("the last vertex has too few coordinates");
  }

  // Reads a list of lists of integers. Version 4 may prefix the element type.
  absl::Status ReadPolygons() {
    const bool is_typed = absl::ascii_isalpha(static_cast<unsigned char>(text_.Peek()));
    if (is_typed) {
      if (const absl::string_view name = text_.TakeName(); name != "Array") {
        return text_.Error(absl::StrCat("polygons are a list, and not ", Quoted(name)));
      }
      WAYSTAR_RETURN_IF_ERROR(text_.Expect('['));
      text_.TakeName();
      WAYSTAR_RETURN_IF_ERROR(text_.Expect(']'));
      WAYSTAR_RETURN_IF_ERROR(text_.Expect('('));
    }
    WAYSTAR_RETURN_IF_ERROR(text_.Expect('['));
    while (!text_.Take(']')) {
      WAYSTAR_RETURN_IF_ERROR(ReadPolygon());
      if (!text_.Take(',') && text_.Peek() != ']') {
        return text_.Error("polygons are separated by commas");
      }
    }
    return is_typed ? text_.Expect(')') : absl::OkStatus();
  }

  absl::Status ReadPolygon() {
    const absl::string_view type = text_.TakeName();
    if (type != "PackedInt32Array" && type != "PoolIntArray") {
      return text_.Error(absl::StrCat("a polygon is a PackedInt32Array, and not ", Quoted(type)));
    }
    const std::size_t line = text_.line();
    const std::size_t first = corners_.size();
    WAYSTAR_RETURN_IF_ERROR(text_.Expect('('));
    while (!text_.Take(')')) {
      WAYSTAR_RETURN_IF_ERROR(text_.CheckTime());
      const absl::string_view word = text_.TakeName();
      std::uint32_t vertex = 0;
      if (!absl::SimpleAtoi(word, &vertex)) {
        return text_.Error(absl::StrCat(Quoted(word), " should be the number of a vertex"));
      }
      corners_.push_back(vertex);
      if (!text_.Take(',') && text_.Peek() != ')') {
        return text_.Error("numbers of a list are separated by commas");
      }
    }
    const std::size_t count = corners_.size() - first;
    if (count < 3 || count > kMaxWeldCorners) {
      return BadLine(
          line, absl::StrCat("a polygon has from 3 to ", kMaxWeldCorners, " corners, and this one ", count));
    }
    soup_.spec.polygons.push_back({static_cast<std::uint32_t>(count), 0});
    polygon_lines_.push_back(line);
    return absl::OkStatus();
  }

  // Appends the data of the finished resource, whose vertices are numbered from 0, or the finished node.
  absl::Status EndPart() {
    if (node_.resource != 0) {
      users_.push_back(std::move(node_));
    }
    node_ = {};
    const std::size_t first_vertex = soup_.spec.vertices.size();
    const std::size_t first_polygon = soup_.spec.polygons.size() - polygon_lines_.size();
    std::size_t at = 0;
    for (std::size_t i = 0; i < polygon_lines_.size(); ++i) {
      WAYSTAR_RETURN_IF_ERROR(text_.CheckTime());
      for (std::uint32_t k = 0; k < soup_.spec.polygons[first_polygon + i].corner_count; ++k, ++at) {
        if (corners_[at] >= vertices_.size()) {
          return BadLine(polygon_lines_[i], absl::StrCat("there is no vertex ", corners_[at],
                                                         ": the resource has ", vertices_.size()));
        }
        soup_.spec.corners.push_back(static_cast<std::uint32_t>(first_vertex + corners_[at]));
      }
    }
    faces_.kind_of_polygon.resize(soup_.spec.polygons.size(), resource_count_);
    soup_.spec.vertices.insert(soup_.spec.vertices.end(), vertices_.begin(), vertices_.end());
    vertices_.clear();
    corners_.clear();
    polygon_lines_.clear();
    is_mesh_ = false;
    return absl::OkStatus();
  }

  absl::Status CheckNodes() {
    for (const Node& user : users_) {
      WAYSTAR_RETURN_IF_ERROR(text_.CheckTime());
      bool is_moved = moved_.contains(".");
      absl::string_view path = user.path;
      while (!is_moved && !path.empty() && !moved_.empty()) {
        WAYSTAR_RETURN_IF_ERROR(text_.CheckTime());
        is_moved = moved_.contains(path);
        const std::size_t slash = path.rfind('/');
        path = slash == absl::string_view::npos ? absl::string_view() : path.substr(0, slash);
      }
      if (is_moved) {
        return BadLine(user.line,
                       absl::StrCat("node ", Quoted(user.path),
                                    " or one above it is moved, turned or scaled, which is not "
                                    "followed: save its navigation mesh as a resource of its own"));
      }
    }
    return absl::OkStatus();
  }

  // Sets the kinds of ground: for each cost and layers of a node, one with the name of the first such node.
  void SetKinds() {
    faces_.kinds.front().terrain.tags = LayerTags(1);
    std::map<std::pair<double, std::uint32_t>, std::uint32_t> kinds = {{{1.0, 1}, 0}};
    std::vector<std::uint32_t> kind_of_resource(resource_count_ + 1);
    // The first node that uses a resource decides.
    for (auto node = users_.rbegin(); node != users_.rend(); ++node) {
      const Node& user = *node;
      const auto number = static_cast<std::uint32_t>(faces_.kinds.size());
      const auto [kind, is_new] = kinds.try_emplace({user.cost, user.layers}, number);
      if (is_new) {
        faces_.kinds.push_back(
            {.terrain = {
                 .tags = LayerTags(user.layers), .cost = user.cost, .is_impassable = user.layers == 0}});
      }
      if (kind->second != 0) {
        faces_.kinds[kind->second].terrain.name = user.path.substr(user.path.rfind('/') + 1);
      }
      kind_of_resource[user.resource] = kind->second;
    }
    if (faces_.kinds.size() == 1) {
      faces_.kind_of_polygon.clear();
    }
    for (std::uint32_t& kind : faces_.kind_of_polygon) {
      kind = kind_of_resource[kind];
    }
  }

  static std::vector<std::string> LayerTags(std::uint32_t layers) { return BitTags("layer-", 1, layers); }

  GodotText text_;
  MeshAxes axes_;
  FileFaces faces_;
  MeshSoup& soup_ = faces_.soup;
  absl::string_view file_type_;
  // Number of navigation meshes, their numbers by their ids, and the nodes that use them.
  std::uint32_t resource_count_ = 0;
  absl::flat_hash_map<absl::string_view, std::uint32_t> resources_;
  std::vector<Node> users_;
  absl::flat_hash_set<std::string> moved_;

  // The resource or node being read.
  absl::string_view tag_;
  Node node_;
  bool is_mesh_ = false;
  bool is_plan_ = false;
  std::vector<WorldPoint> vertices_;
  std::vector<std::uint32_t> corners_;
  // Lines of the polygons of this resource, which are the last ones of the soup.
  std::vector<std::size_t> polygon_lines_;
};

}  // namespace

bool LooksLikeGodotMesh(absl::string_view bytes) {
  absl::string_view text = SkipByteOrderMark(bytes);
  text = absl::StripLeadingAsciiWhitespace(text);
  while (absl::StartsWith(text, ";")) {
    // Skip a comment.
    text.remove_prefix(std::min(text.find('\n'), text.size()));
    text = absl::StripLeadingAsciiWhitespace(text);
  }
  return absl::StartsWith(text, "[gd_resource ") || absl::StartsWith(text, "[gd_scene ") ||
         absl::StartsWith(text, "[gd_scene]");
}

absl::StatusOr<NavMesh> ParseGodotMesh(absl::string_view bytes, const ImportOptions& options) {
  WAYSTAR_ASSIGN_OR_RETURN(FileFaces faces, GodotParser(bytes, options).Parse());
  return MeshOfFile(std::move(faces), options);
}

}  // namespace waystar::core
