// Model of waypoint graphs as plain lists, with answers found the long way: the judge of the fast ones.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/elements/waypoint.h"
#include "server/core/graph/map/graph_editor.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/grid_map.h"
#include "tests/testing/random.h"

namespace waystar {

// "REASON field".
inline std::string Told(const absl::Status& status) {
  return absl::StrCat(ErrorReasonOf(status), " ", ErrorFieldOf(status));
}

// REQUIRES: the spec is one of a graph.
core::WaypointGraph GraphOf(const core::WaypointSpec& spec);

// Arc as it is told of, by names.
struct ModelArc {
  core::Cost cost = 0;
  bool is_open = true;
  bool is_auto = false;
  std::set<std::string> tags;

  friend bool operator==(const ModelArc&, const ModelArc&) = default;
};

using ArcName = std::pair<std::string, std::string>;

// The model: what was put, and nothing that follows from it.
struct GraphModel {
  struct OwnArc {
    double cost = core::WaypointEdge::kCostIsLength;
    bool enabled = true;
    std::vector<std::string> tags;
  };

  std::map<std::string, core::WaypointNode> nodes;
  std::map<ArcName, OwnArc> arcs;
  std::map<std::string, core::Shape> obstacles;
  std::optional<double> max_distance;
  // The reference map; null if there is none.
  const core::GridMap* grid = nullptr;

  bool IsClearOfObstacles(const core::WorldPoint& a, const core::WorldPoint& b) const;
  bool IsClear(const core::WorldPoint& a, const core::WorldPoint& b) const;

  // Returns all arcs that there are to be.
  std::map<ArcName, ModelArc> Arcs() const;
};

// Returns the arcs of a graph, told as the model tells them.
std::map<ArcName, ModelArc> ArcsOf(const core::WaypointGraph& graph);

// Generator of random graphs and edits. Coordinates are multiples of 1/4 from 0 to `side`, so that nodes meet
// and lines touch.
class GraphGenerator {
 public:
  GraphGenerator(std::uint64_t seed, int side) : random_(seed), side_(side) {}

  Random& random() { return random_; }
  core::WorldPoint Position();
  core::Shape Shape();
  // Makes one edit of both, of any kind that can be made.
  void Edit(GraphModel& model, core::GraphEditor& editor);

 private:
  double Coordinate() { return random_.Between(0, 4 * side_) / 4.0; }
  std::string NodeOf(const GraphModel& model);
  std::vector<std::string> Tags();
  void PutNodes(GraphModel& model, core::GraphEditor& editor);
  void PutEdge(GraphModel& model, core::GraphEditor& editor);
  void RemoveNode(GraphModel& model, core::GraphEditor& editor);
  void RemoveEdge(GraphModel& model, core::GraphEditor& editor);
  void EnableEdge(GraphModel& model, core::GraphEditor& editor);
  void EnableNode(GraphModel& model, core::GraphEditor& editor);
  void EditObstacle(GraphModel& model, core::GraphEditor& editor);

  Random random_;
  int side_;
};

}  // namespace waystar
