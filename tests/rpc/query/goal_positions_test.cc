// The nearest of several goals that are positions, over the wire.

#include <limits>

#include "gmock/gmock.h"
#include "tests/rpc/test_server.h"
#include "tests/rpc/watch/watch_of_path.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::kOutOfRange;
using ::waystar::testing::Show;
using ::waystar::testing::TestServer;
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
  // One alone is one of several.
  query.mutable_goal_positions()->DeleteSubrange(1, 2);
  answer = Find(query);
  EXPECT_TRUE(answer.has_goal_index());
  EXPECT_EQ(answer.goal_index(), 0);
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
  v1::FindPathRequest query = From(CellAt(0, 0));
  AddGoal(query, 1.9, 0.9);
  AddGoal(query, 2, 0);
  EXPECT_THAT(server_.client().FindPath(query), IsRefused(kOutOfRange, "OFF_MAP", "goal_positions[1]"));
  query.mutable_goal_positions(1)->set_y(std::numeric_limits<double>::quiet_NaN());
  EXPECT_THAT(server_.client().FindPath(query), IsRefused(kInvalid, "BAD_VALUE", "goal_positions[1].y"));
  while (query.goal_positions_size() <= 1000) {
    AddGoal(query, 0, 0.9);
  }
  query.mutable_goal_positions(1)->set_y(0);
  EXPECT_THAT(server_.client().FindPath(query),
              IsRefused(absl::StatusCode::kResourceExhausted, "TOO_MANY_ITEMS", "goal_positions"));
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

}  // namespace
}  // namespace waystar
