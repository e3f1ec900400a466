// The nearest of several goals that are positions, over the wire.

#include <atomic>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/map/grid_map.h"
#include "server/core/search/query.h"
#include "server/rpc/query/placement.h"
#include "tests/rpc/test_server.h"
#include "tests/rpc/watch/watch_of_path.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/random.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::kOutOfRange;
using ::waystar::testing::Random;
using ::waystar::testing::Show;
using ::waystar::testing::TestServer;
using ::waystar::testing::Update;
using ::waystar::testing::WatchOfPath;

constexpr absl::StatusCode kGoalsRefused = absl::StatusCode::kFailedPrecondition;

// A map of half units around the middle of the world: cell (0, 0) begins at (-2, -1).
class GoalPositionsTest : public ::testing::Test {
 protected:
  GoalPositionsTest() {
    v1::GridOptions grid;
    grid.mutable_origin()->set_x(-2);
    grid.mutable_origin()->set_y(-1);
    grid.set_cell_size(0.5);
    server_.Create("room",
                   {"........",  //
                    "...##...",  //
                    "...##...",  //
                    "........"},
                   grid);
  }

  static void AddGoal(v1::FindPathRequest& query, double x, double y) {
    v1::Position& goal = *query.add_goal_positions();
    goal.set_x(x);
    goal.set_y(y);
  }

  static v1::FindPathRequest From(const v1::Cell& start) {
    v1::FindPathRequest query;
    query.set_map("room");
    *query.mutable_start() = start;
    return query;
  }

  v1::FindPathResponse Find(const v1::FindPathRequest& query) {
    const auto found = server_.client().FindPath(query);
    EXPECT_TRUE(found.ok()) << found.status();
    return found.ok() ? *found : v1::FindPathResponse();
  }

  TestServer server_;
};

TEST_F(GoalPositionsTest, TheNearestIsGoneTo) {
  v1::FindPathRequest query = From(CellAt(0, 0));
  AddGoal(query, 1.9, 0.9);
  AddGoal(query, -1.4, 0.9);
  AddGoal(query, -0.6, -0.9);
  v1::FindPathResponse answer = Find(query);
  EXPECT_EQ(answer.outcome(), v1::OUTCOME_FOUND);
  EXPECT_EQ(answer.goal_index(), 2);
  EXPECT_EQ(Show(answer.points()), "(0, 0) (1, 0) (2, 0)");
  ASSERT_EQ(answer.positions_size(), 3);
  EXPECT_EQ(answer.positions(2).x(), -0.75);
  // Of two in one cell the first.
  AddGoal(query, -0.9, -0.7);
  EXPECT_EQ(Find(query).goal_index(), 2);
  // One alone is one of several.
  query.mutable_goal_positions()->DeleteSubrange(1, 3);
  answer = Find(query);
  EXPECT_TRUE(answer.has_goal_index());
  EXPECT_EQ(answer.goal_index(), 0);
}

TEST_F(GoalPositionsTest, EachSnapsToTheNearestFreeCell) {
  v1::FindPathRequest query = From(CellAt(0, 1));
  AddGoal(query, 1.7, -0.8);
  AddGoal(query, -0.4, -0.2);
  EXPECT_EQ(Find(query).goal_index(), 0);
  query.set_snap_radius(0.5);
  const v1::FindPathResponse answer = Find(query);
  EXPECT_EQ(answer.goal_index(), 1);
  EXPECT_EQ(answer.end().x(), 2);
  EXPECT_EQ(answer.end().y(), 1);

  // From off the map.
  query.clear_goal_positions();
  AddGoal(query, -2.2, 0.6);
  EXPECT_EQ(Find(query).end().y(), 3);
  // For the agent that asks.
  query = From(CellAt(5, 0));
  AddGoal(query, 1.9, 0.9);
  query.set_footprint(2);
  query.set_snap_radius(1);
  EXPECT_EQ(Find(query).end().x(), 6);
  EXPECT_EQ(Find(query).end().y(), 2);
}

TEST_F(GoalPositionsTest, SeveralCellsSnapAsOneDoes) {
  v1::FindPathRequest query = From(CellAt(0, 1));
  *query.add_goals() = CellAt(7, 0);
  *query.add_goals() = CellAt(3, 1);
  EXPECT_EQ(Find(query).goal_index(), 0);
  query.set_snap_radius(0.5);
  EXPECT_EQ(Find(query).goal_index(), 1);
  EXPECT_EQ(Find(query).end().x(), 3);
  EXPECT_EQ(Find(query).end().y(), 0);
  EXPECT_EQ(Find(query).positions_size(), 0);
}

TEST_F(GoalPositionsTest, BlockedOnesArePassedOverUnlessAllAre) {
  v1::FindPathRequest query = From(CellAt(0, 0));
  AddGoal(query, -0.4, -0.2);
  EXPECT_THAT(server_.client().FindPath(query), IsRefused(kGoalsRefused, "GOAL_BLOCKED", "goal_positions"));
  AddGoal(query, 1.9, 0.9);
  EXPECT_EQ(Find(query).goal_index(), 1);
}

TEST_F(GoalPositionsTest, NoneWithinReachIsAnAnswer) {
  server_.Create("halves", {"..#.."});
  v1::FindPathRequest query = From(CellAt(0, 0));
  query.set_map("halves");
  AddGoal(query, 3.5, 0.5);
  AddGoal(query, 4.5, 0.5);
  const v1::FindPathResponse answer = Find(query);
  EXPECT_EQ(answer.outcome(), v1::OUTCOME_UNREACHABLE);
  EXPECT_FALSE(answer.has_goal_index());
}

TEST_F(GoalPositionsTest, BadOnesNameTheField) {
  const auto expect = [&](const std::function<void(v1::FindPathRequest&)>& change, absl::StatusCode code,
                          const std::string& reason, const std::string& field) {
    v1::FindPathRequest query = From(CellAt(0, 0));
    AddGoal(query, 1.9, 0.9);
    AddGoal(query, -1.4, 0.9);
    change(query);
    EXPECT_THAT(server_.client().FindPath(query), IsRefused(code, reason, field));
  };
  const double not_a_number = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  expect([&](auto& query) { query.mutable_goal_positions(1)->set_y(not_a_number); }, kInvalid, "BAD_VALUE",
         "goal_positions[1].y");
  expect([&](auto& query) { query.mutable_goal_positions(0)->set_x(-infinite); }, kInvalid, "BAD_VALUE",
         "goal_positions[0].x");
  expect([](auto& query) { *query.mutable_goal() = CellAt(0, 0); }, kInvalid, "BAD_VALUE", "goal_positions");
  expect([](auto& query) { query.mutable_goal_position(); }, kInvalid, "BAD_VALUE", "goal_positions");
  expect([](auto& query) { *query.add_goals() = CellAt(0, 0); }, kInvalid, "BAD_VALUE", "goal_positions");
  expect([](auto& query) { query.set_unreachable_policy(v1::UNREACHABLE_POLICY_NEAREST_BY_DISTANCE); },
         kInvalid, "BAD_VALUE", "goal_positions");
  expect([](auto& query) { query.set_algorithm(v1::ALGORITHM_LAZY_THETA_STAR); }, kInvalid, "BAD_VALUE",
         "goal_positions");
  expect([](auto& query) { AddGoal(query, 2, 0); }, kOutOfRange, "OFF_MAP", "goal_positions[2]");
  expect(
      [](auto& query) {
        AddGoal(query, 2.6, 0);
        query.set_snap_radius(0.25);
      },
      kOutOfRange, "OFF_MAP", "goal_positions[2]");
  expect(
      [](auto& query) {
        while (query.goal_positions_size() <= 1000) {
          AddGoal(query, 0, 0.9);
        }
      },
      absl::StatusCode::kResourceExhausted, "TOO_MANY_ITEMS", "goal_positions");
  expect([](auto& query) { query.set_goal_map("attic"); }, absl::StatusCode::kNotFound, "MAP_NOT_FOUND",
         "goal_map");
}

TEST_F(GoalPositionsTest, TracesAndWatchesHaveOneGoal) {
  v1::TraceSearchRequest trace;
  *trace.mutable_query() = From(CellAt(0, 0));
  AddGoal(*trace.mutable_query(), 1.9, 0.9);
  EXPECT_THAT(server_.client().TraceSearch(trace, [](const v1::SearchEvent&) {}),
              IsRefused(kInvalid, "BAD_VALUE", "query.goal_positions"));
  const absl::Status end = WatchOfPath(server_, trace.query()).End();
  EXPECT_EQ(client::FieldOf(end), "query.goal_positions");
}

TEST_F(GoalPositionsTest, OnAnotherMapTheyAreInItsFrame) {
  v1::GridOptions large;
  large.mutable_origin()->set_x(100);
  large.set_cell_size(2);
  server_.Create("hall", {"....#"}, large);
  v1::UpdateObstaclesRequest stairs;
  stairs.set_map("room");
  v1::Portal& portal = *stairs.add_edits()->mutable_put_portal()->mutable_portal();
  portal.set_id("stairs");
  *portal.mutable_from() = CellAt(1, 0);
  *portal.mutable_to() = CellAt(0, 0);
  portal.set_to_map("hall");
  Update(server_, stairs);
  v1::FindPathRequest query = From(CellAt(0, 0));
  query.set_goal_map("hall");
  AddGoal(query, 109, 1);
  AddGoal(query, 107, 1);
  AddGoal(query, 103, 1);
  const v1::FindPathResponse answer = Find(query);
  EXPECT_EQ(answer.goal_index(), 2);
  EXPECT_EQ(answer.crossings_size(), 1);
  EXPECT_EQ(answer.positions(answer.positions_size() - 1).x(), 103);
  AddGoal(query, 99, 1);
  EXPECT_THAT(server_.client().FindPath(query), IsRefused(kOutOfRange, "OFF_MAP", "goal_positions[3]"));
}

TEST_F(GoalPositionsTest, QueriesOfFindPathsMayHaveThem) {
  v1::FindPathsRequest request;
  request.set_map("room");
  v1::FindPathRequest query = From(CellAt(0, 1));
  AddGoal(query, -0.4, -0.2);
  *request.add_queries() = query;
  query.set_snap_radius(0.5);
  *request.add_queries() = query;
  // Its own footprint decides where it may be.
  query.set_footprint(2);
  query.set_snap_radius(1);
  *request.add_queries() = query;
  AddGoal(query, 99, 0);
  *request.add_queries() = query;
  const auto answers = server_.client().FindPaths(request);
  ASSERT_TRUE(answers.ok()) << answers.status();
  ASSERT_EQ(answers->results_size(), 4);
  EXPECT_EQ(answers->results(0).problem().code(), static_cast<int>(kGoalsRefused));
  EXPECT_EQ(answers->results(1).answer().goal_index(), 0);
  EXPECT_EQ(answers->results(1).answer().end().x(), 2);
  EXPECT_EQ(answers->results(1).answer().positions_size(), 3);
  EXPECT_EQ(answers->results(2).answer().end().x(), 1);
  EXPECT_EQ(answers->results(3).problem().code(), static_cast<int>(kOutOfRange));
}

// A query for each goal alone is the judge.
TEST_F(GoalPositionsTest, IsTheCheapestOfWhatEachWouldCostAlone) {
  constexpr int kSide = 24;
  Random random(5);
  for (int round = 0; round < 60; ++round) {
    std::vector<std::string> rows(kSide, std::string(kSide, '.'));
    for (std::string& row : rows) {
      for (char& cell : row) {
        cell = random.Chance(0.3) ? '#' : random.Chance(0.2) ? '~' : '.';
      }
    }
    rows[3][4] = '.';
    v1::GridOptions grid;
    grid.set_cell_size(1.5);
    v1::Terrain& mud = *grid.add_terrains();
    mud.set_symbol("~");
    mud.set_cost(2);
    const std::string map = absl::StrCat("round-", round);
    server_.Create(map, rows, grid);
    v1::FindPathRequest several = From(CellAt(4, 3));
    several.set_map(map);
    several.set_snap_radius(random.Between(0, 4) * 0.5);
    std::optional<double> least;
    int first = 0;
    bool is_any_free = false;
    for (int i = 0; i < 5; ++i) {
      AddGoal(several, random.Between(0, 359) * 0.1, random.Between(0, 359) * 0.1);
      v1::FindPathRequest alone = several;
      alone.clear_goal_positions();
      *alone.mutable_goal_position() = several.goal_positions(i);
      const auto answer = server_.client().FindPath(alone);
      is_any_free = is_any_free || answer.ok();
      if (answer.ok() && answer->outcome() == v1::OUTCOME_FOUND && (!least || answer->cost() < *least)) {
        least = answer->cost();
        first = i;
      }
    }
    const auto answer = server_.client().FindPath(several);
    ASSERT_EQ(answer.ok(), is_any_free) << answer.status();
    if (!is_any_free) {
      continue;
    }
    ASSERT_EQ(answer->outcome() == v1::OUTCOME_FOUND, least.has_value());
    if (least) {
      EXPECT_NEAR(answer->cost(), *least, 1e-6);
      EXPECT_EQ(answer->goal_index(), first);
    }
  }
}

TEST(PlaceEndsTest, SnapsEndWithTheBudget) {
  const core::GridMap map = testing::DrawMap({".#.", "###"});
  const std::atomic<bool> cancelled = true;
  const core::Budget budget{.cancelled = &cancelled};
  v1::FindPathRequest request;
  request.set_snap_radius(3);
  *request.add_goals() = CellAt(2, 0);
  core::PathQuery query;
  EXPECT_TRUE(rpc::PlaceEnds(request, map, &map, budget, query).ok());
  *request.add_goals() = CellAt(1, 1);
  EXPECT_EQ(rpc::PlaceEnds(request, map, &map, budget, query).status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace waystar
