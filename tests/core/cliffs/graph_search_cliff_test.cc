// A search on a waypoint graph expands each node at most once, whatever the number of its starts and goals.
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "server/core/graph/search/graph_fields.h"
#include "server/core/graph/search/graph_pairs.h"
#include "server/core/graph/search/graph_search.h"
#include "tests/core/cliffs/graph_growth_maps.h"

namespace waystar::core {
namespace {

constexpr int kColumns = 50;

// Nodes, or positions near them, one column after the other, from the last.
std::vector<GraphPlace> Places(int count, bool are_nodes) {
  std::vector<GraphPlace> places;
  for (int i = 0; i < count; ++i) {
    const int column = kColumns - 1 - i % kColumns;
    const int row = i / kColumns % kGraphRows;
    if (are_nodes) {
      places.emplace_back(NodeAt(column, row));
    } else {
      places.emplace_back(WorldPoint{10.0 * column + 1.0, 10.0 * row + 2.0});
    }
  }
  return places;
}

class GraphSearchCliffTest : public ::testing::Test {
 protected:
  const WaypointGraph graph_ = MakeStreets(kColumns);
  GraphScratch scratch_{std::size_t{1} << 28};
};

TEST_F(GraphSearchCliffTest, PathsExpandNoNodeTwice) {
  for (const Algorithm algorithm : {Algorithm::kAStar, Algorithm::kDijkstra}) {
    for (const int count : {1, 250}) {
      const std::vector<GraphPlace> goals = Places(count, true);
      GraphQuery query{.start = NodeAt(0, kGraphRows - 1), .goals = {goals.begin(), goals.end()}};
      query.algorithm = algorithm;
      query.required_tags = {"main"};
      const auto found = FindGraphPath(graph_, query, {}, scratch_);
      ASSERT_TRUE(found.ok()) << found.status();
      EXPECT_EQ(found->outcome, Outcome::kFound);
      EXPECT_LE(found->statistics.expanded, graph_.node_count());
    }
  }
}

TEST_F(GraphSearchCliffTest, FloodsAndFlowsExpandEachNodeOnce) {
  for (const GraphSense sense : {GraphSense::kFromSeeds, GraphSense::kToSeeds}) {
    const auto reached =
        FindReachableNodes(graph_, {.start = NodeAt(0, 0), .sense = sense}, {}, scratch_).value();
    EXPECT_EQ(reached.expanded, graph_.node_count());
  }
  for (const bool are_nodes : {false, true}) {
    const std::vector<GraphPlace> goals = Places(250, are_nodes);
    const auto flow = ComputeGraphFlow(graph_, {.goals = goals, .snap_radius = 5.0}, {}, scratch_).value();
    EXPECT_EQ(flow.expanded, graph_.node_count());
  }
}

TEST_F(GraphSearchCliffTest, MatricesFloodFromTheFewerEnds) {
  for (const auto& [starts, goals] : {std::pair(4, 250), std::pair(250, 4), std::pair(32, 100)}) {
    const std::vector<GraphPlace> from = Places(starts, false);
    const std::vector<GraphPlace> to = Places(goals, true);
    const auto matrix =
        ComputeGraphMatrix(graph_, {.starts = from, .goals = to, .snap_radius = 5.0}, {}, scratch_).value();
    EXPECT_LE(matrix.expanded, std::min(starts, goals) * graph_.node_count());
  }
}

}  // namespace
}  // namespace waystar::core
