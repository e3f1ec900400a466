// How an agent's profile and overlay make it move, and what they make of the map.

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/query/solve.h"
#include "tests/core/query/route_test.h"

namespace waystar::core {
namespace {

class ProfileOfQueryTest : public RouteTest {
 protected:
  double CostOf(const std::string& map, const RouteQuery& query) {
    const absl::StatusOr<Route> route = Find(map, query);
    EXPECT_TRUE(route.ok()) << route.status();
    return route.ok() && route->path.outcome == Outcome::kFound ? route->path.cost : -1.0;
  }
};

TEST_F(ProfileOfQueryTest, GivesFootprintAndCornerRuleUnlessTheQueryDoes) {
  Create("gate", {".....",  //
                  "..#..",  //
                  "#...#",  //
                  "#####"});
  RouteQuery query = Between({1, 1}, {2, 2});
  EXPECT_EQ(CostOf("gate", query), 2.0);
  query.agent.profile = MovementProfile{.corner_rule = CornerRule::kOneSideFree};
  EXPECT_NEAR(CostOf("gate", query), 1.4142135, 1e-6);
  query.agent.profile->footprint = 2;
  EXPECT_EQ(Told("gate", query), "START_BLOCKED start");
  query.agent.footprint = 1;
  query.agent.corner_rule = CornerRule::kNoCornerCutting;
  EXPECT_EQ(CostOf("gate", query), 2.0);
}

TEST_F(ProfileOfQueryTest, ThreeAgentsGoThreeWays) {
  Create("coast",
         {"....~....",  //
          "....~....",  //
          "#.##~##..",  //
          "#.##s##..",  //
          "........."},
         Sea());
  const MovementProfile hovercraft = {.terrain_costs = {{'~', 1.0}}, .forbidden_terrains = {'s'}};
  Apply("coast", {PutProfile{{"hovercraft", hovercraft}}, PutProfile{{"tank", {.footprint = 2}}}});
  RouteQuery query = Between({1, 0}, {7, 0});
  EXPECT_EQ(CostOf("coast", query), 14.0);
  query.agent.profile_name = "hovercraft";
  EXPECT_EQ(CostOf("coast", query), 6.0);
  query.agent.profile_name = "tank";
  EXPECT_EQ(Told("coast", query), "no way");
  query = Between({1, 0}, {8, 0});
  EXPECT_NEAR(CostOf("coast", query), 14.4142135, 1e-6);
  query.agent.profile = MovementProfile{.no_diagonals = true};
  EXPECT_EQ(CostOf("coast", query), 15.0);
}

TEST_F(ProfileOfQueryTest, NamesAreThoseOfTheRevision) {
  Create("coast", {"..~..", "....."}, Sea());
  RouteQuery query = Between({0, 0}, {4, 0});
  query.agent.profile_name = "boat";
  EXPECT_EQ(Told("coast", query), "PROFILE_NOT_FOUND agent.profile_name");
  Apply("coast", {PutProfile{{"boat", {.terrain_costs = {{'~', 1.0}}}}}});
  EXPECT_EQ(CostOf("coast", query), 4.0);
  Apply("coast", {PutProfile{{"boat", {.terrain_costs = {{'~', 1.5}}}}}});
  EXPECT_EQ(CostOf("coast", query), 4.5);
  Apply("coast", {RemoveProfile{"boat"}});
  EXPECT_EQ(Told("coast", query), "PROFILE_NOT_FOUND agent.profile_name");
  query.agent.profile_name = "no such name";
  EXPECT_EQ(Told("coast", query), "BAD_PROFILE agent.profile_name");
}

TEST_F(ProfileOfQueryTest, BadOnesNameTheField) {
  Create("coast", {"..~.."}, Sea());
  const auto told = [&](const MovementProfile& profile) {
    RouteQuery query = Between({0, 0}, {1, 0});
    query.agent.profile = profile;
    return Told("coast", query);
  };
  EXPECT_EQ(told({.footprint = 33}), "BAD_VALUE agent.profile.footprint");
  EXPECT_EQ(told({.required_tags = {""}}), "BAD_PROFILE agent.profile.required_tags[0]");
  RouteQuery query = Between({0, 0}, {1, 0});
  query.agent.footprint = 33;
  EXPECT_EQ(Told("coast", query), "BAD_VALUE agent.footprint");
}

// A room with a guard in the middle and fire in a corner, and the way past him. What is asked with an overlay
// must leave the map, and the answer to the plain query, as they were.
class OverlayOfQueryTest : public RouteTest {
 protected:
  OverlayOfQueryTest() {
    Create("room", {".......",  //
                    ".......",  //
                    "......."});
    Obstacle fire{.id = "fire", .shape = {.cells = {{6, 2}}}};
    fire.effect = {.kind = ObstacleEffect::Kind::kAddCost, .amount = 4};
    Apply("room", {PutObstacle{.obstacle = {.id = "guard", .shape = {.cells = {{3, 1}}}}},
                   PutObstacle{.obstacle = fire}});
    plain_ = ToldWith({});
    state_ = State();
  }
  void TearDown() override {
    EXPECT_EQ(State(), state_);
    EXPECT_EQ(ToldWith({}), plain_);
  }

  std::string ToldWith(const Overlay& overlay, Cell start = {0, 1}, SearchRecorder* recorder = nullptr) {
    RouteQuery query = Between(start, {6, 1});
    query.algorithm = Algorithm::kAStar;
    query.agent.overlay = overlay;
    return ToldOf(Find("room", query, {}, recorder));
  }

  // All that can be seen of the map without an overlay.
  std::string State() {
    const PinnedSnapshot snapshot = *store_.Pin("room");
    const GridMap& map = snapshot->grid();
    std::string state = absl::StrCat(snapshot->revision, " ", map.walkable_cells(), "\n");
    for (int y = 0; y < map.height(); ++y) {
      for (int x = 0; x < map.width(); ++x) {
        absl::StrAppend(&state, map.IsWalkable({x, y}) ? map.StraightCost({x, y}) : Cost{0}, " ");
      }
    }
    map.obstacles().VisitAfter("", [&](const Obstacle& obstacle) {
      absl::StrAppend(&state, obstacle.id, Show(obstacle.shape.cells), obstacle.effect.amount);
      return true;
    });
    return state;
  }

  std::string plain_;
  std::string state_;
};

constexpr char kStraight[] = "6: (0, 1) (1, 1) (2, 1) (3, 1) (4, 1) (5, 1) (6, 1)";

TEST_F(OverlayOfQueryTest, BlockedCellsAreInTheWay) {
  EXPECT_THAT(ToldWith({.blocked = {.cells = {{3, 0}, {1, 1}}}}), ::testing::HasSubstr("(3, 2)"));
  EXPECT_EQ(ToldWith({.blocked = {.rectangles = {{.x = 5, .y = 0, .width = 1, .height = 3}}}}), "no way");
}

TEST_F(OverlayOfQueryTest, IgnoredObstaclesAreNotThere) {
  EXPECT_EQ(ToldWith({.ignored_obstacles = {"guard"}}), kStraight);
  EXPECT_EQ(ToldWith({.ignored_obstacles = {"nobody", "guard", "guard"}}), kStraight);
  EXPECT_EQ(ToldWith({.ignored_obstacles = {"guard"}}, {3, 1}), "3: (3, 1) (4, 1) (5, 1) (6, 1)");
  // What the overlay blocks it blocks all the same.
  EXPECT_EQ(ToldWith({.blocked = {.cells = {{3, 1}}}, .ignored_obstacles = {"guard"}}), plain_);
  EXPECT_EQ(ToldWith({.ignored_obstacles = {"Guard", "guard2"}}), plain_);
}

TEST_F(OverlayOfQueryTest, NoKindChangesTheMap) {
  const std::pair<const char*, Overlay> kinds[] = {
      {"what is blocked already", {.blocked = {.cells = {{3, 1}}}}},
      {"an obstacle that costs", {.ignored_obstacles = {"fire"}}},
      {"all obstacles", {.blocked = {.cells = {{0, 0}}}, .ignored_obstacles = {"guard", "fire"}}},
      {"the whole map", {.blocked = {.rectangles = {{0, 0, 7, 3}}}}},
      {"what is refused", {.blocked = {.cells = {{0, 0}, {7, 0}}}, .ignored_obstacles = {"guard"}}},
  };
  for (const auto& [kind, overlay] : kinds) {
    SCOPED_TRACE(kind);
    ToldWith(overlay);
    EXPECT_EQ(State(), state_);
    EXPECT_EQ(ToldWith({}), plain_);
  }
}

TEST_F(OverlayOfQueryTest, BlockedShapesAreInTheWay) {
  // The disc and the polygon stick out of the map.
  const std::string told = ToldWith({.blocked = {.discs = {{{1.5, -1}, 2.1}},
                                                 .polygons = {{{{2.5, -9}, {3.5, -9}, {3.5, 0.5}}}},
                                                 .lines = {{{5, 2}, {5, 1}, 0}}}});
  EXPECT_THAT(told, ::testing::AllOf(::testing::HasSubstr("(3, 2)"), ::testing::HasSubstr("(5, 0)")));
  for (const char* cell : {"(1, 1)", "(2, 1)", "(3, 0)", "(5, 1)", "(5, 2)"}) {
    EXPECT_THAT(told, ::testing::Not(::testing::HasSubstr(cell)));
  }
}

TEST_F(OverlayOfQueryTest, TracesSeeWhatTheQuerySees) {
  SearchRecorder recorder(1000);
  const Overlay overlay = {.blocked = {.cells = {{2, 1}}}, .ignored_obstacles = {"guard"}};
  EXPECT_EQ(ToldWith(overlay, {0, 1}, &recorder), ToldWith(overlay));
  const auto is_at = [](Cell cell) { return ::testing::Field(&SearchEvent::cell, cell); };
  EXPECT_THAT(recorder.cells.events(), ::testing::Contains(is_at({3, 1})));
  EXPECT_THAT(recorder.cells.events(), ::testing::Not(::testing::Contains(is_at({2, 1}))));
}

TEST_F(OverlayOfQueryTest, StartAndGoalMayBeBlockedByIt) {
  EXPECT_EQ(ToldWith({.blocked = {.cells = {{0, 1}}}}), "START_BLOCKED start");
  EXPECT_EQ(ToldWith({.blocked = {.cells = {{6, 1}}}}), "GOAL_BLOCKED goals[0]");
}

TEST_F(OverlayOfQueryTest, BadOnesNameTheField) {
  EXPECT_EQ(ToldWith({.blocked = {.cells = {{7, 0}}}}), "OFF_MAP view.overlay.blocked");
  EXPECT_EQ(ToldWith({.blocked = {.discs = {{{1, 0}, 0.5}, {{1, 0}, -1}}}}),
            "BAD_DISC view.overlay.blocked.discs[1].radius");
  EXPECT_EQ(ToldWith({.ignored_obstacles = {"guard", "the guard"}}),
            "BAD_OBSTACLE_ID view.overlay.ignored_obstacles[1]");
  EXPECT_EQ(ToldWith({.ignored_obstacles = std::vector<std::string>(1001, "guard")}),
            "BAD_VALUE view.overlay.ignored_obstacles");
}

TEST_F(OverlayOfQueryTest, LiesOverWhatTheProfileSees) {
  Create("coast", {".~.", "..."}, Sea());
  RouteQuery query = Between({0, 0}, {2, 0});
  query.agent.profile = MovementProfile{.terrain_costs = {{'~', 1.0}}};
  EXPECT_EQ(Told("coast", query), "2: (0, 0) (1, 0) (2, 0)");
  query.agent.overlay = Overlay{.blocked = {.cells = {{1, 0}}}};
  EXPECT_EQ(Told("coast", query), "4: (0, 0) (0, 1) (1, 1) (2, 1) (2, 0)");
}

}  // namespace
}  // namespace waystar::core
