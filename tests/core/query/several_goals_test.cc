// Routes to the nearest of several goals, cells or positions.

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/query/route_query.h"
#include "tests/core/query/route_test.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

using ::waystar::testing::Random;
using ::waystar::testing::RouteTest;

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

// A map of half units around the middle of the world: cell (0, 0) begins at (-2, -1).
class SeveralGoalsTest : public RouteTest {
 protected:
  SeveralGoalsTest() {
    Create("room",
           {"........",  //
            "...##...",  //
            "...##...",  //
            "........"},
           {.frame = {.origin = {-2, -1}, .cell_size = 0.5}});
  }

  // "goal 2: (0, 0) (1, 0)", or what is wrong.
  std::string Nearest(const RouteQuery& query, const std::string& map = "room") {
    const absl::StatusOr<Route> route = Find(map, query);
    if (!route.ok()) {
      return absl::StrCat(ErrorReasonOf(route.status()), " ", ErrorFieldOf(route.status()));
    }
    return route->path.outcome == Outcome::kFound
               ? absl::StrCat("goal ", route->goal_index, ": ", testing::Show(route->path.points))
               : "none";
  }
};

TEST_F(SeveralGoalsTest, TheNearestIsGoneTo) {
  RouteQuery query = From({0, 0}, {{1.9, 0.9}, {-1.4, 0.9}, {-0.6, -0.9}});
  EXPECT_EQ(Nearest(query), "goal 2: (0, 0) (1, 0) (2, 0)");
  EXPECT_EQ(Find("room", query)->positions.back(), (WorldPoint{-0.75, -0.75}));
  // Of two in one cell the first.
  query.goals.push_back({.position = WorldPoint{-0.9, -0.7}});
  EXPECT_EQ(Nearest(query), "goal 2: (0, 0) (1, 0) (2, 0)");
  // One may be alone.
  EXPECT_EQ(Nearest(From({0, 0}, {{-1.4, -0.9}})), "goal 0: (0, 0) (1, 0)");
}

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

TEST_F(SeveralGoalsTest, NoneWithinReachIsAnAnswer) {
  Create("halves", {"..#.."});
  EXPECT_EQ(Nearest(From({0, 0}, {{3.5, 0.5}, {4.5, 0.5}}), "halves"), "none");
}

TEST_F(SeveralGoalsTest, BadOnesNameTheField) {
  const auto told = [&](const std::function<void(RouteQuery&)>& change) {
    RouteQuery query = From({0, 0}, {{1.9, 0.9}, {-1.4, 0.9}});
    change(query);
    return Nearest(query);
  };
  EXPECT_EQ(
      told([](RouteQuery& query) { query.goals[1].position->y = std::numeric_limits<double>::quiet_NaN(); }),
      "BAD_VALUE goals[1].position.y");
  EXPECT_EQ(
      told([](RouteQuery& query) { query.goals[0].position->x = std::numeric_limits<double>::infinity(); }),
      "BAD_VALUE goals[0].position.x");
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
  EXPECT_THAT(CheckOneGoal(testing::Between({0, 0}, {1, 0})), testing::IsOk());
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
    ASSERT_THAT(store_.Delete("round"), testing::IsOk());
  }
}

}  // namespace
}  // namespace waystar::core
