// World positions, snapping and summaries over the wire.

#include <limits>

#include "gmock/gmock.h"
#include "tests/rpc/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::PathRequest;
using ::waystar::testing::Show;
using ::waystar::testing::TestServer;

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

  TestServer server_;
};

TEST_F(PositionTest, AnswersGiveCellsAndCentres) {
  const v1::FindPathResponse answer = server_.Find(Between(At(-2, -1), At(-1.01, -0.99)));
  EXPECT_EQ(Show(answer.points()), "(0, 0) (1, 0)");
  ASSERT_EQ(answer.positions_size(), 2);
  EXPECT_EQ(answer.positions(1).x(), -1.25);
  EXPECT_EQ(answer.positions(1).y(), -0.75);
  EXPECT_EQ(answer.positions(1).z(), 7);
  EXPECT_EQ(answer.start().x(), 0);

  v1::FindPathRequest cells = PathRequest("room", CellAt(0, 0), CellAt(1, 0));
  EXPECT_EQ(server_.Find(cells).positions_size(), 0);
  cells.set_with_positions(true);
  EXPECT_EQ(server_.Find(cells).positions_size(), 2);

  v1::GetMapRequest get;
  get.set_map("room");
  const auto info = server_.client().GetMap(get);
  EXPECT_EQ(info->info().grid().cell_size(), 0.5);
  EXPECT_EQ(info->info().grid().origin().x(), -2);
}

TEST_F(PositionTest, SnapsWithinTheRadius) {
  v1::FindPathRequest query = Between(At(0.2, 0.2), At(1.7, 0.7));
  query.set_snap_radius(1);
  EXPECT_EQ(server_.Find(query).start().x(), 5);
  EXPECT_EQ(server_.Find(query).start().y(), 2);
}

TEST_F(PositionTest, TheNearestOfSeveralGoalsIsGoneTo) {
  v1::FindPathRequest query = PathRequest("room", CellAt(0, 0), CellAt(0, 0));
  query.clear_goal();
  *query.add_goal_positions() = At(1.9, 0.9);
  *query.add_goal_positions() = At(-1.4, 0.9);
  *query.add_goal_positions() = At(-0.6, -0.9);
  const v1::FindPathResponse answer = server_.Find(query);
  EXPECT_EQ(answer.outcome(), v1::OUTCOME_FOUND);
  EXPECT_EQ(answer.goal_index(), 2);
  EXPECT_EQ(Show(answer.points()), "(0, 0) (1, 0) (2, 0)");
  ASSERT_EQ(answer.positions_size(), 3);
  EXPECT_EQ(answer.positions(2).x(), -0.75);
}

TEST_F(PositionTest, BadFramesNameTheField) {
  const double not_a_number = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
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

TEST_F(PositionTest, SummaryIsToldOnRequest) {
  v1::FindPathRequest query = PathRequest("room", CellAt(0, 0), CellAt(7, 3));
  EXPECT_FALSE(server_.Find(query).has_summary());
  query.set_with_summary(true);
  const v1::FindPathResponse found = server_.Find(query);
  EXPECT_GT(found.summary().turns(), 0);
  ASSERT_EQ(found.summary().legs_size(), 1);
  EXPECT_EQ(found.summary().legs(0).terrain(), ".");
  EXPECT_GT(found.summary().legs(0).cells(), 0);
  EXPECT_NEAR(found.summary().legs(0).cost(), found.cost(), 1e-9);
  EXPECT_NEAR(found.summary().legs(0).length(), found.cost() / 2, 1e-6);
  EXPECT_NEAR(found.summary().length(), found.cost() / 2, 1e-6);
}

}  // namespace
}  // namespace waystar
