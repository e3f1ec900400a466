// World positions, snapping and summaries over the wire.

#include <functional>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "tests/rpc/test_server.h"
#include "tests/rpc/watch/watch_of_path.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::waystar::testing::BlockRequest;
using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::kOutOfRange;
using ::waystar::testing::PathRequest;
using ::waystar::testing::Show;
using ::waystar::testing::TestServer;
using ::waystar::testing::UnblockRequest;
using ::waystar::testing::Update;
using ::waystar::testing::WatchOfPath;

v1::Position At(double x, double y) {
  v1::Position position;
  position.set_x(x);
  position.set_y(y);
  return position;
}

// A map of half units around the middle of the world: cell (0, 0) begins at (-2, -1).
class PositionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    v1::GridOptions grid;
    *grid.mutable_origin() = At(-2, -1);
    grid.mutable_origin()->set_z(7);
    grid.set_cell_size(0.5);
    server_.Create("room",
                   {"........",  //
                    "...##...",  //
                    "...##...",  //
                    "........"},
                   grid);
  }

  static v1::FindPathRequest Between(const v1::Position& start, const v1::Position& goal) {
    v1::FindPathRequest query;
    query.set_map("room");
    *query.mutable_start_position() = start;
    *query.mutable_goal_position() = goal;
    return query;
  }

  v1::FindPathResponse Find(const v1::FindPathRequest& query) {
    const auto found = server_.client().FindPath(query);
    EXPECT_TRUE(found.ok()) << found.status();
    return found.ok() ? *found : v1::FindPathResponse();
  }

  TestServer server_;
};

TEST_F(PositionTest, AnswersGiveCellsAndCentres) {
  const v1::FindPathResponse answer = Find(Between(At(-2, -1), At(-1.01, -0.99)));
  EXPECT_EQ(Show(answer.points()), "(0, 0) (1, 0)");
  ASSERT_EQ(answer.positions_size(), 2);
  EXPECT_EQ(answer.positions(1).x(), -1.25);
  EXPECT_EQ(answer.positions(1).y(), -0.75);
  EXPECT_EQ(answer.positions(1).z(), 7);
  EXPECT_EQ(answer.cost(), 1.0);
  // On the edge between two cells: the one with the larger coordinate.
  EXPECT_EQ(Find(Between(At(-1.5, -0.5), At(0, 0.5))).start().x(), 1);
  EXPECT_EQ(Find(Between(At(-1.5, -0.5), At(0, 0.5))).start().y(), 1);

  v1::FindPathRequest cells = PathRequest("room", CellAt(0, 0), CellAt(1, 0));
  EXPECT_EQ(Find(cells).positions_size(), 0);
  cells.set_with_positions(true);
  EXPECT_EQ(Find(cells).positions_size(), 2);

  v1::GetMapRequest get;
  get.set_map("room");
  const auto info = server_.client().GetMap(get);
  EXPECT_EQ(info->info().grid().cell_size(), 0.5);
  EXPECT_EQ(info->info().grid().origin().x(), -2);
}

TEST_F(PositionTest, OffTheMapAndBlockedNameThePosition) {
  EXPECT_THAT(server_.client().FindPath(Between(At(2, 0), At(0, 0.5))),
              IsRefused(kOutOfRange, "OFF_MAP", "start_position"));
  EXPECT_THAT(server_.client().FindPath(Between(At(0, 0.5), At(0, -1.001))),
              IsRefused(kOutOfRange, "OFF_MAP", "goal_position"));
  EXPECT_THAT(server_.client().FindPath(Between(At(0, 0), At(0, 0.5))),
              IsRefused(absl::StatusCode::kFailedPrecondition, "START_BLOCKED", "start_position"));
  EXPECT_THAT(server_.client().FindPath(Between(At(0, 0.5), At(0, 0))),
              IsRefused(absl::StatusCode::kFailedPrecondition, "GOAL_BLOCKED", "goal_position"));
}

TEST_F(PositionTest, SnapsToTheNearestFreeCell) {
  v1::FindPathRequest query = Between(At(0.2, 0.2), At(1.7, 0.7));
  query.set_snap_radius(0.1);
  EXPECT_FALSE(server_.client().FindPath(query).ok());
  query.set_snap_radius(1);
  EXPECT_EQ(Find(query).start().x(), 5);
  EXPECT_EQ(Find(query).start().y(), 2);
  // Of cells as well, and from off the map.
  v1::FindPathRequest cells = PathRequest("room", CellAt(3, 1), CellAt(9, 3));
  cells.set_snap_radius(1.25);
  const v1::FindPathResponse answer = Find(cells);
  EXPECT_EQ(answer.start().x(), 3);
  EXPECT_EQ(answer.start().y(), 0);
  EXPECT_EQ(answer.end().x(), 7);
  // For the agent that asks.
  cells.set_footprint(2);
  cells.set_snap_radius(2);
  EXPECT_EQ(Find(cells).start().x(), 1);
}

TEST_F(PositionTest, BadValuesNameTheField) {
  const auto expect = [&](const std::function<void(v1::FindPathRequest&)>& change, const std::string& reason,
                          const std::string& field) {
    v1::FindPathRequest query = Between(At(-2, -1), At(1, 0.5));
    change(query);
    EXPECT_THAT(server_.client().FindPath(query), IsRefused(kInvalid, reason, field));
  };
  const double not_a_number = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  expect([](auto& query) { *query.mutable_start() = CellAt(0, 0); }, "BAD_VALUE", "start_position");
  expect([](auto& query) { *query.mutable_goal() = CellAt(0, 0); }, "BAD_VALUE", "goal_position");
  expect([](auto& query) { query.clear_start_position(); }, "MISSING_FIELD", "start");
  expect([](auto& query) { query.clear_goal_position(); }, "MISSING_FIELD", "goal");
  expect([&](auto& query) { *query.mutable_start_position() = At(not_a_number, 0); }, "BAD_VALUE",
         "start_position.x");
  expect([&](auto& query) { *query.mutable_goal_position() = At(0, -infinite); }, "BAD_VALUE",
         "goal_position.y");
  for (const double radius : {-1.0, not_a_number, infinite}) {
    expect([radius](auto& query) { query.set_snap_radius(radius); }, "BAD_VALUE", "snap_radius");
  }
  v1::CreateMapRequest create;
  create.set_map("bad");
  create.add_rows("..");
  for (const double size : {0.0, -1.0, 1e-9, 1e9, not_a_number, infinite}) {
    create.mutable_grid()->set_cell_size(size);
    EXPECT_THAT(server_.client().CreateMap(create), IsRefused(kInvalid, "BAD_VALUE", "grid.cell_size"));
  }
  create.mutable_grid()->clear_cell_size();
  *create.mutable_grid()->mutable_origin() = At(0, not_a_number);
  EXPECT_THAT(server_.client().CreateMap(create), IsRefused(kInvalid, "BAD_VALUE", "grid.origin.y"));
}

TEST_F(PositionTest, SummaryIsInUnitsOfTheWorld) {
  v1::FindPathRequest query = PathRequest("room", CellAt(0, 0), CellAt(7, 3));
  EXPECT_FALSE(Find(query).has_summary());
  query.set_with_summary(true);
  for (const v1::PathForm form :
       {v1::PATH_FORM_EVERY_CELL, v1::PATH_FORM_CORNERS, v1::PATH_FORM_DIRECTIONS}) {
    query.set_path_form(form);
    const v1::PathSummary summary = Find(query).summary();
    EXPECT_GT(summary.turns(), 0);
    ASSERT_EQ(summary.legs_size(), 1);
    EXPECT_EQ(summary.legs(0).terrain(), ".");
    EXPECT_NEAR(summary.legs(0).cost(), Find(query).cost(), 1e-9);
    // Diagonals cost as much as they are long here.
    EXPECT_NEAR(summary.length(), Find(query).cost() / 2, 1e-6);
  }
}

TEST_F(PositionTest, WatchFollowsTheCellThatIsSnappedTo) {
  v1::FindPathRequest query = Between(At(0.2, 0.2), At(1.7, 0.2));
  query.set_snap_radius(2);
  WatchOfPath watch(server_, query);
  EXPECT_EQ(watch.Next().answer().start().x(), 5);
  Update(server_, UnblockRequest("room", {CellAt(4, 2)}));
  EXPECT_EQ(watch.Next().answer().start().x(), 4);
  Update(server_, BlockRequest("room", {CellAt(4, 2), CellAt(5, 2)}));
  EXPECT_EQ(watch.Next().answer().start().y(), 3);
}

}  // namespace
}  // namespace waystar
