#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/graph/map/graph_editor.h"
#include "server/core/graph/search/graph_query.h"
#include "server/core/graph/search/graph_search.h"
#include "tests/core/graph/search/random_graphs.h"

namespace waystar::core {
namespace {

class GraphOverlayTest : public ::testing::Test {
 protected:
  static WaypointGraph Under(const WaypointGraph& graph, const GraphOverlay& overlay) {
    absl::StatusOr<WaypointGraph> result = WithGraphOverlay(graph, overlay);
    EXPECT_EQ(result.status(), absl::OkStatus());
    return result.ok() ? *std::move(result) : graph;
  }
  static std::string ErrorOf(const WaypointGraph& graph, const GraphOverlay& overlay) {
    return Told(WithGraphOverlay(graph, overlay).status());
  }

  // The ids of the path and its cost, or how the search ended.
  std::string Path(const WaypointGraph& graph, const GraphPlace& start, const GraphPlace& goal) {
    const absl::StatusOr<GraphPathResult> result =
        FindGraphPath(graph, {.start = start, .goals = {goal}, .snap_radius = 3}, {}, scratch_);
    if (!result.ok()) {
      return ErrorReasonOf(result.status());
    }
    std::string text = absl::StrFormat("%d: %.12g", static_cast<int>(result->outcome), result->cost);
    for (const NodeNumber node : result->nodes) {
      absl::StrAppend(&text, " ", graph.IdOf(node));
    }
    return text;
  }

  GraphScratch scratch_{std::size_t{64} << 20};
};

// a - b - c along a row, a way round over d, and a crate on the edge from d to c.
WaypointGraph Crossing() {
  return GraphOf({.nodes = {{"a", {0, 0}}, {"b", {10, 0}}, {"c", {20, 0}}, {"d", {10, 10}}},
                  .edges = {{.name = {"a", "b"}},
                            {.name = {"b", "c"}},
                            {.name = {"a", "d"}},
                            {.name = {"d", "c"}, .cost = 30}},
                  .obstacles = {{.id = "crate", .shape = {.discs = {{{15, 5}, 1}}}}}});
}

TEST_F(GraphOverlayTest, NothingChangesNothing) {
  const WaypointGraph graph = Crossing();
  EXPECT_TRUE(GraphOverlay().empty());
  EXPECT_EQ(Under(graph, {}).digest(), graph.digest());
}

TEST_F(GraphOverlayTest, TheAreaIsNoObstacleThatCanBeNamed) {
  const WaypointGraph graph = Crossing();
  EXPECT_EQ(ErrorReasonOf(CheckObstacleId(GraphEditor::kAreaId)), "BAD_OBSTACLE_ID");
  const GraphOverlay overlay{.blocked = Shape{.discs = {{{5, 0}, 1}}}};
  const WaypointGraph under = Under(graph, overlay);
  EXPECT_EQ(under.sight().obstacles().size(), 2U);
  EXPECT_EQ(graph.sight().obstacles().size(), 1U);
  // An overlay of an overlaid graph has the area in place of the first one's.
  EXPECT_EQ(Under(under, overlay).digest(), under.digest());
  EXPECT_EQ(Path(Under(under, {.blocked = Shape{.discs = {{{0, 50}, 1}}}}), "a", "c"), "0: 20 a b c");
}

TEST_F(GraphOverlayTest, BlocksAnEdgeThatOnlyAnIgnoredObstacleKeepsAway) {
  const WaypointGraph graph = GraphOf({.nodes = {{"a", {0, 0}}, {"b", {4, 0}}},
                                       .auto_connect = AutoConnect{.max_distance = 5},
                                       .obstacles = {{.id = "o", .shape = {.discs = {{{2, 0}, 1}}}}}});
  EXPECT_EQ(Path(Under(graph, {.ignored_obstacles = {"o"}}), "a", "b"), "0: 4 a b");
  EXPECT_EQ(Path(Under(graph, {.ignored_obstacles = {"o"}, .blocked_edges = {{"a", "b"}}}), "a", "b"),
            "2: 0");
}

TEST_F(GraphOverlayTest, SharesWhatItLeavesAsItIs) {
  WaypointSpec spec{.auto_connect = AutoConnect{.max_distance = 1.5}};
  for (int i = 0; i < 100 * 100; ++i) {
    spec.nodes.push_back({absl::StrCat("n", i), {i % 100 * 1.0, i / 100 * 1.0}});
  }
  const WaypointGraph graph = GraphOf(spec);
  const WaypointGraph under = Under(graph, {.blocked = Shape{.discs = {{{50.5, 50.5}, 0.25}}},
                                            .blocked_nodes = {"n0"},
                                            .blocked_edges = {{"n3", "n4"}}});
  EXPECT_LT(under.BytesBeyond(graph), graph.memory_bytes() / 10);
}

TEST_F(GraphOverlayTest, RefusesWhatMakesNoSense) {
  const WaypointGraph graph = Crossing();
  EXPECT_EQ(ErrorOf(graph, {.blocked = Shape{}}), "EMPTY_SHAPE overlay.blocked");
  EXPECT_EQ(ErrorOf(graph, {.blocked = Shape{.discs = {{{0, 0}, -1}}}}),
            "BAD_DISC overlay.blocked.discs[0].radius");
  EXPECT_EQ(ErrorOf(graph, {.ignored_obstacles = {"gone", "no way"}}),
            "BAD_OBSTACLE_ID overlay.ignored_obstacles[1]");
  EXPECT_EQ(ErrorOf(graph, {.blocked_nodes = {"a", "gone"}}), "NODE_NOT_FOUND overlay.blocked_nodes[1]");
  EXPECT_EQ(ErrorOf(graph, {.blocked_nodes = {"no way"}}), "BAD_NODE_ID overlay.blocked_nodes[0]");
  EXPECT_EQ(ErrorOf(graph, {.blocked_edges = {{"a", "b"}, {"gone", "b"}}}),
            "NODE_NOT_FOUND overlay.blocked_edges[1].from");
  EXPECT_EQ(ErrorOf(graph, {.blocked_edges = {{"a", "c"}}}), "EDGE_NOT_FOUND overlay.blocked_edges[0]");
  EXPECT_EQ(ErrorOf(graph, {.blocked_edges = {{"a", "b"}, {"b", "a", true}}}),
            "DUPLICATE_EDGE overlay.blocked_edges[1]");
  const std::vector<std::string> many(1001, "a");
  EXPECT_EQ(ErrorOf(graph, {.ignored_obstacles = many}), "BAD_VALUE overlay.ignored_obstacles");
  EXPECT_EQ(ErrorOf(graph, {.blocked_nodes = many}), "BAD_VALUE overlay.blocked_nodes");
  EXPECT_EQ(ErrorOf(graph, {.blocked_edges = std::vector<EdgeName>(1001, {"a", "b"})}),
            "BAD_VALUE overlay.blocked_edges");
}

TEST_F(GraphOverlayTest, AnswersAsIfTheGraphHadBeenEdited) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= Rounds(60); ++seed) {
    auto [generator, model, graph] = EditedGraph(seed);
    ASSERT_FALSE(HasFailure());
    const std::uint64_t digest = graph.digest();
    const auto arcs = ArcsOf(graph);

    GraphEditor edited(graph);
    GraphOverlay overlay;
    for (const auto& [id, shape] : model.obstacles) {
      if (generator.random().Chance(0.5)) {
        overlay.ignored_obstacles.push_back(id);
        ASSERT_EQ(edited.RemoveObstacle(id), absl::OkStatus());
      }
    }
    for (const auto& [id, node] : model.nodes) {
      if (generator.random().Chance(0.1)) {
        overlay.blocked_nodes.push_back(id);
        ASSERT_EQ(edited.SetNodesEnabled({id}, false), absl::OkStatus());
      }
    }
    for (const auto& [name, arc] : ArcsOf(edited.graph())) {
      if (generator.random().Chance(0.1)) {
        overlay.blocked_edges.push_back({name.first, name.second, true});
        ASSERT_EQ(edited.SetEdgesEnabled({overlay.blocked_edges.back()}, false), absl::OkStatus());
      }
    }
    overlay.blocked = generator.Shape();
    const auto area = std::make_shared<Obstacle>(Obstacle{.id = "real", .shape = *overlay.blocked});
    ASSERT_EQ(edited.PutObstacle(area, false), absl::OkStatus());

    const WaypointGraph under = Under(graph, overlay);
    ASSERT_EQ(ArcsOf(under), ArcsOf(edited.graph())) << seed;
    for (int i = 0; i < 20; ++i) {
      const WorldPoint start = generator.Position();
      const WorldPoint goal = generator.Position();
      const std::string path = Path(under, start, goal);
      ASSERT_EQ(path, Path(edited.graph(), start, goal)) << seed;
      found += path.front() == '0' ? 1 : 0;
    }
    ASSERT_EQ(graph.digest(), digest);
    ASSERT_EQ(ArcsOf(graph), arcs);
  }
  EXPECT_GT(found, 20);
}

}  // namespace
}  // namespace waystar::core
