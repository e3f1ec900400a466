#include "server/core/graph/search/explain_graph_path.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/graph/map/graph_editor.h"
#include "server/core/graph/map/sight_line.h"
#include "server/core/graph/search/graph_search.h"
#include "tests/core/graph/search/random_graphs.h"
#include "tests/testing/random.h"
#include "tests/testing/seeds.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

std::string NameOf(const Blocker& blocker) {
  switch (blocker.kind) {
    case Blocker::Kind::kArea:
      return "(area)";
    case Blocker::Kind::kEdge:
      return absl::StrCat(blocker.id, ">", blocker.to);
    default:
      return blocker.id;
  }
}

std::vector<const Obstacle*> ObstaclesOf(const WaypointGraph& graph) {
  std::vector<const Obstacle*> obstacles;
  graph.obstacles().VisitAfter("", [&](const Obstacle& obstacle) {
    obstacles.push_back(&obstacle);
    return true;
  });
  return obstacles;
}

// Dijkstra's algorithm over the arcs of the graph without obstacles, each with an explicit set of blockers.
class SlowGraphExplainer {
 public:
  SlowGraphExplainer(const WaypointGraph& graph, const GraphQuery& query, const BlockerPrices& prices)
      : graph_(graph), prices_(prices), joined_(graph), tags_(*FindRequiredTags(graph, query.required_tags)) {
    GraphEditor editor(graph);
    EXPECT_EQ(editor.RemoveAllObstacles(), absl::OkStatus());
    joined_ = std::move(editor).Finish();
  }

  double PriceOf(const std::string& name) const {
    return name.front() == 'w' ? prices_.OfObstacle(name) : prices_.price;
  }
  double SumOf(const std::set<std::string>& names) const {
    double sum = 0.0;
    for (const std::string& name : names) {
      sum += PriceOf(name);
    }
    return sum;
  }

  // Returns nullopt if the arc cannot be passed.
  std::optional<std::set<std::string>> Entered(NodeNumber from, const Arc& arc, NodeNumber start) const {
    std::set<std::string> entered;
    if ((joined_.TagsOfArc(from, arc) & tags_) != tags_) {
      return std::nullopt;
    }
    if ((arc.flags & Arc::kEnabled) == 0) {
      entered.insert(absl::StrCat(graph_.IdOf(from), ">", graph_.IdOf(arc.to)));
    }
    if (!graph_.IsEnabled(arc.to)) {
      entered.insert(graph_.IdOf(arc.to));
    }
    if (prices_.only_obstacles && !entered.empty()) {
      return std::nullopt;
    }
    const FixedPoint a = ToFixed(graph_.PositionOf(from));
    const FixedPoint b = ToFixed(graph_.PositionOf(arc.to));
    for (const Obstacle* obstacle : ObstaclesOf(graph_)) {
      if (Touches({a, b}, obstacle->shape) && (from == start || !Touches({a, a}, obstacle->shape))) {
        entered.insert(obstacle->id);
      }
    }
    return entered;
  }

  std::optional<double> TotalOf(NodeNumber start, NodeNumber goal) const {
    if (prices_.only_obstacles && !graph_.IsEnabled(start)) {
      return std::nullopt;
    }
    std::map<NodeNumber, double> totals = {{start, graph_.IsEnabled(start) ? 0.0 : prices_.price}};
    // Bellman and Ford.
    for (bool goes_on = true; std::exchange(goes_on, false);) {
      for (const auto& [node, total] : std::map(totals)) {
        for (const Arc& arc : joined_.ArcsOf(node)) {
          const auto entered = Entered(node, arc, start);
          if (!entered) {
            continue;
          }
          const double reached = total + CostToDouble(arc.cost) + SumOf(*entered);
          const auto [known, is_new] = totals.try_emplace(arc.to, reached);
          if (is_new || reached < known->second - 1e-9) {
            known->second = reached;
            goes_on = true;
          }
        }
      }
    }
    const auto found = totals.find(goal);
    return found == totals.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  const WaypointGraph& graph_;
  const BlockerPrices& prices_;
  WaypointGraph joined_;
  TagSet tags_;
};

WaypointGraph WithoutNamed(const WaypointGraph& graph, const std::optional<Shape>& area,
                           const std::vector<Blocker>& blockers) {
  GraphEditor editor(graph);
  bool keeps_area = area.has_value();
  std::set<std::string> removed;
  std::set<std::string> nodes;
  std::set<std::pair<std::string, std::string>> edges;
  for (const Blocker& blocker : blockers) {
    keeps_area = keeps_area && blocker.kind != Blocker::Kind::kArea;
    if (blocker.kind == Blocker::Kind::kObstacle && removed.insert(blocker.id).second) {
      EXPECT_EQ(editor.RemoveObstacle(blocker.id), absl::OkStatus());
    } else if (blocker.kind == Blocker::Kind::kNode && nodes.insert(blocker.id).second) {
      EXPECT_EQ(editor.SetNodesEnabled({&blocker.id, 1}, true), absl::OkStatus());
    } else if (blocker.kind == Blocker::Kind::kEdge && edges.insert({blocker.id, blocker.to}).second) {
      const EdgeName name{blocker.id, blocker.to, true};
      EXPECT_EQ(editor.SetEdgesEnabled({&name, 1}, true), absl::OkStatus());
    }
  }
  if (keeps_area) {
    EXPECT_EQ(editor.BlockArea(*area), absl::OkStatus());
  }
  return std::move(editor).Finish();
}

TEST(ExplainGraphPathTest, FindsTheCheapestBlockers) {
  GraphScratch scratch(kSampleRoom);
  int blocked = 0;
  int unreachable = 0;
  for (std::uint64_t seed = 1; seed <= Rounds(600) && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Random random(seed);
    const WaypointGraph plain = SampleGraph(random);
    std::optional<Shape> area;
    if (random.Chance(0.3)) {
      area = Shape{.rectangles = {{random.Between(0, 10), random.Between(0, 10), 2, 3}}};
    }
    const WaypointGraph graph = *WithGraphOverlay(plain, {.blocked = area});
    const GraphQuery query{.start = SamplePlace(graph, random),
                           .goals = {SamplePlace(graph, random)},
                           .snap_radius = kSampleSnap,
                           .required_tags = SampleTags(random)};
    BlockerPrices prices{.price = 0.5 * random.Between(0, 8),
                         .listed = {{"wall1", 0.25}},
                         .only_obstacles = random.Chance(0.3)};
    const auto found = ExplainGraphPath(graph, query, prices, {}, scratch);
    ASSERT_EQ(found.status(), absl::OkStatus());
    if (SeeEachOther(graph, query.start, query.goals[0], !query.required_tags.empty())) {
      EXPECT_TRUE(found->is_found && found->nodes.empty() && found->blockers.empty());
      continue;
    }
    const GraphSeat start = SeatOf(graph, query.start);
    const GraphSeat goal = SeatOf(graph, query.goals[0]);
    const SlowGraphExplainer slow(graph, query, prices);
    const std::optional<double> total = slow.TotalOf(start.node, goal.node);
    ASSERT_EQ(found->is_found, total.has_value());
    if (!total) {
      ++unreachable;
      continue;
    }
    const double lines = CostToDouble(start.cost + goal.cost);
    EXPECT_NEAR(found->cost + found->price, *total + lines, 1e-6);
    double price = 0.0;
    for (const Blocker& blocker : found->blockers) {
      EXPECT_EQ(blocker.price, slow.PriceOf(NameOf(blocker)));
      EXPECT_LT(blocker.index, found->nodes.size());
      price += blocker.price;
    }
    EXPECT_EQ(found->price, price);
    blocked += found->blockers.empty() ? 0 : 1;

    const double cost = found->cost;
    const std::vector<Blocker> blockers = found->blockers;
    const WaypointGraph opened = WithoutNamed(plain, area, blockers);
    // Positions may be represented by other nodes there.
    GraphQuery again = query;
    again.start = graph.IdOf(start.node);
    again.goals = {graph.IdOf(goal.node)};
    const auto path = FindGraphPath(opened, again, {}, scratch);
    ASSERT_EQ(path.status(), absl::OkStatus());
    EXPECT_EQ(path->outcome, Outcome::kFound);
    EXPECT_LE(path->cost, cost - lines + 1e-6);
    if (blockers.empty()) {
      EXPECT_NEAR(path->cost, cost - lines, 1e-6);
    }
  }
  EXPECT_GT(blocked, 0);
  EXPECT_GT(unreachable, 0);
}

TEST(ExplainGraphPathTest, ListsOfBlockersAreBounded) {
  WaypointSpec spec{.nodes = {{.id = "a"}, {.id = "b", .position = {9, 0}}}, .edges = {{.name = {"a", "b"}}}};
  for (int i = 0; i <= 10'000; ++i) {
    spec.obstacles.push_back({.id = absl::StrCat("o", i), .shape = {.discs = {{{4, 0}, 1}}}});
  }
  GraphScratch scratch(kSampleRoom);
  EXPECT_THAT(ExplainGraphPath(*WaypointGraph::Create(spec), {.start = "a", .goals = {"b"}}, {}, {}, scratch),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kResponseTooLarge, "path"));
}

}  // namespace
}  // namespace waystar::core
