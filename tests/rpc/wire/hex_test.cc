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
  EXPECT_THAT(client().UpdateObstacles(update),
              IsRefused(kInvalid, "BAD_VALUE", "edits[0].block.discs[0].center"));

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

// Streams, batches, traces, watches and pictures count as single calls do.
class HexEveryRpcTest : public HexMapTest {
 protected:
  // A path around the wall, which answers in other cells would not give.
  const v1::FindPathRequest query_ = ByRows(0, 1, 4, 1);
  const v1::FindPathResponse expected_ = *client().FindPath(query_);

  void ExpectSamePath(const v1::FindPathResponse& answer) {
    ASSERT_THAT(expected_.points(), SizeIs(::testing::Ge(5)));
    EXPECT_EQ(answer.cost(), expected_.cost());
    ASSERT_EQ(answer.points_size(), expected_.points_size());
    for (int i = 0; i < answer.points_size(); ++i) {
      EXPECT_EQ(answer.points(i).x(), expected_.points(i).x()) << i;
      EXPECT_EQ(answer.points(i).y(), expected_.points(i).y()) << i;
    }
  }
};

TEST_F(HexEveryRpcTest, StreamOfQueries) {
  const auto stream = client().StreamFindPath();
  v1::StreamFindPathRequest request;
  *request.add_queries()->mutable_query() = query_;
  ASSERT_TRUE(stream->Send(request));
  v1::StreamFindPathResponse response;
  ASSERT_TRUE(stream->Receive(response));
  ExpectSamePath(response.answers(0).answer());
}

TEST_F(HexEveryRpcTest, OneQueryOfABatch) {
  v1::FindPathsRequest request;
  request.set_map("board");
  *request.add_queries() = query_;
  request.mutable_queries(0)->clear_map();
  *request.add_queries() = PathRequest("board", CellAt(1, 0), CellAt(5, 0));
  const auto response = client().FindPaths(request);
  ASSERT_TRUE(response.ok()) << response.status();
  ExpectSamePath(response->results(0).answer());
  EXPECT_EQ(response->results(1).answer().start().x(), 1);
}

TEST_F(HexEveryRpcTest, Trace) {
  v1::TraceSearchRequest request;
  *request.mutable_query() = query_;
  std::vector<v1::SearchEvent> events;
  const auto result =
      client().TraceSearch(request, [&](const v1::SearchEvent& event) { events.push_back(event); });
  ASSERT_TRUE(result.ok()) << result.status();
  ExpectSamePath(result->answer());
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.front().cell().x(), 0);
  EXPECT_EQ(events.front().cell().y(), 1);
}

TEST_F(HexEveryRpcTest, WatchAndUpdatesByStream) {
  v1::WatchPathRequest request;
  *request.mutable_query() = query_;
  const auto watch = client().WatchPath(request);
  v1::WatchPathResponse first;
  ASSERT_TRUE(watch->Next(first));
  ExpectSamePath(first.answer());

  // A hexagon of the path by its column and row.
  const auto updates = client().StreamObstacleUpdates();
  v1::UpdateObstaclesRequest batch;
  batch.set_map("board");
  batch.set_coordinates(v1::HEX_LAYOUT_ODD_ROWS);
  *batch.add_edits()->mutable_block()->add_cells() = expected_.points(2);
  ASSERT_TRUE(updates->Send(batch));
  v1::StreamObstacleUpdatesResponse applied;
  ASSERT_TRUE(updates->Receive(applied));
  EXPECT_EQ(applied.applied().changed_cells(), 1);
  v1::WatchPathResponse second;
  ASSERT_TRUE(watch->Next(second));
  for (const v1::Cell& point : second.answer().points()) {
    EXPECT_FALSE(point.x() == expected_.points(2).x() && point.y() == expected_.points(2).y());
  }
  EXPECT_EQ(second.answer().end().x(), 4);
  EXPECT_EQ(second.answer().end().y(), 1);
}

TEST_F(HexEveryRpcTest, Picture) {
  v1::RenderMapRequest request;
  request.set_map("board");
  request.set_format(v1::PICTURE_FORMAT_TEXT);
  *request.mutable_query() = query_;
  const auto picture = client().RenderMap(request);
  ASSERT_TRUE(picture.ok()) << picture.status();
  ExpectSamePath(picture->answer());
}

}  // namespace
}  // namespace waystar
