#include "tests/testing/graph_model.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/testing/slow_sight.h"

namespace waystar {
namespace {

core::Cost LengthOf(const core::WorldPoint& a, const core::WorldPoint& b) {
  return core::CostFromDouble(
      std::sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z)));
}

std::set<std::string> Both(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::set<std::string> both;
  for (const std::string& tag : a) {
    if (std::find(b.begin(), b.end(), tag) != b.end()) {
      both.insert(tag);
    }
  }
  return both;
}

std::set<std::string> SetOf(const std::vector<std::string>& list) { return {list.begin(), list.end()}; }

template <typename Map>
auto AnyOf(Map& map, Random& random) {
  return std::next(map.begin(), random.Between(0, static_cast<int>(map.size()) - 1));
}

}  // namespace

core::WaypointGraph GraphOf(const core::WaypointSpec& spec) {
  absl::StatusOr<core::WaypointGraph> graph = core::WaypointGraph::Create(spec);
  EXPECT_EQ(graph.status(), absl::OkStatus());
  return *std::move(graph);
}

bool GraphModel::IsClearOfObstacles(const core::WorldPoint& a, const core::WorldPoint& b) const {
  return std::none_of(obstacles.begin(), obstacles.end(),
                      [&](const auto& obstacle) { return SlowlyTouches(a, b, obstacle.second); });
}

bool GraphModel::IsClear(const core::WorldPoint& a, const core::WorldPoint& b) const {
  if (!IsClearOfObstacles(a, b)) {
    return false;
  }
  if (grid == nullptr) {
    return true;
  }
  const auto is_on = [&](const core::WorldPoint& p) {
    return p.x >= 0 && p.y >= 0 && p.x <= grid->width() && p.y <= grid->height();
  };
  core::Shape blocked;
  for (int y = 0; y < grid->height(); ++y) {
    for (int x = 0; x < grid->width(); ++x) {
      if (!grid->IsWalkable({x, y})) {
        blocked.cells.push_back({x, y});
      }
    }
  }
  return is_on(a) && is_on(b) && !SlowlyTouches(a, b, blocked);
}

std::map<ArcName, ModelArc> GraphModel::Arcs() const {
  std::map<ArcName, ModelArc> all;
  for (const auto& [name, own] : arcs) {
    const core::WorldPoint& a = nodes.at(name.first).position;
    const core::WorldPoint& b = nodes.at(name.second).position;
    all[name] = {.cost = own.cost < 0 ? LengthOf(a, b) : core::CostFromDouble(own.cost),
                 .is_open = own.enabled && IsClearOfObstacles(a, b),
                 .tags = SetOf(own.tags)};
  }
  if (!max_distance) {
    return all;
  }
  for (const auto& [from, a] : nodes) {
    for (const auto& [to, b] : nodes) {
      const core::Cost length = LengthOf(a.position, b.position);
      if (from != to && length <= core::CostFromDouble(*max_distance) && !all.contains({from, to}) &&
          IsClear(a.position, b.position)) {
        all[{from, to}] = {.cost = length, .is_auto = true, .tags = Both(a.tags, b.tags)};
      }
    }
  }
  return all;
}

std::map<ArcName, ModelArc> ArcsOf(const core::WaypointGraph& graph) {
  std::map<ArcName, ModelArc> all;
  for (core::NodeNumber node = 0; node < graph.number_limit(); ++node) {
    if (!graph.Exists(node)) {
      continue;
    }
    for (const core::Arc& arc : graph.ArcsOf(node)) {
      const std::vector<std::string> tags = graph.NamesOf(graph.TagsOfArc(node, arc));
      all[{graph.IdOf(node), graph.IdOf(arc.to)}] = {
          .cost = arc.cost, .is_open = arc.is_open(), .is_auto = arc.is_auto(), .tags = SetOf(tags)};
    }
  }
  return all;
}

core::WorldPoint GraphGenerator::Position() { return {Coordinate(), Coordinate(), Coordinate() / 4}; }

core::Shape GraphGenerator::Shape() {
  core::Shape shape;
  const auto whole = [&] { return random_.Between(0, side_); };
  const auto point = [&] { return core::Point{Coordinate(), Coordinate()}; };
  do {
    switch (random_.Between(0, 4)) {
      case 0:
        shape.cells.push_back({whole(), whole()});
        break;
      case 1:
        shape.rectangles.push_back({whole(), whole(), random_.Between(1, 4), random_.Between(1, 4)});
        break;
      case 2:
        shape.discs.push_back({point(), random_.Between(0, 12) / 4.0});
        break;
      case 3: {
        const core::Point corner = point();
        shape.polygons.push_back({{corner,
                                   {corner.x + random_.Between(1, 12) / 4.0, corner.y},
                                   {corner.x + random_.Between(-8, 8) / 4.0, corner.y + 2.0},
                                   {corner.x - 0.5, corner.y + random_.Between(1, 20) / 4.0}}});
        break;
      }
      default: {
        const core::Point start = point();
        shape.lines.push_back(
            {start,
             {start.x + random_.Between(-12, 12) / 4.0, start.y + random_.Between(-12, 12) / 4.0},
             random_.Between(0, 4) / 4.0});
      }
    }
  } while (random_.Chance(0.3));
  return shape;
}

std::string GraphGenerator::NodeOf(const GraphModel& model) { return AnyOf(model.nodes, random_)->first; }

std::vector<std::string> GraphGenerator::Tags() {
  std::vector<std::string> tags;
  for (const char* tag : {"wide", "dry", "lit"}) {
    if (random_.Chance(0.3)) {
      tags.emplace_back(tag);
    }
  }
  return tags;
}

void GraphGenerator::Edit(GraphModel& model, core::GraphEditor& editor) {
  if (model.nodes.size() < 3) {
    PutNodes(model, editor);
    return;
  }
  switch (random_.Between(0, 7)) {
    case 0:
    case 1:
      PutNodes(model, editor);
      break;
    case 2:
      PutEdge(model, editor);
      break;
    case 3:
      RemoveEdge(model, editor);
      break;
    case 4:
      EnableEdge(model, editor);
      break;
    case 5:
      random_.Chance(0.5) ? RemoveNode(model, editor) : EnableNode(model, editor);
      break;
    default:
      EditObstacle(model, editor);
  }
}

void GraphGenerator::PutNodes(GraphModel& model, core::GraphEditor& editor) {
  std::map<std::string, core::WaypointNode> nodes;
  for (int i = random_.Between(1, 6); i > 0; --i) {
    const std::string id = absl::StrCat("n", random_.Between(1, 30));
    nodes[id] = {.id = id, .position = Position(), .enabled = random_.Chance(0.9), .tags = Tags()};
    // Some nodes have one, which may be replaced by another or by none.
    nodes[id].label = i % 3 == 0 ? "" : absl::StrCat("Köln/", i, " ", id);
  }
  std::vector<core::WaypointNode> list;
  for (const auto& [id, node] : nodes) {
    list.push_back(node);
    model.nodes[id] = node;
  }
  ASSERT_EQ(editor.PutNodes(list, true), absl::OkStatus());
}

void GraphGenerator::PutEdge(GraphModel& model, core::GraphEditor& editor) {
  core::WaypointEdge edge{.name = {NodeOf(model), NodeOf(model), random_.Chance(0.5)},
                          .enabled = random_.Chance(0.8),
                          .tags = Tags()};
  if (edge.name.from == edge.name.to) {
    return;
  }
  if (random_.Chance(0.5)) {
    edge.cost = random_.Between(0, 40) / 8.0;
  }
  model.arcs[{edge.name.from, edge.name.to}] = {edge.cost, edge.enabled, edge.tags};
  if (!edge.name.one_way) {
    model.arcs[{edge.name.to, edge.name.from}] = {edge.cost, edge.enabled, edge.tags};
  }
  ASSERT_EQ(editor.PutEdges({edge}, true), absl::OkStatus());
}

void GraphGenerator::RemoveNode(GraphModel& model, core::GraphEditor& editor) {
  const std::string id = NodeOf(model);
  model.nodes.erase(id);
  std::erase_if(model.arcs, [&](const auto& arc) { return arc.first.first == id || arc.first.second == id; });
  ASSERT_EQ(editor.RemoveNodes({id}), absl::OkStatus());
}

void GraphGenerator::RemoveEdge(GraphModel& model, core::GraphEditor& editor) {
  if (model.arcs.empty()) {
    return;
  }
  const auto [from, to] = AnyOf(model.arcs, random_)->first;
  const bool one_way = !model.arcs.contains({to, from}) || random_.Chance(0.5);
  model.arcs.erase({from, to});
  if (!one_way) {
    model.arcs.erase({to, from});
  }
  ASSERT_EQ(editor.RemoveEdges({{from, to, one_way}}), absl::OkStatus());
}

void GraphGenerator::EnableEdge(GraphModel& model, core::GraphEditor& editor) {
  std::map<ArcName, ModelArc> all = model.Arcs();
  if (all.empty()) {
    return;
  }
  const auto& [name, arc] = *AnyOf(all, random_);
  const bool enabled = random_.Chance(0.5);
  if (const auto own = model.arcs.find(name); own != model.arcs.end()) {
    own->second.enabled = enabled;
  } else if (!enabled) {
    model.arcs[name] = {.enabled = false, .tags = {arc.tags.begin(), arc.tags.end()}};
  }
  ASSERT_EQ(editor.SetEdgesEnabled({{name.first, name.second, true}}, enabled), absl::OkStatus());
}

void GraphGenerator::EnableNode(GraphModel& model, core::GraphEditor& editor) {
  const std::string id = NodeOf(model);
  const bool enabled = random_.Chance(0.5);
  model.nodes[id].enabled = enabled;
  ASSERT_EQ(editor.SetNodesEnabled({id}, enabled), absl::OkStatus());
}

void GraphGenerator::EditObstacle(GraphModel& model, core::GraphEditor& editor) {
  const std::string id = absl::StrCat("o", random_.Between(1, 6));
  const auto known = model.obstacles.find(id);
  const int kind = known == model.obstacles.end() ? 0 : random_.Between(0, 3);
  if (kind == 0) {
    model.obstacles[id] = Shape();
    auto obstacle = std::make_shared<core::Obstacle>(core::Obstacle{.id = id, .shape = model.obstacles[id]});
    ASSERT_EQ(editor.PutObstacle(std::move(obstacle), true), absl::OkStatus());
  } else if (kind == 1) {
    known->second = Shape();
    ASSERT_EQ(editor.ResizeObstacle(id, known->second), absl::OkStatus());
  } else if (kind == 2) {
    const int dx = random_.Between(-3, 3);
    const int dy = random_.Between(-3, 3);
    ASSERT_EQ(editor.MoveObstacle(id, dx, dy), absl::OkStatus());
    known->second = editor.graph().sight().obstacles().Find(id)->shape;
  } else {
    model.obstacles.erase(id);
    ASSERT_EQ(editor.RemoveObstacle(id), absl::OkStatus());
  }
}

}  // namespace waystar
