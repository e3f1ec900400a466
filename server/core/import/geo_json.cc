#include "server/core/import/geo_json.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/format/file_errors.h"
#include "server/core/import/json_value.h"
#include "server/core/map/tags.h"

namespace waystar::core {
namespace {

constexpr double kTolerance = 1e-6;

struct Feature {
  std::size_t index = 0;
  const JsonValue* value = nullptr;
  const JsonValue* geometry = nullptr;
  // An empty value if there are none.
  const JsonValue* properties = nullptr;
};

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

absl::StatusOr<std::vector<std::string>> TagsOf(const Feature& feature) {
  std::vector<std::string> tags;
  for (const JsonValue& tag : feature.properties->FindArray("tags")) {
    if (tag.string() == nullptr) {
      return FeatureError(feature, "a tag is a string");
    }
    if (tags.size() == kMaxTags) {
      return FeatureError(feature, absl::StrCat("it has more than ", kMaxTags, " tags"));
    }
    tags.push_back(*tag.string());
  }
  if (const absl::Status status = CheckTags(tags, ErrorReason::kBadTag); !status.ok()) {
    return FeatureError(feature, status.message());
  }
  return tags;
}

// Text, or a whole number.
std::string IdIn(const JsonValue& value, absl::string_view name) {
  if (const std::optional<double> number = value.FindNumber(name)) {
    return absl::StrCat(*number);
  }
  return std::string(value.FindString(name));
}

std::string IdOf(const Feature& feature) {
  for (const std::string& id :
       {IdIn(*feature.value, "id"), IdIn(*feature.properties, "id"), IdIn(*feature.properties, "name")}) {
    if (!id.empty()) {
      return id;
    }
  }
  return absl::StrCat("point-", feature.index);
}

// Finds the node at a position: nodes by the cubes of a lattice whose side is the tolerance. A cube has few
// of them, since no two are nearer to each other.
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
  absl::Status AddPoint(const Feature& feature) {
    const JsonValue* const coordinates = feature.geometry->Find("coordinates");
    if (coordinates == nullptr) {
      return FeatureError(feature, "a Point has coordinates");
    }
    WAYSTAR_ASSIGN_OR_RETURN(const WorldPoint position, PositionOf(feature, *coordinates));
    WAYSTAR_ASSIGN_OR_RETURN(std::vector<std::string> tags, TagsOf(feature));
    if (const std::optional<std::size_t> other = placed_.Find(position)) {
      return FeatureError(feature,
                          absl::StrCat("it lies where feature ", node_features_[*other].index, " does"));
    }
    return AddNode({.id = IdOf(feature),
                    .position = position,
                    .enabled = feature.properties->FindBoolean("enabled").value_or(true),
                    .tags = std::move(tags)},
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
    for (const auto& [prefix, features] : {std::pair(absl::string_view("nodes["), &node_features_),
                                           std::pair(absl::string_view("edges["), &edge_features_)}) {
      std::size_t index = 0;
      if (absl::StartsWith(field, prefix) &&
          absl::SimpleAtoi(field.substr(prefix.size(), field.find(']') - prefix.size()), &index) &&
          index < features->size()) {
        return FeatureError((*features)[index], graph.status().message());
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
    node_features_.push_back(feature);
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
        // The positions of all lines of a feature are counted together.
        WAYSTAR_RETURN_IF_ERROR(AddNode({.id = NewId(feature), .position = position}, feature));
      }
      if (nodes.empty() || nodes.back() != *node) {
        length += nodes.empty() ? 0.0 : Distance(nodes.back(), *node);
        nodes.push_back(*node);
      }
    }
    return AddEdges(feature, nodes, length);
  }

  absl::Status AddEdges(const Feature& feature, const std::vector<std::size_t>& nodes, double length) {
    const JsonValue& properties = *feature.properties;
    const std::optional<double> cost = properties.FindNumber("cost");
    WAYSTAR_ASSIGN_OR_RETURN(const std::vector<std::string> tags, TagsOf(feature));
    if (cost && !(*cost >= 0.0)) {
      return FeatureError(feature, absl::StrCat("a line costs at least 0, not ", *cost));
    }
    for (std::size_t i = 1; i < nodes.size(); ++i) {
      if (spec_.edges.size() == kMaxArcs) {
        return FeatureError(feature, absl::StrCat("a graph has at most ", kMaxArcs, " edges"));
      }
      WaypointEdge edge{.name = {.from = spec_.nodes[nodes[i - 1]].id,
                                 .to = spec_.nodes[nodes[i]].id,
                                 .one_way = properties.FindBoolean("oneway").value_or(false)},
                        .enabled = properties.FindBoolean("enabled").value_or(true),
                        .tags = tags};
      if (cost) {
        edge.cost = *cost * Distance(nodes[i - 1], nodes[i]) / length;
      }
      spec_.edges.push_back(std::move(edge));
      edge_features_.push_back(feature);
    }
    return absl::OkStatus();
  }

  std::string NewId(const Feature& feature) {
    if (feature.index != last_line_) {
      last_line_ = feature.index;
      new_nodes_ = 0;
    }
    return absl::StrCat("line-", feature.index, "-", new_nodes_++);
  }

  double Distance(std::size_t a, std::size_t b) const {
    const WorldPoint& from = spec_.nodes[a].position;
    const WorldPoint& to = spec_.nodes[b].position;
    return std::hypot(from.x - to.x, from.y - to.y, from.z - to.z);
  }

  WaypointSpec spec_;
  PlacedNodes placed_;
  // The features that the nodes and edges were made from.
  std::vector<Feature> node_features_;
  std::vector<Feature> edge_features_;
  std::optional<std::size_t> last_line_;
  std::size_t new_nodes_ = 0;
};

absl::StatusOr<std::vector<Feature>> FeaturesOf(const JsonValue& root) {
  static const auto* const kNone = new JsonValue;
  if (root.FindString("type") != "FeatureCollection" || root.Find("features") == nullptr) {
    return JsonError(root, "this is no FeatureCollection of GeoJSON");
  }
  std::vector<Feature> features;
  for (const JsonValue& value : root.FindArray("features")) {
    Feature feature{.index = features.size(), .value = &value, .geometry = value.Find("geometry")};
    const JsonValue* const properties = value.Find("properties");
    feature.properties = properties == nullptr ? kNone : properties;
    if (feature.geometry == nullptr || feature.geometry->object() == nullptr) {
      return FeatureError(feature, "it has no geometry");
    }
    features.push_back(feature);
  }
  return features;
}

}  // namespace

absl::StatusOr<WaypointGraph> ParseGeoJson(absl::string_view bytes, const StopCheck* stop) {
  WAYSTAR_ASSIGN_OR_RETURN(const JsonValue root, ParseJson(bytes, stop));
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<Feature> features, FeaturesOf(root));
  GraphDrawer drawer;
  for (const Feature& feature : features) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    if (feature.geometry->FindString("type") == "Point") {
      WAYSTAR_RETURN_IF_ERROR(drawer.AddPoint(feature));
    }
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

}  // namespace waystar::core
