// To find the node for a position takes what lies near by.
#include <cstdint>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "server/core/graph/search/graph_query.h"
#include "tests/core/cliffs/graph_growth_maps.h"
#include "tests/core/cliffs/work_counter.h"
#include "tests/testing/stop_after.h"

namespace waystar::core {
namespace {

using ::waystar::testing::ExpectFlat;
using ::waystar::testing::ExpectLinear;
using ::waystar::testing::WorkOf;

constexpr double kEverywhere = 1e6;

std::uint64_t WorkOfSnap(const WaypointGraph& graph, const WorldPoint& position) {
  return WorkOf([&] { EXPECT_NE(graph.NearestVisible(position, kEverywhere), kNoNodeNumber); });
}

// All nodes looked at.
TEST(GraphSnapGrowthTest, NodesElsewhere) {
  ExpectFlat(40, [](int columns) { return WorkOfSnap(MakeStreets(columns), {103.0, 104.0}); });
}

// All obstacles looked at.
TEST(GraphSnapGrowthTest, ObstaclesElsewhere) {
  const WaypointGraph streets = MakeStreets(40);
  ExpectFlat(10, [&](int columns) {
    return WorkOfSnap(WithDiscs(streets, MiddlesOfBlocks(columns)), {13.0, 4.0});
  });
}

// The walls of a yard around a position that sees no node.
WaypointGraph WithYard(const WaypointGraph& graph) {
  Obstacle yard{.id = "yard"};
  yard.shape.lines = {{.start = {1, 1}, .end = {9, 1}, .width = 0.5},
                      {.start = {9, 1}, .end = {9, 9}, .width = 0.5},
                      {.start = {9, 9}, .end = {1, 9}, .width = 0.5},
                      {.start = {1, 9}, .end = {1, 1}, .width = 0.5}};
  GraphEditor editor(graph);
  EXPECT_TRUE(editor.PutObstacle(std::make_shared<const Obstacle>(std::move(yard)), false).ok());
  return std::move(editor).Finish();
}

// Nodes looked at more than once.
TEST(GraphSnapGrowthTest, NodesThatAreNotSeen) {
  ExpectLinear(40, [](int columns) {
    const WaypointGraph graph = WithYard(MakeStreets(columns));
    testing::StopAfter looks;
    const std::uint64_t work = WorkOf([&] {
      EXPECT_EQ(graph.NearestVisible({5.0, 5.0}, kEverywhere, &looks), kNoNodeNumber);
    });
    EXPECT_LE(looks.looks(), NodesOfStreets(columns) / 64);
    return work;
  });
}

// Positions compared with each other.
TEST(GraphSnapGrowthTest, Positions) {
  const WaypointGraph graph = WithDiscs(MakeStreets(40), MiddlesOfBlocks(40));
  ExpectLinear(500, [&](int count) {
    std::vector<GraphPlace> places;
    for (int i = 0; i < count; ++i) {
      places.emplace_back(WorldPoint{i % 389 + 0.5, 10.0 * (i % 19) + 2.25});
    }
    return WorkOf([&] { EXPECT_TRUE(FindSeats(graph, places, kEverywhere, "goals").ok()); });
  });
}

}  // namespace
}  // namespace waystar::core
