// Searches on a waypoint graph take so much for each node and arc, and for each start or goal.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "server/core/graph/search/graph_fields.h"
#include "server/core/graph/search/graph_pairs.h"
#include "server/core/graph/search/graph_samples.h"
#include "server/core/graph/search/graph_search.h"
#include "tests/core/cliffs/graph_growth_maps.h"
#include "tests/core/cliffs/work_counter.h"

namespace waystar::core {
namespace {

using ::waystar::testing::ExpectLinear;
using ::waystar::testing::WorkOf;

// Nodes of the streets, one column after the other, from the last.
std::vector<GraphPlace> Nodes(int columns, int count) {
  std::vector<GraphPlace> places;
  for (int i = 0; i < count; ++i) {
    places.emplace_back(NodeAt(columns - 1 - i % columns, i / columns % kGraphRows));
  }
  return places;
}

// Positions near nodes.
std::vector<GraphPlace> Positions(int columns, int count) {
  std::vector<GraphPlace> places;
  for (int i = 0; i < count; ++i) {
    places.emplace_back(WorldPoint{10.0 * (i % columns) + 1.0, 10.0 * (i / columns % kGraphRows) + 2.0});
  }
  return places;
}

class GraphSearchGrowthTest : public ::testing::Test {
 protected:
  std::uint64_t WorkOfPath(const WaypointGraph& graph, const GraphQuery& query) {
    return WorkOfWarm(
        [&] { EXPECT_EQ(FindGraphPath(graph, query, {}, scratch_)->outcome, Outcome::kFound); });
  }
  std::uint64_t WorkOfMatrix(const WaypointGraph& graph, const std::vector<GraphPlace>& starts,
                             const std::vector<GraphPlace>& goals) {
    const GraphMatrixQuery query{.starts = starts, .goals = goals, .snap_radius = 5.0};
    return WorkOfWarm([&] {
      const auto matrix = ComputeGraphMatrix(graph, query, {}, scratch_);
      ASSERT_TRUE(matrix.ok()) << matrix.status();
      EXPECT_LE(matrix->expanded, std::min(starts.size(), goals.size()) * graph.node_count());
    });
  }
  std::uint64_t WorkOfPairs(const WaypointGraph& graph, const std::vector<GraphPlace>& starts,
                            const std::vector<GraphPlace>& goals) {
    std::vector<GraphPair> pairs;
    for (std::size_t i = 0; i < goals.size(); ++i) {
      pairs.push_back({.start = starts[i % starts.size()], .goal = goals[i]});
    }
    const GraphReachabilityQuery query{.pairs = pairs, .snap_radius = 5.0};
    return WorkOfWarm([&] { EXPECT_TRUE(CheckGraphReachability(graph, query, {}, scratch_).ok()); });
  }
  std::uint64_t WorkOfFlow(const WaypointGraph& graph, const std::vector<GraphPlace>& goals) {
    return WorkOfWarm([&] {
      const auto flow = ComputeGraphFlow(graph, {.goals = goals, .snap_radius = 5.0}, {}, scratch_);
      ASSERT_TRUE(flow.ok()) << flow.status();
      EXPECT_EQ(flow->expanded, graph.node_count());
    });
  }

  // Returns the work of the second call, for which the scratch has grown.
  template <typename Call>
  std::uint64_t WorkOfWarm(Call call) {
    call();
    return WorkOf(call);
  }

  GraphScratch scratch_{std::size_t{1} << 28};
};

// A node expanded again and again.
TEST_F(GraphSearchGrowthTest, Paths) {
  for (const Algorithm algorithm : {Algorithm::kAStar, Algorithm::kDijkstra}) {
    for (const bool needs_tags : {false, true}) {
      ExpectLinear(50, [&](int columns) {
        const WaypointGraph graph = MakeStreets(columns);
        GraphQuery query{.start = NodeAt(0, 0), .goals = {NodeAt(columns - 1, kGraphRows - 1)}};
        query.algorithm = algorithm;
        if (needs_tags) {
          query.required_tags = {"main"};
        }
        return WorkOfPath(graph, query);
      });
    }
  }
}

// A search for each goal: the graph grows as well.
TEST_F(GraphSearchGrowthTest, GoalsOfAPath) {
  ExpectLinear(50, [&](int columns) {
    const std::vector<GraphPlace> goals = Nodes(columns / 2, 5 * columns);
    return WorkOfPath(MakeStreets(columns),
                      {.start = NodeAt(columns - 1, 19), .goals = {goals.begin(), goals.end()}});
  });
}

// A node flooded from again and again, and a flood sorted or searched by the square.
TEST_F(GraphSearchGrowthTest, Floods) {
  for (const GraphSense sense : {GraphSense::kFromSeeds, GraphSense::kToSeeds}) {
    ExpectLinear(50, [&](int columns) {
      const WaypointGraph graph = MakeStreets(columns);
      return WorkOfWarm([&] {
        const auto reached = FindReachableNodes(graph, {.start = NodeAt(0, 0), .sense = sense}, {}, scratch_);
        ASSERT_TRUE(reached.ok()) << reached.status();
        EXPECT_EQ(reached->expanded, graph.node_count());
      });
    });
  }
}

// A flood for each goal.
TEST_F(GraphSearchGrowthTest, Flows) {
  ExpectLinear(50, [&](int columns) { return WorkOfFlow(MakeStreets(columns), Nodes(columns, 10)); });
  const WaypointGraph graph = MakeStreets(50);
  ExpectLinear(250, [&](int count) { return WorkOfFlow(graph, Nodes(50, count)); });
  ExpectLinear(250, [&](int count) { return WorkOfFlow(graph, Positions(50, count)); });
}

// A flood for each pair; each goal looked for among the others; the lines between all positions looked at for
// each.
TEST_F(GraphSearchGrowthTest, Matrices) {
  ExpectLinear(50, [&](int columns) {
    return WorkOfMatrix(MakeStreets(columns), Nodes(columns, 4), Positions(columns, 20));
  });
  const WaypointGraph graph = MakeStreets(50);
  ExpectLinear(250, [&](int count) { return WorkOfMatrix(graph, Positions(50, 4), Nodes(50, count)); });
  ExpectLinear(8, [&](int count) { return WorkOfMatrix(graph, Nodes(50, count), Positions(50, 100)); });
}

// A flood for each pair, where they have few starts or few goals: the graph grows as well.
TEST_F(GraphSearchGrowthTest, Pairs) {
  ExpectLinear(50, [&](int columns) {
    return WorkOfPairs(MakeStreets(columns), Nodes(columns, 4), Positions(columns, 5 * columns));
  });
  ExpectLinear(50, [&](int columns) {
    const std::vector<GraphPlace> starts = Positions(columns, 5 * columns);
    std::vector<GraphPlace> goals = Nodes(columns, 4);
    for (int i = 4; i < 5 * columns; ++i) {
      goals.push_back(goals[static_cast<std::size_t>(i) % 4]);
    }
    return WorkOfPairs(MakeStreets(columns), starts, goals);
  });
}

// Each draw compared with those before, or the nodes gone through for each.
TEST_F(GraphSearchGrowthTest, Samples) {
  const WaypointGraph graph = MakeStreets(50);
  for (const bool distinct : {false, true}) {
    ExpectLinear(250, [&](int count) {
      return WorkOf([&] {
        EXPECT_TRUE(SampleNodes(graph, {.count = count, .distinct = distinct}, {}).ok());
        EXPECT_TRUE(SamplePlacesOnEdges(graph, {.count = count}, {}).ok());
      });
    });
  }
  ExpectLinear(50, [&](int columns) {
    const WaypointGraph streets = MakeStreets(columns);
    return WorkOf([&] {
      EXPECT_TRUE(SampleNodes(streets, {.count = 10}, {}).ok());
      EXPECT_TRUE(SamplePlacesOnEdges(streets, {.count = 10}, {}).ok());
    });
  });
}

}  // namespace
}  // namespace waystar::core
