#include "server/formats/graph/geo_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/base/error.h"
#include "server/base/file_errors.h"
#include "server/core/elements/tags.h"
#include "server/formats/text/text.h"

namespace waystar::core {
namespace {

constexpr double kTolerance = 1e-6;

enum class LineDirection : std::uint8_t { kBoth, kForwards, kBackwards };

// Known properties of a feature. Points have neither cost nor direction.
struct FeatureProperties {
  // Text of the properties "id" and "name"; empty if unset.
  std::string id;
  std::string name;
  std::optional<double> cost;
  LineDirection direction = LineDirection::kBoth;
  bool enabled = true;
  std::vector<std::string> tags;
};

constexpr std::array<absl::string_view, 7> kRead = {"cost", "disabled", "enabled", "id",
                                                    "name", "oneway",   "tags"};

// Formats a value for an error.
std::string Shown(const JsonValue& value) {
  return value.string() != nullptr
             ? Quoted(*value.string())
             : value.Text().value_or(value.object() != nullptr ? "an object" : "a list");
}

// Returns an id as text. A number that a double cannot hold is an error.
absl::StatusOr<std::string> IdText(const JsonValue& value) {
  constexpr double kMostExact = 0x1p53 - 1.0;
  if (value.string() == nullptr && value.number() == nullptr) {
    return BadFormat(absl::StrCat("its id is ", Shown(value), ", neither text nor a number"));
  }
  if (value.number() != nullptr && std::abs(*value.number()) > kMostExact) {
    return BadFormat("its id is a number above 2^53 - 1, which may have lost digits: write it as text");
  }
  return *value.Text();
}

absl::Status Unreadable(absl::string_view name, const JsonValue& value, absl::string_view wanted) {
  return BadFormat(absl::StrCat("the property \"", name, "\" is ", Shown(value), ", ", wanted));
}

// Values of all kinds may be written as text.
absl::StatusOr<bool> ReadFlag(absl::string_view name, const JsonValue& value) {
  bool flag = false;
  if (!absl::SimpleAtob(absl::StripAsciiWhitespace(value.Text().value_or("")), &flag)) {
    return Unreadable(name, value, "neither true nor false");
  }
  return flag;
}

absl::StatusOr<double> ReadCost(const JsonValue& value) {
  double cost = 0.0;
  if (!absl::SimpleAtod(value.Text().value_or(""), &cost)) {
    return Unreadable("cost", value, "not a number");
  }
  if (!(cost >= 0.0)) {
    return BadFormat(absl::StrCat("a line must cost at least 0, got ", cost));
  }
  return cost;
}

// Geofabrik's shapefiles of OpenStreetMap have F along the line, T against it, and B both ways.
absl::StatusOr<LineDirection> ReadOneWay(const JsonValue& value) {
  const std::string text = value.Text().value_or("");
  const absl::string_view word = absl::StripAsciiWhitespace(text);
  if (text == "T" || word == "-1" || absl::EqualsIgnoreCase(text, "reverse")) {
    return LineDirection::kBackwards;
  }
  bool flag = text == "F";
  if (!flag && text != "B" && !absl::SimpleAtob(word, &flag)) {
    return Unreadable("oneway", value, "not yes, no or -1");
  }
  return flag ? LineDirection::kForwards : LineDirection::kBoth;
}

absl::Status ReadTags(const JsonValue& value, FeatureProperties& out) {
  if (const std::string* const text = value.string()) {
    if (absl::StartsWith(absl::StripLeadingAsciiWhitespace(*text), "[")) {
      // GDAL writes lists in text properties as JSON.
      const absl::StatusOr<JsonValue> list = ParseJson(*text);
      return list.ok() && list->string() == nullptr ? ReadTags(*list, out)
                                                    : Unreadable("tags", value, "not a list of text");
    }
    for (const absl::string_view tag : absl::StrSplit(*text, absl::ByAnyChar(";,"))) {
      if (const absl::string_view name = absl::StripAsciiWhitespace(tag); !name.empty()) {
        out.tags.emplace_back(name);
      }
    }
    return absl::OkStatus();
  }
  if (value.array() == nullptr) {
    return Unreadable("tags", value, "not a list of text");
  }
  for (const JsonValue& tag : *value.array()) {
    if (tag.string() == nullptr) {
      return Unreadable("tags", tag, "not a list of text");
    }
    out.tags.push_back(*tag.string());
  }
  return absl::OkStatus();
}

absl::Status ReadProperty(absl::string_view name, const JsonValue& value, absl::string_view place,
                          ImportNotes& notes, FeatureProperties& out) {
  const std::string lower = absl::AsciiStrToLower(name);
  // Tools without null write empty text.
  if (value.is_null() || (value.string() != nullptr && value.string()->empty())) {
    return absl::OkStatus();
  }
  if (lower == "id" || lower == "name") {
    // A name that is not text is ignored.
    const absl::StatusOr<std::string> text = IdText(value);
    WAYSTAR_RETURN_IF_ERROR(lower == "id" ? text.status() : absl::OkStatus());
    (lower == "id" ? out.id : out.name) = text.value_or("");
    return absl::OkStatus();
  }
  if (lower == "cost") {
    WAYSTAR_ASSIGN_OR_RETURN(out.cost, ReadCost(value));
    return absl::OkStatus();
  }
  if (lower == "oneway") {
    WAYSTAR_ASSIGN_OR_RETURN(out.direction, ReadOneWay(value));
    return absl::OkStatus();
  }
  if (lower == "enabled" || lower == "disabled") {
    WAYSTAR_ASSIGN_OR_RETURN(const bool flag, ReadFlag(lower, value));
    // Either property alone disables the feature.
    out.enabled = out.enabled && flag == (lower == "enabled");
    return absl::OkStatus();
  }
  if (lower == "tags" && value.object() != nullptr) {
    // osmtogeojson stores OpenStreetMap's key-value pairs as "tags".
    notes.Add("tags that are keys and values are not read: they are a list", place);
    return absl::OkStatus();
  }
  if (lower == "tags") {
    return ReadTags(value, out);
  }
  notes.Add(SoundsLikeWall(name) ? "properties that sound like walls are not read"
                                 : "properties that have no meaning here are not read",
            absl::StrCat(Quoted(name), " of ", place));
  return absl::OkStatus();
}

absl::StatusOr<FeatureProperties> ReadFeatureProperties(const JsonValue& properties, absl::string_view place,
                                                        ImportNotes& notes) {
  FeatureProperties read;
  if (properties.is_null()) {
    return read;
  }
  if (properties.object() == nullptr) {
    return BadFormat("its properties are not an object");
  }
  absl::flat_hash_set<std::string> names;
  for (const auto& [name, value] : *properties.object()) {
    const std::string lower = absl::AsciiStrToLower(name);
    if (std::find(kRead.begin(), kRead.end(), lower) != kRead.end() && !names.insert(lower).second) {
      return BadFormat(absl::StrCat("it has the property ", Quoted(name), " twice"));
    }
    WAYSTAR_RETURN_IF_ERROR(ReadProperty(name, value, place, notes, read));
  }
  return read;
}

struct Feature {
  std::size_t index = 0;
  const JsonValue* value = nullptr;
  const JsonValue* geometry = nullptr;
  FeatureProperties properties;
  // Set if it is a point. May be empty.
  std::string name;
  // Ids are unique; names may repeat.
  bool has_id = false;

  bool is_point() const { return geometry->FindString("type") == "Point"; }
};

std::string PlaceOf(const Feature& feature) {
  return absl::StrCat("feature ", feature.index, " (line ", feature.value->line(), ")");
}

absl::Status FeatureError(const Feature& feature, absl::string_view message) {
  return JsonError(*feature.value, absl::StrCat("feature ", feature.index, ": ", message));
}

absl::StatusOr<WorldPoint> PositionOf(const Feature& feature, const JsonValue& value) {
  const JsonValue::Numbers* const numbers = value.numbers();
  if (numbers == nullptr || numbers->size() < 2) {
    return FeatureError(feature, "a position is an array of two or three numbers");
  }
  const WorldPoint position = {(*numbers)[0], (*numbers)[1], numbers->size() > 2 ? (*numbers)[2] : 0.0};
  if (const absl::Status status = CheckPosition(position); !status.ok()) {
    return FeatureError(feature, status.message());
  }
  return position;
}

absl::Status CheckTagsOf(const Feature& feature) {
  const std::vector<std::string>& tags = feature.properties.tags;
  if (tags.size() > kMaxTags) {
    return FeatureError(feature, absl::StrCat("it has more than ", kMaxTags, " tags"));
  }
  const absl::Status status = CheckTags(tags, ErrorReason::kBadTag);
  return status.ok() ? status : FeatureError(feature, status.message());
}

// Returns a valid id similar to a name, such as "node-1" for "node/1"; may be empty.
std::string AllowedId(absl::string_view name) {
  std::string id;
  for (const char c : name) {
    const bool is_allowed = absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("_.:", c);
    const bool is_leading = id.empty() && !absl::ascii_isalnum(static_cast<unsigned char>(c));
    if (is_leading || (!is_allowed && id.back() == '-')) {
      continue;
    }
    id += is_allowed ? c : '-';
  }
  id.resize(std::min(id.size(), kMaxNameBytes));
  while (!id.empty() && id.back() == '-') {
    id.pop_back();
  }
  return id;
}

// Returns the longest prefix of a name that is a valid label.
std::string LabelOf(const std::string& name) {
  std::string label = name.substr(0, kMaxLabelBytes);
  while (!CheckNodeLabel(label).ok()) {
    label.pop_back();
  }
  return label;
}

struct PointId {
  std::string id;
  // Name in the file, if it differs from the id.
  std::string label;
};

// Assigns ids to nodes.
class NodeIds {
 public:
  explicit NodeIds(ImportNotes& notes) : notes_(notes) {}

  // Reserves the point's own id, so that points without one do not take it. Duplicates are detected
  // elsewhere.
  void Reserve(const Feature& feature) {
    if (feature.has_id && CheckNodeId(feature.name).ok()) {
      ids_.Take(feature.name);
    }
  }

  // Returns the id of a point.
  // REQUIRES: all points are reserved.
  PointId IdOf(const Feature& feature) {
    const std::string& name = feature.name;
    const bool is_allowed = CheckNodeId(name).ok();
    if (feature.has_id && is_allowed) {
      return {.id = name};
    }
    const std::string like = is_allowed ? name : AllowedId(name);
    std::string id = Unique(like.empty() ? absl::StrCat("point-", feature.index) : like);
    if (id == name || name.empty()) {
      return {.id = std::move(id)};
    }
    notes_.Add("ids that are not allowed or there twice became ones like them, and are kept as labels",
               absl::StrCat(PlaceOf(feature), ": ", Quoted(name), " is ", Quoted(id)));
    return {.id = std::move(id), .label = LabelOf(name)};
  }

  // Returns an unused id, adding a number to `base` if necessary.
  std::string Unique(std::string base) {
    if (ids_.Take(base)) {
      return base;
    }
    // Leaves room for the number.
    base.resize(std::min(base.size(), kMaxNameBytes - 12));
    return ids_.TakeNumbered(base);
  }

 private:
  ImportNotes& notes_;
  UniqueIds ids_;
};

// Finds the node at a position, with a hash grid whose cell size is the tolerance. A cell has few nodes,
// since nodes are at least that far apart.
class PlacedNodes {
 public:
  void Put(const WorldPoint& position, std::size_t node) {
    nodes_[CubeOf(position)].push_back({position, node});
  }

  std::optional<std::size_t> Find(const WorldPoint& position) const {
    const Cube cube = CubeOf(position);
    for (int i = 0; i < 27; ++i) {
      const auto found = nodes_.find(Cube{cube[0] + i % 3 - 1, cube[1] + i / 3 % 3 - 1, cube[2] + i / 9 - 1});
      if (found == nodes_.end()) {
        continue;
      }
      for (const auto& [other, node] : found->second) {
        if (std::hypot(other.x - position.x, other.y - position.y, other.z - position.z) <= kTolerance) {
          return node;
        }
      }
    }
    return std::nullopt;
  }

 private:
  using Cube = std::array<std::int64_t, 3>;

  static Cube CubeOf(const WorldPoint& position) {
    const auto part = [](double x) { return static_cast<std::int64_t>(std::floor(x / kTolerance)); };
    return {part(position.x), part(position.y), part(position.z)};
  }

  absl::flat_hash_map<Cube, std::vector<std::pair<WorldPoint, std::size_t>>> nodes_;
};

class GraphDrawer {
 public:
  explicit GraphDrawer(ImportNotes& notes) : notes_(notes), ids_(notes) {}

  void ReservePoint(const Feature& feature) { ids_.Reserve(feature); }

  absl::Status AddPoint(const Feature& feature) {
    const JsonValue* const coordinates = feature.geometry->Find("coordinates");
    if (coordinates == nullptr) {
      return FeatureError(feature, "a Point has coordinates");
    }
    WAYSTAR_ASSIGN_OR_RETURN(const WorldPoint position, PositionOf(feature, *coordinates));
    WAYSTAR_RETURN_IF_ERROR(CheckTagsOf(feature));
    if (feature.properties.cost || feature.properties.direction != LineDirection::kBoth) {
      notes_.Add("costs and directions of points are not read: lines have them", PlaceOf(feature));
    }
    if (const std::optional<std::size_t> other = placed_.Find(position)) {
      return FeatureError(feature,
                          absl::StrCat("it lies where feature ", node_features_[*other]->index, " does"));
    }
    PointId id = ids_.IdOf(feature);
    return AddNode({.id = std::move(id.id),
                    .position = position,
                    .enabled = feature.properties.enabled,
                    .tags = feature.properties.tags,
                    .label = std::move(id.label)},
                   feature);
  }

  absl::Status AddLines(const Feature& feature) {
    const JsonValue* const coordinates = feature.geometry->Find("coordinates");
    if (coordinates == nullptr || coordinates->array() == nullptr) {
      return FeatureError(feature, "a line has coordinates");
    }
    if (feature.geometry->FindString("type") == "LineString") {
      return AddLine(feature, *coordinates->array());
    }
    for (const JsonValue& line : *coordinates->array()) {
      if (line.array() == nullptr) {
        return FeatureError(feature, "a line of a MultiLineString is an array of positions");
      }
      WAYSTAR_RETURN_IF_ERROR(AddLine(feature, *line.array()));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<WaypointGraph> Finish(const StopCheck* stop) && {
    absl::StatusOr<WaypointGraph> graph = WaypointGraph::Create(spec_, stop);
    if (graph.ok()) {
      return graph;
    }
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    const std::string field = ErrorFieldOf(graph.status());
    for (const auto& [list, features] :
         {std::pair("nodes", &node_features_), std::pair("edges", &edge_features_)}) {
      const std::optional<std::size_t> index = IndexInField(field, list);
      if (index && *index < features->size()) {
        return FeatureError(*(*features)[*index], graph.status().message());
      }
    }
    return WithField(graph.status(), "");
  }

 private:
  absl::Status AddNode(WaypointNode node, const Feature& feature) {
    if (spec_.nodes.size() == kMaxNodes) {
      return FeatureError(feature, absl::StrCat("a graph has at most ", kMaxNodes, " nodes"));
    }
    placed_.Put(node.position, spec_.nodes.size());
    spec_.nodes.push_back(std::move(node));
    node_features_.push_back(&feature);
    return absl::OkStatus();
  }

  absl::Status AddLine(const Feature& feature, const JsonValue::Array& positions) {
    if (positions.size() < 2) {
      return FeatureError(feature, "a line has at least two positions");
    }
    std::vector<std::size_t> nodes;
    double length = 0.0;
    for (const JsonValue& value : positions) {
      WAYSTAR_ASSIGN_OR_RETURN(const WorldPoint position, PositionOf(feature, value));
      std::optional<std::size_t> node = placed_.Find(position);
      if (!node) {
        node = spec_.nodes.size();
        // Numbers continue across all lines of a feature.
        WAYSTAR_RETURN_IF_ERROR(AddNode({.id = NewId(feature), .position = position}, feature));
      }
      if (nodes.empty() || nodes.back() != *node) {
        length += nodes.empty() ? 0.0 : Distance(nodes.back(), *node);
        nodes.push_back(*node);
      }
    }
    if (nodes.size() < 2) {
      notes_.Add("lines whose positions are all one place are not read", PlaceOf(feature));
    }
    return AddEdges(feature, nodes, length);
  }

  absl::Status AddEdges(const Feature& feature, const std::vector<std::size_t>& nodes, double length) {
    const FeatureProperties& properties = feature.properties;
    WAYSTAR_RETURN_IF_ERROR(CheckTagsOf(feature));
    for (std::size_t i = 1; i < nodes.size(); ++i) {
      if (spec_.edges.size() == kMaxArcs) {
        return FeatureError(feature, absl::StrCat("a graph has at most ", kMaxArcs, " edges"));
      }
      WaypointEdge edge{.name = {.from = spec_.nodes[nodes[i - 1]].id,
                                 .to = spec_.nodes[nodes[i]].id,
                                 .one_way = properties.direction != LineDirection::kBoth},
                        .enabled = properties.enabled,
                        .tags = properties.tags};
      if (properties.direction == LineDirection::kBackwards) {
        std::swap(edge.name.from, edge.name.to);
      }
      if (properties.cost) {
        edge.cost = *properties.cost * Distance(nodes[i - 1], nodes[i]) / length;
      }
      spec_.edges.push_back(std::move(edge));
      edge_features_.push_back(&feature);
    }
    return absl::OkStatus();
  }

  std::string NewId(const Feature& feature) {
    if (feature.index != last_line_) {
      last_line_ = feature.index;
      new_nodes_ = 0;
    }
    return ids_.Unique(absl::StrCat("line-", feature.index, "-", new_nodes_++));
  }

  double Distance(std::size_t a, std::size_t b) const {
    const WorldPoint& from = spec_.nodes[a].position;
    const WorldPoint& to = spec_.nodes[b].position;
    return std::hypot(from.x - to.x, from.y - to.y, from.z - to.z);
  }

  WaypointSpec spec_;
  ImportNotes& notes_;
  NodeIds ids_;
  PlacedNodes placed_;
  // The features that nodes and edges come from.
  std::vector<const Feature*> node_features_;
  std::vector<const Feature*> edge_features_;
  std::optional<std::size_t> last_line_;
  std::size_t new_nodes_ = 0;
};

// Returns true if the list of coordinates is empty, which means no geometry (RFC 7946, section 3.1).
bool IsEmpty(const JsonValue& geometry) {
  const JsonValue* const coordinates = geometry.Find("coordinates");
  return coordinates != nullptr && coordinates->array() != nullptr && coordinates->array()->empty();
}

// Names a point by its id, else by its properties.
absl::Status SetName(Feature& feature) {
  const JsonValue* const id = feature.value->Find("id");
  const absl::StatusOr<std::string> text = id == nullptr || id->is_null() ? std::string() : IdText(*id);
  if (!text.ok()) {
    return FeatureError(feature, text.status().message());
  }
  feature.name = text->empty() ? feature.properties.id : *text;
  feature.has_id = !feature.name.empty();
  feature.name = feature.has_id ? feature.name : feature.properties.name;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Feature>> FeaturesOf(const JsonValue& root, ImportNotes& notes) {
  static const auto* const kNone = new JsonValue;
  const JsonValue* const list = root.Find("features");
  if (root.FindString("type") != "FeatureCollection" || list == nullptr || list->array() == nullptr) {
    return JsonError(root, "this is not a FeatureCollection of GeoJSON");
  }
  std::vector<Feature> features;
  std::size_t index = 0;
  for (const JsonValue& value : *list->array()) {
    Feature feature{.index = index++, .value = &value, .geometry = value.Find("geometry")};
    if (value.object() == nullptr) {
      return FeatureError(feature, "it is not an object");
    }
    if (feature.geometry == nullptr || feature.geometry->is_null() || IsEmpty(*feature.geometry)) {
      notes.Add("features without a geometry are not read", PlaceOf(feature));
      continue;
    }
    if (feature.geometry->object() == nullptr) {
      return FeatureError(feature, "its geometry is not an object");
    }
    const JsonValue* const properties = value.Find("properties");
    absl::StatusOr<FeatureProperties> read =
        ReadFeatureProperties(properties == nullptr ? *kNone : *properties, PlaceOf(feature), notes);
    if (!read.ok()) {
      return FeatureError(feature, read.status().message());
    }
    feature.properties = *std::move(read);
    WAYSTAR_RETURN_IF_ERROR(feature.is_point() ? SetName(feature) : absl::OkStatus());
    features.push_back(std::move(feature));
  }
  return features;
}

}  // namespace

absl::StatusOr<WaypointGraph> ParseGeoJson(absl::string_view bytes, ImportNotes& notes,
                                           const StopCheck* stop) {
  WAYSTAR_ASSIGN_OR_RETURN(const JsonValue root, ParseJson(SkipByteOrderMark(bytes), stop));
  WAYSTAR_RETURN_IF_ERROR(GeoJsonMembers().NoteMembers("collection of features", root, notes, stop));
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<Feature> features, FeaturesOf(root, notes));
  GraphDrawer drawer(notes);
  for (const Feature& feature : features) {
    if (feature.is_point()) {
      drawer.ReservePoint(feature);
    }
  }
  for (const Feature& feature : features) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    WAYSTAR_RETURN_IF_ERROR(feature.is_point() ? drawer.AddPoint(feature) : absl::OkStatus());
  }
  for (const Feature& feature : features) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    const absl::string_view type = feature.geometry->FindString("type");
    if (type == "LineString" || type == "MultiLineString") {
      WAYSTAR_RETURN_IF_ERROR(drawer.AddLines(feature));
    } else if (type != "Point") {
      return FeatureError(feature,
                          absl::StrCat(Quoted(type), " is none of Point, LineString and MultiLineString"));
    }
  }
  return std::move(drawer).Finish(stop);
}

const MemberTables& GeoJsonMembers() {
  static const auto* const tables = new MemberTables({
      {"collection of features", "type features:[feature]",
       // Coordinates are used as they are in any reference system.
       "_meta bbox conformsTo coordRefSys copyright crs description featureType generator "
       "geometryDimension id links metadata name numberMatched numberReturned properties timeStamp "
       "timestamp totalFeatures xy_coordinate_resolution z_coordinate_resolution"},
      {"feature",
       // ReadFeatureProperties notes unknown properties.
       "type id geometry:geometry properties",
       "bbox crs coordRefSys featureType geometry_name links place time"},
      {"geometry", "type coordinates", "bbox crs"},
  });
  return *tables;
}

}  // namespace waystar::core
