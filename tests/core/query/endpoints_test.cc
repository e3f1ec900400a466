// Where a route begins and ends: cells, positions, and what they snap to.

#include <atomic>
#include <functional>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "tests/core/query/route_test.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::waystar::testing::Between;
using ::waystar::testing::Block;
using ::waystar::testing::RouteTest;

RouteQuery BetweenPositions(WorldPoint start, WorldPoint goal) {
  return {.start = {.position = start}, .goals = {{.position = goal}}};
}

// A map of half units around the middle of the world: cell (0, 0) begins at (-2, -1).
class EndpointsTest : public RouteTest {
 protected:
  EndpointsTest() {
    Create("room",
           {"........",  //
            "...##...",  //
            "...##...",  //
            "........"},
           {.frame = {.origin = {-2, -1, 7}, .cell_size = 0.5}});
  }

  // "(5, 2)", where a route begins.
  std::string StartOf(const RouteQuery& query) {
    const auto resolved = Resolve("room", query);
    EXPECT_TRUE(resolved.ok()) << resolved.status();
    return resolved.ok() ? testing::Show({&resolved->grid().path.start, 1}) : "";
  }

  std::string GoalOf(const RouteQuery& query) {
    const auto resolved = Resolve("room", query);
    EXPECT_TRUE(resolved.ok()) << resolved.status();
    return resolved.ok() ? testing::Show({&resolved->grid().path.goal, 1}) : "";
  }
};

TEST_F(EndpointsTest, PositionsAreTheCellsThatHoldThem) {
  EXPECT_EQ(Told("room", BetweenPositions({-2, -1}, {-1.01, -0.99})), "1: (0, 0) (1, 0)");
  // On the edge between two cells: the one with the larger coordinate.
  EXPECT_EQ(StartOf(BetweenPositions({-1.5, -0.5}, {0, 0.5})), "(1, 1)");
}

TEST_F(EndpointsTest, CentresAreToldIfAPositionWasGivenOrTheyWereAskedFor) {
  EXPECT_THAT(Find("room", BetweenPositions({-2, -1}, {-1.01, -0.99}))->positions,
              ElementsAre(WorldPoint{-1.75, -0.75, 7}, WorldPoint{-1.25, -0.75, 7}));
  RouteQuery cells = Between({0, 0}, {1, 0});
  EXPECT_THAT(Find("room", cells)->positions, IsEmpty());
  cells.with_positions = true;
  EXPECT_THAT(Find("room", cells)->positions, ::testing::SizeIs(2));
}

TEST_F(EndpointsTest, ErrorsBlameWhatWasGiven) {
  EXPECT_EQ(Told("room", BetweenPositions({2, 0}, {0, 0.5})), "OFF_MAP start");
  EXPECT_EQ(Told("room", BetweenPositions({0, 0.5}, {0, -1.001})), "OFF_MAP goals[0]");
  EXPECT_EQ(Told("room", BetweenPositions({0, 0}, {0, 0.5})), "START_BLOCKED start");
  EXPECT_EQ(Told("room", BetweenPositions({0, 0.5}, {0, 0})), "GOAL_BLOCKED goals[0]");
  EXPECT_EQ(Told("room", Between({8, 0}, {0, 0})), "OFF_MAP start");
  EXPECT_EQ(Told("room", Between({0, 0}, {0, -1})), "OFF_MAP goals[0]");
  EXPECT_EQ(Told("room", Between({3, 1}, {0, 0})), "START_BLOCKED start");
  EXPECT_EQ(Told("room", Between({0, 0}, {4, 2})), "GOAL_BLOCKED goals[0]");
}

TEST_F(EndpointsTest, SnapToTheNearestFreeCellWithinTheRadius) {
  RouteQuery query = BetweenPositions({0.2, 0.2}, {1.7, 0.7});
  query.snap = Snap{0.1};
  EXPECT_EQ(Told("room", query), "START_BLOCKED start");
  query.snap = Snap{1};
  EXPECT_EQ(StartOf(query), "(5, 2)");
  // Cells as well, and from off the map.
  query = Between({3, 1}, {9, 3});
  query.snap = Snap{1.25};
  EXPECT_EQ(StartOf(query), "(3, 0)");
  EXPECT_EQ(GoalOf(query), "(7, 3)");
  // For the agent that asks, on the map that it sees.
  query.snap = Snap{2};
  query.agent.footprint = 2;
  EXPECT_EQ(StartOf(query), "(1, 1)");
  query.agent.footprint = 1;
  query.agent.overlay = Overlay{.blocked = {.cells = {{3, 0}}}};
  EXPECT_EQ(StartOf(query), "(2, 1)");
}

TEST_F(EndpointsTest, SnapAgainOnTheNextRevision) {
  RouteQuery query = BetweenPositions({0.2, 0.2}, {1.7, 0.2});
  query.snap = Snap{2};
  EXPECT_EQ(StartOf(query), "(5, 2)");
  Apply("room", {Block({5, 2})});
  EXPECT_EQ(StartOf(query), "(4, 3)");
}

TEST_F(EndpointsTest, BadOnesNameTheField) {
  const auto told = [&](const std::function<void(RouteQuery&)>& change) {
    RouteQuery query = BetweenPositions({-2, -1}, {1, 0.5});
    change(query);
    return Told("room", query);
  };
  constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(told([](RouteQuery& query) { query.start = {}; }), "MISSING_FIELD start");
  EXPECT_EQ(told([](RouteQuery& query) { query.goals[0] = {}; }), "MISSING_FIELD goals[0]");
  EXPECT_EQ(told([](RouteQuery& query) { query.goals.clear(); }), "MISSING_FIELD goals");
  EXPECT_EQ(told([](RouteQuery& query) { query.start.position->x = kNotANumber; }),
            "BAD_VALUE start.position.x");
  EXPECT_EQ(told([](RouteQuery& query) { query.goals[0].position->y = -kInfinite; }),
            "BAD_VALUE goals[0].position.y");
  for (const double radius : {0.0, -1.0, kNotANumber, kInfinite}) {
    EXPECT_EQ(told([radius](RouteQuery& query) { query.snap = Snap{radius}; }), "BAD_VALUE snap.radius");
  }
}

TEST_F(EndpointsTest, SnappingEndsWithTheBudget) {
  const std::atomic<bool> cancelled = true;
  RouteQuery query = Between({0, 0}, {7, 3});
  query.snap = Snap{3};
  EXPECT_TRUE(Resolve("room", query, {.cancelled = &cancelled}).ok()) << "nothing is to be snapped";
  query.goals[0].cell = Cell{4, 1};
  EXPECT_EQ(Resolve("room", query, {.cancelled = &cancelled}).status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace waystar::core
