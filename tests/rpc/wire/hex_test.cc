// Maps of hexagons over the wire.

#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/rpc/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::PathRequest;
using ::waystar::testing::TestServer;

constexpr absl::StatusCode kPrecondition = absl::StatusCode::kFailedPrecondition;

class HexMapTest : public ::testing::Test {
 protected:
  HexMapTest() {
    v1::CreateMapRequest request;
    request.set_map("board");
    request.mutable_grid()->set_hexagons(v1::HEX_LAYOUT_ODD_ROWS);
    for (const char* row : {".....",  //
                            ".###.",  //
                            ".....",  //
                            "..#.."}) {
      request.add_rows(row);
    }
    created_ = *client().CreateMap(request);
  }

  const client::Client& client() { return server_.client(); }

  static v1::FindPathRequest ByRows(int from_column, int from_row, int to_column, int to_row) {
    v1::FindPathRequest request =
        PathRequest("board", CellAt(from_column, from_row), CellAt(to_column, to_row));
    request.set_coordinates(v1::HEX_LAYOUT_ODD_ROWS);
    return request;
  }

  std::string Exported() {
    v1::ExportMapRequest request;
    request.set_map("board");
    return client().ExportMap(request)->bytes;
  }

  TestServer server_;
  v1::CreateMapResponse created_;
};

// As one draws odd rows, shifted to the right.
bool TouchOnBoard(const v1::Cell& a, const v1::Cell& b) {
  const double dx = (a.x() + 0.5 * (a.y() & 1)) - (b.x() + 0.5 * (b.y() & 1));
  const double dy = (a.y() - b.y()) * std::sqrt(0.75);
  return std::abs(std::hypot(dx, dy) - 1.0) < 1e-9;
}

TEST_F(HexMapTest, TellsOfItsBoardAndPlane) {
  const v1::GridInfo& grid = created_.info().grid();
  EXPECT_EQ(grid.connectivity(), v1::CONNECTIVITY_SIX);
  EXPECT_EQ(grid.width(), 6);
  EXPECT_EQ(grid.height(), 4);
  EXPECT_EQ(grid.walkable_cells(), 16);
  EXPECT_EQ(grid.hexagons().layout(), v1::HEX_LAYOUT_ODD_ROWS);
  EXPECT_EQ(grid.hexagons().columns(), 5);
  EXPECT_EQ(grid.hexagons().rows(), 4);
  EXPECT_EQ(grid.hexagons().zero().x(), 1);
}

TEST_F(HexMapTest, PathsGoFromHexagonToHexagon) {
  const auto answer = client().FindPath(ByRows(0, 0, 4, 3));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->outcome(), v1::OUTCOME_FOUND);
  EXPECT_EQ(answer->statistics().algorithm(), v1::ALGORITHM_ASTAR);
  ASSERT_THAT(answer->points(), SizeIs(static_cast<int>(answer->cost()) + 1));
  EXPECT_EQ(answer->end().x(), 4);
  EXPECT_EQ(answer->end().y(), 3);
  for (int i = 1; i < answer->points_size(); ++i) {
    EXPECT_TRUE(TouchOnBoard(answer->points(i - 1), answer->points(i))) << i;
  }
  // By cells of the plane, whose rows begin half as many cells further left.
  const auto on_plane = client().FindPath(PathRequest("board", CellAt(1, 0), CellAt(4, 3)));
  ASSERT_TRUE(on_plane.ok()) << on_plane.status();
  EXPECT_EQ(on_plane->cost(), answer->cost());
  EXPECT_EQ(on_plane->points(0).x(), 1);
}

TEST_F(HexMapTest, EachFormIsOneOfTheSamePath) {
  v1::FindPathRequest request = ByRows(0, 0, 4, 0);
  request.set_path_form(v1::PATH_FORM_DIRECTIONS);
  EXPECT_THAT(client().FindPath(request)->directions(),
              ElementsAre(v1::DIRECTION_EAST, v1::DIRECTION_EAST, v1::DIRECTION_EAST, v1::DIRECTION_EAST));
  for (const v1::PathForm form : {v1::PATH_FORM_CORNERS, v1::PATH_FORM_SMOOTHED}) {
    request.set_path_form(form);
    EXPECT_THAT(client().FindPath(request)->points(), SizeIs(2));
  }
  request = ByRows(0, 3, 4, 0);
  request.set_path_form(v1::PATH_FORM_CORNERS);
  request.set_with_summary(true);
  const auto corners = client().FindPath(request);
  ASSERT_TRUE(corners.ok()) << corners.status();
  EXPECT_EQ(corners->summary().length(), corners->cost());
  v1::ValidatePathRequest validation;
  validation.set_map("board");
  validation.set_coordinates(v1::HEX_LAYOUT_ODD_ROWS);
  *validation.mutable_points() = corners->points();
  EXPECT_TRUE(client().ValidatePath(validation)->walkable());
  EXPECT_EQ(client().ValidatePath(validation)->cost(), corners->cost());
}

TEST_F(HexMapTest, PositionsAreThoseOfTheCentres) {
  v1::FindPathRequest request;
  request.set_map("board");
  request.mutable_start_position()->set_x(0.1);
  request.mutable_start_position()->set_y(-0.2);
  // Column 4 of row 3, an odd one.
  request.mutable_goal_position()->set_x(4.5);
  request.mutable_goal_position()->set_y(3 * std::sqrt(0.75));
  request.set_coordinates(v1::HEX_LAYOUT_ODD_ROWS);
  const auto answer = client().FindPath(request);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->start().x(), 0);
  EXPECT_EQ(answer->end().x(), 4);
  EXPECT_EQ(answer->end().y(), 3);
  EXPECT_NEAR(answer->positions(answer->positions_size() - 1).x(), 4.5, 1e-9);
  EXPECT_NEAR(answer->positions(answer->positions_size() - 1).y(), 3 * std::sqrt(0.75), 1e-9);
}

TEST_F(HexMapTest, EditsCountByColumnsAndRowsToo) {
  v1::UpdateObstaclesRequest update;
  update.set_map("board");
  update.set_coordinates(v1::HEX_LAYOUT_ODD_ROWS);
  v1::Shape& blocked = *update.add_edits()->mutable_block();
  v1::Rectangle& rectangle = *blocked.add_rectangles();
  rectangle.set_x(3);
  rectangle.set_y(2);
  rectangle.set_width(2);
  rectangle.set_height(2);
  *update.add_edits()->mutable_unblock()->add_cells() = CellAt(2, 1);
  const auto updated = client().UpdateObstacles(update);
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(updated->changed_cells(), 5);
  EXPECT_THAT(Exported(), ::testing::EndsWith("map\n"
                                              ".....\n"
                                              ".#.#.\n"
                                              "...##\n"
                                              "..###\n"));
}

TEST_F(HexMapTest, WhatIsOffTheBoardStaysBlocked) {
  v1::UpdateObstaclesRequest update;
  update.set_map("board");
  v1::Rectangle& all = *update.add_edits()->mutable_unblock()->add_rectangles();
  all.set_width(6);
  all.set_height(4);
  EXPECT_EQ(client().UpdateObstacles(update)->changed_cells(), 4);
  v1::GetMapRequest request;
  request.set_map("board");
  EXPECT_EQ(client().GetMap(request)->info().grid().walkable_cells(), 20);
  EXPECT_THAT(client().FindPath(PathRequest("board", CellAt(0, 0), CellAt(4, 3))),
              IsRefused(kPrecondition, "START_BLOCKED", "start"));
}

TEST_F(HexMapTest, FieldsKnowHexagons) {
  v1::ComputeCostMatrixRequest matrix;
  matrix.set_map("board");
  matrix.set_coordinates(v1::HEX_LAYOUT_ODD_ROWS);
  *matrix.add_sources() = CellAt(0, 0);
  *matrix.add_targets() = CellAt(4, 0);
  *matrix.add_targets() = CellAt(4, 3);
  *matrix.add_targets() = CellAt(0, 1);
  const auto costs = client().ComputeCostMatrix(matrix);
  ASSERT_TRUE(costs.ok()) << costs.status();
  EXPECT_THAT(costs->costs(), ElementsAre(4.0, client().FindPath(ByRows(0, 0, 4, 3))->cost(), 1.0));

  v1::FindReachableRequest reach;
  reach.set_map("board");
  reach.set_coordinates(v1::HEX_LAYOUT_ODD_ROWS);
  *reach.mutable_start() = CellAt(2, 2);
  reach.set_max_cost(1);
  // Itself, two beside it, one below on the left; the others are walls.
  EXPECT_EQ(client().FindReachable(reach)->count(), 4);
}

TEST_F(HexMapTest, RefusesWhatHexagonsDoNotHave) {
  v1::FindPathRequest request = ByRows(0, 0, 4, 3);
  request.set_algorithm(v1::ALGORITHM_JUMP_POINT_SEARCH);
  EXPECT_THAT(client().FindPath(request), IsRefused(kPrecondition, "ALGORITHM_UNSUITED", "algorithm"));
  request = ByRows(0, 0, 4, 3);
  request.set_coordinates(static_cast<v1::HexLayout>(99));
  EXPECT_THAT(client().FindPath(request), IsRefused(kInvalid, "UNKNOWN_ENUM_VALUE", "coordinates"));
  request = ByRows(-1, 0, 4, 3);
  EXPECT_THAT(client().FindPath(request), IsRefused(kPrecondition, "START_BLOCKED", "start"));
  request = ByRows(0, -1, 4, 3);
  EXPECT_THAT(client().FindPath(request), IsRefused(absl::StatusCode::kOutOfRange, "OFF_MAP", "start"));
  server_.Create("squares", {"...."});
  request = PathRequest("squares", CellAt(0, 0), CellAt(3, 0));
  request.set_coordinates(v1::HEX_LAYOUT_ODD_ROWS);
  EXPECT_THAT(client().FindPath(request), IsRefused(kPrecondition, "WRONG_MAP_KIND", "coordinates"));

  v1::UpdateObstaclesRequest update;
  update.set_map("board");
  update.set_coordinates(v1::HEX_LAYOUT_ODD_ROWS);
  v1::Disc& disc = *update.add_edits()->mutable_block()->add_discs();
  disc.mutable_center()->set_x(1.5);
  EXPECT_THAT(client().UpdateObstacles(update), IsRefused(kInvalid, "BAD_VALUE", "coordinates"));

  v1::CreateMapRequest create;
  create.set_map("both");
  create.mutable_grid()->set_hexagons(v1::HEX_LAYOUT_AXIAL_FLAT);
  create.mutable_grid()->set_connectivity(v1::CONNECTIVITY_EIGHT);
  create.add_rows("..");
  EXPECT_THAT(client().CreateMap(create), IsRefused(kInvalid, "BAD_VALUE", "grid.connectivity"));
  create.mutable_grid()->clear_connectivity();
  create.clear_rows();
  create.mutable_grid()->set_hexagons(v1::HEX_LAYOUT_ODD_ROWS);
  create.mutable_blank()->set_width(8000);
  create.mutable_blank()->set_height(8000);
  EXPECT_THAT(client().CreateMap(create), IsRefused(kInvalid, "BAD_SIZE", "blank.width"));
}

}  // namespace
}  // namespace waystar
