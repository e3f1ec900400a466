// Where a route begins and ends: cells, positions, and what they snap to.

#include <atomic>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/query/route_query.h"
#include "tests/core/query/route_test.h"
#include "tests/testing/random.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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
    return resolved.ok() ? Show({&resolved->grid().path.start, 1}) : "";
  }

  std::string GoalOf(const RouteQuery& query) {
    const auto resolved = Resolve("room", query);
    EXPECT_TRUE(resolved.ok()) << resolved.status();
    return resolved.ok() ? Show({&resolved->grid().path.goal, 1}) : "";
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

// Routes to the nearest of several goals, cells or positions.

RouteQuery From(Cell start, const std::vector<WorldPoint>& goals) {
  RouteQuery query = {.start = {.cell = start}};
  for (const WorldPoint& goal : goals) {
    query.goals.push_back({.position = goal});
  }
  return query;
}

RouteQuery FromToCells(Cell start, const std::vector<Cell>& goals) {
  RouteQuery query = {.start = {.cell = start}};
  for (const Cell goal : goals) {
    query.goals.push_back({.cell = goal});
  }
  return query;
}

class SeveralGoalsTest : public EndpointsTest {
 protected:
  // "goal 2: (0, 0) (1, 0)", or what is wrong.
  std::string Nearest(const RouteQuery& query, const std::string& map = "room") {
    const absl::StatusOr<Route> route = Find(map, query);
    if (!route.ok()) {
      return absl::StrCat(ErrorReasonOf(route.status()), " ", ErrorFieldOf(route.status()));
    }
    return route->path.outcome == Outcome::kFound
               ? absl::StrCat("goal ", route->goal_index, ": ", Show(route->path.points))
               : "none";
  }
};

TEST_F(SeveralGoalsTest, EachSnapsToTheNearestFreeCell) {
  RouteQuery query = From({0, 1}, {{1.7, -0.8}, {-0.4, -0.2}});
  EXPECT_EQ(Find("room", query)->goal_index, 0U);
  query.snap = Snap{0.5};
  EXPECT_EQ(Nearest(query), "goal 1: (0, 1) (1, 1) (2, 1)");
  // From off the map.
  query.goals = {{.position = WorldPoint{-2.2, 0.6}}};
  EXPECT_EQ(Nearest(query), "goal 0: (0, 1) (0, 2) (0, 3)");
  // For the agent that asks.
  query = From({6, 1}, {{1.9, 0.9}});
  query.agent.footprint = 2;
  query.snap = Snap{1};
  EXPECT_EQ(Nearest(query), "goal 0: (6, 1) (6, 2)");
}

TEST_F(SeveralGoalsTest, CellsSnapAsOneDoes) {
  RouteQuery query = FromToCells({0, 1}, {{7, 0}, {3, 1}});
  EXPECT_EQ(Find("room", query)->goal_index, 0U);
  query.snap = Snap{0.5};
  const absl::StatusOr<Route> route = Find("room", query);
  EXPECT_EQ(route->goal_index, 1U);
  EXPECT_EQ(route->path.points.back(), (Cell{3, 0}));
  EXPECT_TRUE(route->positions.empty());
}

TEST_F(SeveralGoalsTest, BlockedOnesArePassedOverUnlessAllAre) {
  RouteQuery query = From({0, 0}, {{-0.4, -0.2}});
  EXPECT_EQ(Nearest(query), "GOAL_BLOCKED goals[0]");
  query.goals.push_back({.position = WorldPoint{1.9, 0.9}});
  EXPECT_EQ(Find("room", query)->goal_index, 1U);
  EXPECT_EQ(Nearest(FromToCells({0, 0}, {{3, 1}, {4, 1}})), "GOAL_BLOCKED goals");
}

TEST_F(SeveralGoalsTest, BadOnesNameTheField) {
  const auto told = [&](const std::function<void(RouteQuery&)>& change) {
    RouteQuery query = From({0, 0}, {{1.9, 0.9}, {-1.4, 0.9}});
    change(query);
    return Nearest(query);
  };
  EXPECT_EQ(told([](RouteQuery& query) { query.goals.push_back({}); }), "MISSING_FIELD goals[2]");
  EXPECT_EQ(told([](RouteQuery& query) { query.unreachable_policy = UnreachablePolicy::kNearestByDistance; }),
            "BAD_VALUE goals");
  EXPECT_EQ(told([](RouteQuery& query) { query.algorithm = Algorithm::kLazyThetaStar; }), "BAD_VALUE goals");
  EXPECT_EQ(told([](RouteQuery& query) {
              query.goals.push_back({.position = WorldPoint{2, 0}});
            }),
            "OFF_MAP goals[2]");
  EXPECT_EQ(told([](RouteQuery& query) {
              query.goals.push_back({.position = WorldPoint{2.6, 0}});
              query.snap = Snap{0.25};
            }),
            "OFF_MAP goals[2]");
  EXPECT_EQ(told([](RouteQuery& query) { query.goals.resize(1001, query.goals[0]); }),
            "TOO_MANY_ITEMS goals");
  EXPECT_EQ(told([](RouteQuery& query) { query.goal_map = "attic"; }), "MAP_NOT_FOUND goal_map");
}

TEST_F(SeveralGoalsTest, AreRefusedWhereThereCanBeOne) {
  EXPECT_THAT(CheckOneGoal(Between({0, 0}, {1, 0})), IsOk());
  EXPECT_EQ(ErrorFieldOf(CheckOneGoal(FromToCells({0, 0}, {{1, 0}, {2, 0}}))), "goals");
}

TEST_F(SeveralGoalsTest, OnAnotherMapTheyAreInItsFrame) {
  Create("hall", {"....#"}, {.frame = {.origin = {100, 0}, .cell_size = 2}});
  Apply("room", {PutPortal{.portal = {.id = "stairs", .from = {1, 0}, .to_map = "hall", .to = {0, 0}}}});
  RouteQuery query = From({0, 0}, {{109, 1}, {107, 1}, {103, 1}});
  query.goal_map = "hall";
  EXPECT_EQ(Nearest(query), "goal 2: (0, 0) (1, 0) (0, 0) (1, 0)");
  EXPECT_EQ(Find("room", query)->positions.back(), (WorldPoint{103, 1}));
  query.goals.push_back({.position = WorldPoint{99, 1}});
  EXPECT_EQ(Nearest(query), "OFF_MAP goals[3]");
}

// A query for each goal alone is the judge.
TEST_F(SeveralGoalsTest, TheNearestIsTheCheapestOfWhatEachWouldCostAlone) {
  constexpr int kSide = 24;
  Random random(5);
  GridSettings settings{.frame = {.cell_size = 1.5}};
  settings.terrains.push_back({.symbol = '~', .name = "mud", .cost = 2});
  for (int round = 0; round < 60; ++round) {
    std::vector<std::string> rows(kSide, std::string(kSide, '.'));
    for (std::string& row : rows) {
      for (char& cell : row) {
        cell = random.Chance(0.3) ? '#' : random.Chance(0.2) ? '~' : '.';
      }
    }
    rows[3][4] = '.';
    Create("round", rows, settings);
    RouteQuery several = {.start = {.cell = Cell{4, 3}}};
    if (const int steps = random.Between(0, 4); steps > 0) {
      several.snap = Snap{steps * 0.5};
    }
    std::optional<double> least;
    std::size_t first = 0;
    bool is_any_free = false;
    for (std::size_t i = 0; i < 5; ++i) {
      const double x = random.Between(0, 359) * 0.1;
      several.goals.push_back({.position = WorldPoint{x, random.Between(0, 359) * 0.1}});
      RouteQuery alone = several;
      alone.goals = {several.goals[i]};
      const absl::StatusOr<Route> route = Find("round", alone);
      is_any_free = is_any_free || route.ok();
      if (route.ok() && route->path.outcome == Outcome::kFound && (!least || route->path.cost < *least)) {
        least = route->path.cost;
        first = i;
      }
    }
    const absl::StatusOr<Route> route = Find("round", several);
    ASSERT_EQ(route.ok(), is_any_free) << route.status();
    if (is_any_free) {
      ASSERT_EQ(route->path.outcome == Outcome::kFound, least.has_value());
      EXPECT_NEAR(least.has_value() ? route->path.cost : 0.0, least.value_or(0.0), 1e-6);
      EXPECT_EQ(route->goal_index, first);
    }
    ASSERT_THAT(store_.Delete("round"), IsOk());
  }
}

}  // namespace
}  // namespace waystar::core
