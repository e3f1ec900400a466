// Watches of paths on waypoint graphs: whom changes concern.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/graph/map/graph_editor.h"
#include "server/core/graph/search/graph_search.h"
#include "server/core/watch/graph_answer.h"
#include "tests/core/watch/watchers.h"
#include "tests/testing/graph_model.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Change = std::function<absl::Status(GraphEditor&)>;

WaypointGraph MakeGraph(const WaypointSpec& spec) {
  absl::StatusOr<WaypointGraph> graph = WaypointGraph::Create(spec);
  EXPECT_EQ(graph.status(), absl::OkStatus());
  return *std::move(graph);
}

// Graphs, for Watchers.
class GraphKind {
 public:
  using Map = WaypointGraph;
  using Query = GraphQuery;
  using Answer = GraphAnswer;

  struct Point {
    std::string id;
    WorldPoint position;
  };
  struct Found {
    absl::StatusOr<GraphPathResult> result;
    std::vector<Point> points;

    bool HasPath() const { return LeadsToGoal() || !points.empty(); }
    bool LeadsToGoal() const { return result.ok() && result->outcome == Outcome::kFound; }
  };

  Found Find(const WaypointGraph& graph, const GraphQuery& query, const Budget& budget) {
    Found found{.result = FindGraphPath(graph, query, budget, scratch_)};
    if (found.result.ok()) {
      for (const NodeNumber node : found.result->nodes) {
        found.points.push_back({.id = graph.IdOf(node), .position = graph.PositionOf(node)});
      }
    }
    return found;
  }

  static bool IsOutdated(const GraphAnswer& answer, const WaypointGraph& graph, const Found& now) {
    return answer.IsOutdatedBy(graph, now.result);
  }
  static std::string FaultOf(const WaypointGraph& graph, const GraphQuery& query, const Found& told,
                             const Found& now) {
    if (ErrorReasonOf(now.result.status()) != ErrorReasonOf(told.result.status())) {
      return absl::StrCat("now ", now.result.status().message(), ", was ", told.result.status().message());
    }
    if (!now.result.ok()) {
      return "";
    }
    // A search that was cut short says nothing of a path that leads to the goal.
    if (told.LeadsToGoal() && now.result->outcome == Outcome::kBudgetExhausted) {
      return told.points.empty() ? "" : FaultOfPath(graph, query, told, {});
    }
    if (now.result->outcome != told.result->outcome) {
      return "another outcome";
    }
    if (now.result->cost != told.result->cost) {
      return absl::StrCat("costs ", now.result->cost, ", was ", told.result->cost);
    }
    if (now.points.empty() != told.points.empty()) {
      return "a line or nodes";
    }
    return told.points.empty() ? "" : FaultOfPath(graph, query, told, now.result->nodes);
  }

 private:
  // `nodes` are those of the path that is found now.
  static std::string FaultOfPath(const WaypointGraph& graph, const GraphQuery& query, const Found& told,
                                 absl::Span<const NodeNumber> nodes) {
    Cost cost = 0;
    for (std::size_t i = 0; i < told.points.size(); ++i) {
      const NodeNumber node = graph.FindNode(told.points[i].id);
      if (node == kNoNodeNumber || !graph.IsEnabled(node) ||
          graph.PositionOf(node) != told.points[i].position) {
        return absl::StrCat("no way over ", told.points[i].id);
      }
      if (i == 0) {
        continue;
      }
      const NodeNumber before = graph.FindNode(told.points[i - 1].id);
      const Arc* arc = graph.FindArc(before, node);
      if (arc == nullptr || !arc->is_open()) {
        return absl::StrCat("no way to ", told.points[i].id);
      }
      const std::vector<std::string> tags = graph.NamesOf(graph.TagsOfArc(before, *arc));
      for (const std::string& tag : query.required_tags) {
        if (std::ranges::count(tags, tag) == 0) {
          return absl::StrCat("no ", tag, " way to ", told.points[i].id);
        }
      }
      cost += arc->cost;
    }
    const auto add = [&](const GraphPlace& place, const Point& end) {
      if (const auto* position = std::get_if<WorldPoint>(&place)) {
        cost += CostFromDouble(Distance(*position, end.position));
      }
    };
    add(query.start, told.points.front());
    if (told.result->outcome == Outcome::kFound) {
      add(query.goals.front(), told.points.back());
    }
    if (CostToDouble(cost) != told.result->cost) {
      return absl::StrCat("can be walked at ", CostToDouble(cost), ", was ", told.result->cost);
    }
    if (nodes.empty()) {
      return "";
    }
    return graph.IdOf(nodes.front()) == told.points.front().id &&
                   graph.IdOf(nodes.back()) == told.points.back().id
               ? ""
               : "other ends";
  }

  GraphScratch scratch_{std::size_t{64} << 20};
};

class GraphWatchers : public Watchers<GraphKind> {
 public:
  using Watchers::Watchers;

  std::vector<std::uint64_t> Change(const core::Change& change) {
    GraphEditor editor(map());
    EXPECT_EQ(change(editor), absl::OkStatus());
    const MapChanges changes{.graph = editor.changes().places};
    return ChangeTo(std::move(editor).Finish(), changes);
  }
};

GraphPlace PlaceFor(GraphGenerator& generator) {
  if (generator.random().Chance(0.4)) {
    return generator.Position();
  }
  return absl::StrCat("n", generator.random().Between(1, 30));
}

GraphQuery QueryFor(GraphGenerator& generator) {
  Random& random = generator.random();
  GraphQuery query{.start = PlaceFor(generator),
                   .goals = {PlaceFor(generator)},
                   .snap_radius = random.Between(1, 20) / 2.0};
  if (random.Chance(0.3)) {
    query.unreachable_policy = UnreachablePolicy::kNearestByDistance;
  }
  for (const char* tag : {"wide", "dry", "nobody's"}) {
    if (random.Chance(0.1)) {
      query.required_tags.emplace_back(tag);
    }
  }
  return query;
}

class GeneratedGraphChanges : public ::testing::TestWithParam<int> {};

// Whoever is told nothing has an answer that holds.
TEST_P(GeneratedGraphChanges, SilenceMeansThatTheAnswerHolds) {
  std::size_t silent = 0;
  std::size_t needless = 0;
  std::size_t told = 0;
  for (std::uint64_t round = 0; round < Rounds(12); ++round) {
    GraphGenerator generator(static_cast<std::uint64_t>(GetParam()) * 1000 + round, 20);
    Random& random = generator.random();
    GraphModel model;
    WaypointSpec spec;
    if (random.Chance(0.6)) {
      model.max_distance = random.Between(3, 9);
      spec.auto_connect = AutoConnect{.max_distance = *model.max_distance};
    }
    GraphEditor beginning(MakeGraph(spec));
    for (int i = 0; i < 60; ++i) {
      generator.Edit(model, beginning);
    }
    GraphWatchers watchers(std::move(beginning).Finish());
    constexpr std::size_t kWatches = 25;
    for (std::size_t i = 0; i < kWatches; ++i) {
      watchers.Watch(QueryFor(generator), random.Chance(0.1) ? Budget{.max_expansions = 3} : Budget());
    }
    for (int step = 0; step < 60; ++step) {
      // Batches that are committed together.
      WaypointGraph next = watchers.map();
      MapChanges changes;
      for (int batches = random.Chance(0.7) ? 1 : random.Between(2, 4); batches > 0; --batches) {
        GraphEditor editor(std::move(next));
        for (int edits = random.Chance(0.7) ? 1 : 2; edits > 0; --edits) {
          generator.Edit(model, editor);
        }
        changes.graph.Add(editor.changes().places);
        next = std::move(editor).Finish();
      }
      silent += kWatches - watchers.ChangeTo(std::move(next), changes).size();
      ASSERT_EQ(watchers.Fault(), "") << "graph " << round << " step " << step;
    }
    needless += watchers.needless();
    told += watchers.told_in_all();
  }
  // There must be some to judge.
  EXPECT_GT(silent, 200U);
  EXPECT_GT(told, 50U);
  // These are small graphs, where much is near. Others that are found have no path to the goal.
  EXPECT_LT(needless, silent);
  RecordProperty("silent", static_cast<int>(silent));
  RecordProperty("needless", static_cast<int>(needless));
  RecordProperty("told", static_cast<int>(told));
}

INSTANTIATE_TEST_SUITE_P(Seeds, GeneratedGraphChanges, ::testing::Range(1, 7));

// Streets that cross at every unit of a square, 40 a side.
WaypointSpec Streets() {
  WaypointSpec spec;
  constexpr int kSide = 40;
  const auto id = [](int x, int y) { return absl::StrCat(x, ":", y); };
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      spec.nodes.push_back({.id = id(x, y), .position = {double(x), double(y)}});
      if (x > 0) {
        spec.edges.push_back({.name = {id(x - 1, y), id(x, y)}});
      }
      if (y > 0) {
        spec.edges.push_back({.name = {id(x, y - 1), id(x, y)}});
      }
    }
  }
  return spec;
}

class GraphStreetsTest : public ::testing::Test {
 protected:
  GraphStreetsTest() {
    watchers_.Watch({.start = "2:2", .goals = {"8:2"}});
    watchers_.Watch({.start = "20:20", .goals = {"30:20"}});
    watchers_.Watch({.start = WorldPoint{2.25, 9}, .goals = {WorldPoint{6.25, 9}}, .snap_radius = 2});
  }

  // Returns who was found, once all is as it should be.
  std::vector<std::uint64_t> After(const Change& change) {
    std::vector<std::uint64_t> ids = watchers_.Change(change);
    EXPECT_EQ(watchers_.Fault(), "");
    return ids;
  }

  static Change PutEdge(const std::string& from, const std::string& to, double cost) {
    return [=](GraphEditor& editor) { return editor.PutEdges({{.name = {from, to}, .cost = cost}}, true); };
  }
  static Change Enable(const std::string& from, const std::string& to, bool enabled) {
    return [=](GraphEditor& editor) { return editor.SetEdgesEnabled({{from, to}}, enabled); };
  }
  static Change Drop(const std::string& id, Point at) {
    return [=](GraphEditor& editor) {
      Obstacle obstacle{.id = id, .shape = {.discs = {{.center = at, .radius = 0.3}}}};
      return editor.PutObstacle(std::make_shared<const Obstacle>(std::move(obstacle)), true);
    };
  }

  GraphWatchers watchers_{MakeGraph(Streets())};
};

TEST_F(GraphStreetsTest, FarEditsConcernNobody) {
  EXPECT_THAT(After(Enable("35:35", "36:35", false)), IsEmpty());
  EXPECT_THAT(After(Enable("35:35", "36:35", true)), IsEmpty());
  EXPECT_THAT(After(PutEdge("35:35", "36:35", 7)), IsEmpty());
  EXPECT_THAT(After(PutEdge("35:35", "36:36", -1)), IsEmpty());
  EXPECT_THAT(After(Drop("crate", {35.5, 35})), IsEmpty());
  EXPECT_THAT(After([](GraphEditor& editor) { return editor.RemoveObstacle("crate"); }), IsEmpty());
  EXPECT_THAT(After([](GraphEditor& editor) { return editor.SetNodesEnabled({"12:30"}, false); }), IsEmpty());
  EXPECT_THAT(After([](GraphEditor& editor) { return editor.SetNodesEnabled({"12:30"}, true); }), IsEmpty());
  EXPECT_THAT(After([](GraphEditor& editor) { return editor.RemoveNodes({"30:5"}); }), IsEmpty());
  EXPECT_THAT(After([](GraphEditor& editor) {
                return editor.PutNodes({{.id = "new", .position = {5, 30}}}, true);
              }),
              IsEmpty());
  // Far from each other and from the watches, which lie between them.
  EXPECT_THAT(After([](GraphEditor& editor) {
                return editor.SetEdgesEnabled({{"0:39", "1:39"}, {"38:0", "39:0"}}, false);
              }),
              IsEmpty());
}

TEST_F(GraphStreetsTest, FindWhosePathChanges) {
  EXPECT_THAT(After(Enable("4:2", "5:2", false)), ElementsAre(0));
  EXPECT_THAT(After(Enable("4:2", "5:2", true)), ElementsAre(0));
  EXPECT_THAT(After(Drop("crate", {25.5, 20})), ElementsAre(1));
  EXPECT_THAT(After([](GraphEditor& editor) { return editor.MoveObstacle("crate", 0, 15); }), ElementsAre(1));
  EXPECT_THAT(After([](GraphEditor& editor) { return editor.RemoveNodes({"4:9"}); }), ElementsAre(2));
}

// What only closes or gets dearer cannot make a path cheaper.
TEST_F(GraphStreetsTest, WhatClosesBesideAPathConcernsNobody) {
  EXPECT_THAT(After(Enable("4:1", "5:1", false)), IsEmpty());
  EXPECT_THAT(After(Drop("crate", {25.5, 21})), IsEmpty());
  EXPECT_THAT(After(PutEdge("22:21", "23:21", 3)), IsEmpty());
}

TEST_F(GraphStreetsTest, CheapEdgesShortenTheWayToWhatIsFar) {
  // It costs next to nothing to get from near the one end of the map to near the other.
  EXPECT_THAT(After(PutEdge("2:4", "37:37", 0.5)), IsEmpty()) << "which leads the wrong way";
  EXPECT_THAT(After(PutEdge("37:38", "8:4", 0.5)), IsEmpty()) << "by which the way costs as much as without";
  EXPECT_EQ(watchers_.told_in_all(), 0U);
  EXPECT_THAT(After(PutEdge("37:37", "37:38", 0.1)), ElementsAre(0)) << "which brings it below 6";
  EXPECT_EQ(watchers_.told_in_all(), 1U);
}

// Another node in its place is not the node that was told.
TEST_F(GraphStreetsTest, ANodeThatTakesTheNumberOfAnotherIsAnother) {
  EXPECT_THAT(After([](GraphEditor& editor) {
                EXPECT_EQ(editor.RemoveNodes({"5:2"}), absl::OkStatus());
                EXPECT_EQ(editor.PutNodes({{.id = "other", .position = {5, 2}}}, false), absl::OkStatus());
                return editor.PutEdges({{.name = {"4:2", "other"}}, {.name = {"other", "6:2"}}}, false);
              }),
              ElementsAre(0));
  EXPECT_EQ(watchers_.told_in_all(), 1U);
}

TEST_F(GraphStreetsTest, TagsComeAndGo) {
  const auto put = [](const std::string& from, const std::string& to, const std::vector<std::string>& tags) {
    return [=](GraphEditor& editor) { return editor.PutEdges({{.name = {from, to}, .tags = tags}}, true); };
  };
  EXPECT_THAT(After(put("30:30", "31:30", {"cart"})), IsEmpty());
  EXPECT_THAT(After(put("31:30", "31:31", {"cart"})), IsEmpty());
  EXPECT_THAT(After(put("31:31", "30:31", {"cart"})), IsEmpty());
  watchers_.Watch({.start = "30:30", .goals = {"30:31"}, .required_tags = {"cart"}});
  EXPECT_THAT(After(put("30:30", "31:30", {"cart", "lit"})), ElementsAre(3)) << "which may open other ways";
  EXPECT_EQ(watchers_.told_in_all(), 0U);
  EXPECT_THAT(After(put("30:30", "30:31", {"cart"})), ElementsAre(3));
  EXPECT_EQ(watchers_.told_in_all(), 1U);
  EXPECT_THAT(After(put("30:30", "30:31", {"lit"})), ElementsAre(3));
  EXPECT_EQ(watchers_.told_in_all(), 2U);
}

TEST_F(GraphStreetsTest, PositionsAreFoundByWhatTheySee) {
  // A nearer node, then a wall before it.
  EXPECT_THAT(
      After([](GraphEditor& editor) {
        EXPECT_EQ(editor.PutNodes({{.id = "porch", .position = {2.25, 9.1}}}, false), absl::OkStatus());
        return editor.PutEdges({{.name = {"porch", "3:9"}}}, false);
      }),
      ElementsAre(2));
  EXPECT_EQ(watchers_.told_in_all(), 1U);
  EXPECT_THAT(After([](GraphEditor& editor) {
                Obstacle wall{.id = "wall", .shape = {.lines = {{{2.2, 9.05}, {2.3, 9.05}, 0.01}}}};
                return editor.PutObstacle(std::make_shared<const Obstacle>(std::move(wall)), true);
              }),
              ElementsAre(2));
  EXPECT_EQ(watchers_.told_in_all(), 2U);
}

TEST(GraphLinesTest, ALineHoldsUntilSomethingLiesOnIt) {
  GraphWatchers watchers(MakeGraph({.nodes = {{"a", {0, 0}}, {"b", {5, 4}}, {"c", {10, 0}}},
                                    .auto_connect = AutoConnect{.max_distance = 20}}));
  watchers.Watch({.start = WorldPoint{0, 1}, .goals = {WorldPoint{10, 1}}, .snap_radius = 3});
  const auto put = [](double x, double y) {
    return [=](GraphEditor& editor) {
      Obstacle obstacle{.id = "crate", .shape = {.discs = {{.center = {x, y}, .radius = 0.5}}}};
      return editor.PutObstacle(std::make_shared<const Obstacle>(std::move(obstacle)), true);
    };
  };
  EXPECT_THAT(watchers.Change(put(5, 3)), IsEmpty());
  EXPECT_THAT(watchers.Change([](GraphEditor& editor) { return editor.SetNodesEnabled({"b"}, false); }),
              IsEmpty());
  EXPECT_THAT(watchers.Change(put(5, 1)), ElementsAre(0));
  EXPECT_EQ(watchers.Fault(), "");
  EXPECT_THAT(watchers.Change(put(5, 3)), ElementsAre(0)) << "which it needs no nodes for any more";
  EXPECT_EQ(watchers.Fault(), "");
  EXPECT_EQ(watchers.told_in_all(), 2U);
}

}  // namespace
}  // namespace waystar::core
