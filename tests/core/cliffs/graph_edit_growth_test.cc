// An edit of a waypoint graph takes what it changes and what lies near by, whatever else the graph holds.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/graph/map/graph_editor.h"
#include "server/core/graph/search/graph_overlay.h"
#include "tests/core/cliffs/graph_growth_maps.h"
#include "tests/core/cliffs/work_counter.h"

namespace waystar::core {
namespace {

using ::waystar::testing::ExpectFlat;
using ::waystar::testing::ExpectLinear;
using ::waystar::testing::WorkOf;

// The work of an edit. `edit` returns a status.
template <typename EditGraph>
std::uint64_t WorkOfEdit(const WaypointGraph& graph, EditGraph edit) {
  return WorkOf([&] {
    GraphEditor editor(graph);
    const absl::Status status = edit(editor);
    EXPECT_TRUE(status.ok()) << status;
    const WaypointGraph after = std::move(editor).Finish();
    EXPECT_NE(after.digest(), graph.digest());
  });
}

std::uint64_t WorkOfSmallEdits(const WaypointGraph& graph) {
  return WorkOfEdit(
             graph,
             [](GraphEditor& editor) { return editor.PutObstacle(MakeDisc("new", 10.0, 15.0), false); }) +
         WorkOfEdit(graph,
                    [](GraphEditor& editor) {
                      const std::vector<WaypointNode> nodes = {{.id = "new", .position = {14.0, 14.0}}};
                      return editor.PutNodes(nodes, false);
                    }) +
         WorkOfEdit(
             graph,
             [](GraphEditor& editor) {
               const std::vector<WaypointEdge> edges = {{.name = {.from = NodeAt(0, 0), .to = NodeAt(1, 1)}}};
               return editor.PutEdges(edges, false);
             }) +
         WorkOfEdit(graph,
                    [](GraphEditor& editor) { return editor.SetNodesEnabled({NodeAt(1, 2)}, false); }) +
         WorkOfEdit(graph, [](GraphEditor& editor) { return editor.RemoveNodes({NodeAt(2, 2)}); });
}

// The whole graph copied or gone through for an edit.
TEST(GraphEditGrowthTest, NodesElsewhere) {
  ExpectFlat(25, [](int columns) { return WorkOfSmallEdits(MakeStreets(columns)); });
}

// All obstacles copied or gone through for an edit.
TEST(GraphEditGrowthTest, ObstaclesElsewhere) {
  const WaypointGraph streets = MakeStreets(80);
  ExpectFlat(10, [&](int columns) { return WorkOfSmallEdits(WithDiscs(streets, MiddlesOfBlocks(columns))); });
}

WaypointSpec Row(int nodes) {
  WaypointSpec spec;
  for (int i = 0; i < nodes; ++i) {
    spec.nodes.push_back({.id = absl::StrCat("n", i), .position = {10.0 * i, 0.0}});
  }
  return spec;
}

// Each node, edge or obstacle compared with all before it.
TEST(GraphEditGrowthTest, Creation) {
  ExpectLinear(1000, [](int count) {
    WaypointSpec spec = Row(count);
    for (int i = 0; i + 1 < count; ++i) {
      spec.edges.push_back({.name = {.from = spec.nodes[i].id, .to = spec.nodes[i + 1].id}});
      spec.obstacles.push_back(*MakeDisc(absl::StrCat("o", i), 10.0 * i, 5.0));
    }
    return WorkOf([&] { EXPECT_TRUE(WaypointGraph::Create(spec).ok()); });
  });
}

// All pairs of nodes looked at, where only near ones are to be joined.
TEST(GraphEditGrowthTest, CreationOfARule) {
  ExpectLinear(500, [](int count) {
    WaypointSpec spec = Row(count);
    spec.auto_connect = AutoConnect{.max_distance = 30.0, .grid = nullptr};
    return WorkOf([&] { EXPECT_EQ(WaypointGraph::Create(spec)->arc_count(), 6 * count - 12U); });
  });
}

// The arcs of a node copied for each edge of a list.
TEST(GraphEditGrowthTest, EdgesOfOneNode) {
  ExpectLinear(500, [](int count) {
    WaypointSpec spec = Row(count);
    std::vector<WaypointEdge> edges;
    for (int i = 1; i < count; ++i) {
      edges.push_back({.name = {.from = "n0", .to = absl::StrCat("n", i)}, .cost = 1.0 * i});
    }
    const WaypointGraph row = WaypointGraph::Create(spec).value();
    return WorkOfEdit(row, [&](GraphEditor& editor) { return editor.PutEdges(edges, false); });
  });
}

// The graph gone through for each edit.
TEST(GraphEditGrowthTest, EditsOneByOne) {
  const WaypointGraph streets = MakeStreets(80);
  ExpectLinear(100, [&](int count) {
    return WorkOfEdit(streets, [&](GraphEditor& editor) {
      absl::Status status;
      for (int i = 0; i < count && status.ok(); ++i) {
        status =
            editor.PutObstacle(MakeDisc(absl::StrCat("o", i), 10.0 * (i % 80), 10.0 * (i / 80) + 5.0), false);
        if (status.ok()) {
          status = editor.SetEdgesEnabled(
              {{{.from = NodeAt(i % 79, i / 79), .to = NodeAt(i % 79 + 1, i / 79)}}}, false);
        }
      }
      return status;
    });
  });
}

// Each arc looked at for each part of an obstacle, wherever both lie.
TEST(GraphEditGrowthTest, PartsOfAnObstacle) {
  const WaypointGraph streets = MakeStreets(80);
  ExpectLinear(250, [&](int count) {
    Obstacle obstacle{.id = "many"};
    for (int i = 0; i < count; ++i) {
      obstacle.shape.discs.push_back({.center = {10.0 * (i % 80), 10.0 * (i / 80) + 5.0}, .radius = 1.0});
    }
    const auto shared = std::make_shared<const Obstacle>(std::move(obstacle));
    return WorkOfEdit(streets, [&](GraphEditor& editor) { return editor.PutObstacle(shared, false); });
  });
}

// A graph made for each entry of an overlay, or all of it copied for one overlay.
TEST(GraphEditGrowthTest, Overlays) {
  const WaypointGraph streets = WithDiscs(MakeStreets(80), MiddlesOfBlocks(80));
  const auto work_of = [](const WaypointGraph& graph, int count) {
    GraphOverlay overlay;
    for (int i = 0; i < count; ++i) {
      overlay.blocked_nodes.push_back(NodeAt(i % 80, i / 80));
      overlay.blocked_edges.push_back({.from = NodeAt(i % 79, i / 79), .to = NodeAt(i % 79 + 1, i / 79)});
      overlay.ignored_obstacles.push_back(absl::StrCat("o", i));
    }
    overlay.blocked.emplace();
    for (int i = 0; i < count; ++i) {
      overlay.blocked->discs.push_back({.center = {10.0 * (i % 80), 10.0 * (i / 80) + 5.0}, .radius = 1.0});
    }
    return WorkOf([&] {
      const auto overlaid = WithGraphOverlay(graph, overlay);
      EXPECT_TRUE(overlaid.ok()) << overlaid.status();
    });
  };
  ExpectLinear(250, [&](int count) { return work_of(streets, count); });
  ExpectFlat(100, [&](int columns) { return work_of(MakeStreets(columns), 20); });
}

}  // namespace
}  // namespace waystar::core
