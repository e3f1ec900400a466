// Maps of hexagons, whose cells requests and answers may count by columns and rows.

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/format/text.h"
#include "server/rpc/query/answer_queries.h"
#include "server/rpc/query/field_answers.h"
#include "tests/rpc/handler_test.h"
#include "tests/rpc/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::waystar::testing::CellAt;
using ::waystar::testing::HandlerTest;
using ::waystar::testing::IsError;
using ::waystar::testing::kInvalid;
using ::waystar::testing::LocationAt;
using ::waystar::testing::PathRequest;
using ::waystar::testing::Show;
using ::waystar::testing::TestServer;

constexpr auto kHexPrecondition = absl::StatusCode::kFailedPrecondition;

v1::GridOptions Hexagons(v1::HexLayout layout) {
  v1::GridOptions grid;
  grid.mutable_hexagons()->set_layout(layout);
  return grid;
}

v1::Rectangle RectangleAt(int x, int y, int width, int height) {
  v1::Rectangle rectangle;
  rectangle.set_x(x);
  rectangle.set_y(y);
  rectangle.set_width(width);
  rectangle.set_height(height);
  return rectangle;
}

const std::vector<std::string>& BoardRows() {
  static const auto* const kRows = new std::vector<std::string>{".....",  //
                                                                ".###.",  //
                                                                ".....",  //
                                                                "..#.."};
  return *kRows;
}

v1::FindPathRequest ByRows(int from_column, int from_row, int to_column, int to_row) {
  v1::FindPathRequest request =
      PathRequest("board", CellAt(from_column, from_row), CellAt(to_column, to_row));
  request.mutable_view()->set_coordinates(v1::HEX_LAYOUT_ODD_ROWS);
  return request;
}

// As one draws odd rows, shifted to the right.
bool TouchOnBoard(const v1::Cell& a, const v1::Cell& b) {
  const double dx = (a.x() + 0.5 * (a.y() & 1)) - (b.x() + 0.5 * (b.y() & 1));
  const double dy = (a.y() - b.y()) * std::sqrt(0.75);
  return std::abs(std::hypot(dx, dy) - 1.0) < 1e-9;
}

class HexMapTest : public HandlerTest {
 protected:
  HexMapTest() { Create("board", BoardRows(), Hexagons(v1::HEX_LAYOUT_ODD_ROWS)); }
};

TEST_F(HexMapTest, PathsGoFromHexagonToHexagon) {
  const auto answer = Find(ByRows(0, 0, 4, 3));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->statistics().algorithm(), v1::ALGORITHM_ASTAR);
  ASSERT_THAT(answer->points(), SizeIs(static_cast<int>(answer->cost()) + 1));
  EXPECT_EQ(answer->end().x(), 4);
  EXPECT_EQ(answer->end().y(), 3);
  for (int i = 1; i < answer->points_size(); ++i) {
    EXPECT_TRUE(TouchOnBoard(answer->points(i - 1), answer->points(i))) << i;
  }
  // By cells of the plane, whose rows begin half as many cells further left.
  const auto on_plane = Find(PathRequest("board", CellAt(1, 0), CellAt(4, 3)));
  ASSERT_TRUE(on_plane.ok()) << on_plane.status();
  EXPECT_EQ(on_plane->cost(), answer->cost());
  EXPECT_EQ(on_plane->points(0).x(), 1);
}

TEST_F(HexMapTest, EachFormIsOneOfTheSamePath) {
  v1::FindPathRequest request = ByRows(0, 0, 4, 0);
  request.set_path_form(v1::PATH_FORM_DIRECTIONS);
  EXPECT_THAT(Find(request)->directions(),
              ElementsAre(v1::DIRECTION_EAST, v1::DIRECTION_EAST, v1::DIRECTION_EAST, v1::DIRECTION_EAST));
  for (const v1::PathForm form : {v1::PATH_FORM_CORNERS, v1::PATH_FORM_SMOOTHED}) {
    request.set_path_form(form);
    EXPECT_THAT(Find(request)->points(), SizeIs(2));
  }
  request = ByRows(0, 3, 4, 0);
  request.set_path_form(v1::PATH_FORM_CORNERS);
  request.set_with_summary(true);
  const auto corners = Find(request);
  ASSERT_TRUE(corners.ok()) << corners.status();
  EXPECT_EQ(corners->summary().length(), corners->cost());
  v1::ValidatePathRequest validation;
  validation.set_map("board");
  validation.mutable_view()->set_coordinates(v1::HEX_LAYOUT_ODD_ROWS);
  *validation.mutable_points() = corners->points();
  EXPECT_TRUE(Validate(validation)->walkable());
  EXPECT_EQ(Validate(validation)->cost(), corners->cost());
}

TEST_F(HexMapTest, EachQueryOfABatchCountsAsItSays) {
  v1::FindPathsRequest request;
  request.set_map("board");
  *request.add_queries() = ByRows(0, 1, 4, 1);
  *request.add_queries() = PathRequest("board", CellAt(1, 0), CellAt(5, 0));
  v1::FindPathsResponse response;
  ASSERT_TRUE(rpc::AnswerQueries(store_, kMaxBytes, request, response, context_).ok());
  EXPECT_EQ(Show(response.results(0).answer().points()), Show(Find(ByRows(0, 1, 4, 1))->points()));
  EXPECT_EQ(response.results(1).answer().start().x(), 1);
}

TEST_F(HexMapTest, EditsCountByColumnsAndRowsToo) {
  v1::UpdateObstaclesRequest update;
  update.set_map("board");
  update.set_coordinates(v1::HEX_LAYOUT_ODD_ROWS);
  v1::Rectangle& rectangle = *update.add_edits()->mutable_block()->add_rectangles();
  rectangle.set_x(3);
  rectangle.set_y(2);
  rectangle.set_width(2);
  rectangle.set_height(2);
  *update.add_edits()->mutable_unblock()->add_cells() = CellAt(2, 1);
  const auto updated = Update(update);
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(updated->changed_cells(), 5);
  EXPECT_THAT(core::FormatText((*store_.Pin("board"))->grid()), ::testing::EndsWith("map\n"
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
  EXPECT_EQ(Update(update)->changed_cells(), 4);
  EXPECT_EQ((*store_.Pin("board"))->grid().walkable_cells(), 20);
  EXPECT_THAT(Find(PathRequest("board", CellAt(0, 0), CellAt(4, 3))),
              IsError(kHexPrecondition, ErrorReason::kStartBlocked, "start"));
}

TEST_F(HexMapTest, CellsToEditAreOnTheBoard) {
  constexpr auto kOutOfRange = absl::StatusCode::kOutOfRange;
  v1::UpdateObstaclesRequest update;
  update.set_map("board");
  update.set_coordinates(v1::HEX_LAYOUT_ODD_ROWS);
  v1::Shape& block = *update.add_edits()->mutable_block();
  *block.add_cells() = CellAt(4, 0);
  *block.add_cells() = CellAt(-1, 0);
  const auto by_columns = Update(update);
  EXPECT_THAT(by_columns, IsError(kOutOfRange, ErrorReason::kOffMap, "edits[0].block.cells[1]"));
  EXPECT_EQ(by_columns.status().message(),
            "column -1 of row 0 is off the map, which has 5 columns and 4 rows");
  *block.mutable_cells(1) = CellAt(std::numeric_limits<int>::max(), std::numeric_limits<int>::min());
  EXPECT_THAT(Update(update), IsError(kOutOfRange, ErrorReason::kOffMap, "edits[0].block.cells[1]"));

  // On the plane, and off the board.
  update.set_coordinates(v1::HEX_LAYOUT_UNSPECIFIED);
  *update.mutable_edits(0)->mutable_unblock()->add_cells() = CellAt(0, 0);
  const auto by_plane = Update(update);
  EXPECT_THAT(by_plane, IsError(kOutOfRange, ErrorReason::kOffMap, "edits[0].unblock.cells[0]"));
  EXPECT_EQ(by_plane.status().message(),
            "cell (0, 0) of the plane is off the map, which has 5 columns and 4 rows");
  v1::SetTerrain& terrain = *update.mutable_edits(0)->mutable_set_terrain();
  terrain.set_terrain(".");
  *terrain.mutable_shape()->add_cells() = CellAt(5, 3);
  EXPECT_THAT(Update(update),
              IsError(kOutOfRange, ErrorReason::kOffMap, "edits[0].set_terrain.shape.cells[0]"));
  *terrain.mutable_shape()->mutable_cells(0) = CellAt(5, 0);
  EXPECT_TRUE(Update(update).ok());
}

// Whatever the layouts of the board and of the request, a rectangle is clipped and counted as among squares.
TEST_F(HexMapTest, RectanglesThatStickOutAreClippedAndCounted) {
  constexpr v1::HexLayout kLayouts[] = {v1::HEX_LAYOUT_ODD_ROWS, v1::HEX_LAYOUT_EVEN_ROWS,
                                        v1::HEX_LAYOUT_ODD_COLUMNS, v1::HEX_LAYOUT_EVEN_COLUMNS};
  constexpr std::pair<int, int> kSizes[] = {{1, 1}, {2, 1}, {1, 2}, {3, 4}, {9, 9}};
  constexpr int kColumns = 4;
  constexpr int kRows = 3;
  for (const v1::HexLayout layout : kLayouts) {
    SCOPED_TRACE(v1::HexLayout_Name(layout));
    const std::string map = absl::StrCat("board-", layout);
    Create(map, std::vector<std::string>(kRows, std::string(kColumns, '.')), Hexagons(layout));
    const auto send = [&](const v1::Rectangle& rectangle, bool block) {
      v1::UpdateObstaclesRequest update;
      update.set_map(map);
      update.set_coordinates(layout);
      v1::Edit& edit = *update.add_edits();
      *(block ? edit.mutable_block() : edit.mutable_unblock())->add_rectangles() = rectangle;
      return Update(update);
    };
    for (int x = -3; x <= kColumns; ++x) {
      for (int y = -3; y <= kRows; ++y) {
        for (const auto& [width, height] : kSizes) {
          SCOPED_TRACE(absl::StrCat(x, ",", y, "+", width, "x", height));
          const core::Rectangle inside = core::Intersect({x, y, width, height}, {0, 0, kColumns, kRows});
          for (const bool block : {true, false}) {
            const auto updated = send(RectangleAt(x, y, width, height), block);
            if (inside.empty()) {
              ASSERT_THAT(updated,
                          IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap,
                                  block ? "edits[0].block.rectangles[0]" : "edits[0].unblock.rectangles[0]"));
              continue;
            }
            ASSERT_TRUE(updated.ok()) << updated.status();
            ASSERT_EQ(updated->changed_cells(), inside.area());
            ASSERT_EQ(updated->clipped_cells(), width * height - inside.area());
          }
        }
      }
    }
  }
}

TEST_F(HexMapTest, ErrorsNameTheRectangleThatWasSent) {
  v1::UpdateObstaclesRequest update;
  update.set_map("board");
  update.set_coordinates(v1::HEX_LAYOUT_ODD_ROWS);
  v1::SetTerrain& terrain = *update.add_edits()->mutable_set_terrain();
  terrain.set_terrain(".");
  *terrain.mutable_shape()->add_rectangles() = RectangleAt(0, -2, 2, 5);
  *terrain.mutable_shape()->add_rectangles() = RectangleAt(5, 0, 1, 2);
  const auto off_board = Update(update);
  EXPECT_THAT(off_board, IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap,
                                 "edits[0].set_terrain.shape.rectangles[1]"));
  EXPECT_EQ(off_board.status().message(),
            "the rectangle at column 5 of row 0 is off the map, which has 5 columns and 4 rows");
  *terrain.mutable_shape()->mutable_rectangles(1) = RectangleAt(0, 0, 1, 0);
  EXPECT_THAT(Update(update),
              IsError(kInvalid, ErrorReason::kBadRectangle, "edits[0].set_terrain.shape.rectangles[1]"));
  *terrain.mutable_shape()->mutable_rectangles(1) = RectangleAt(0, 0, 1, 1);
  EXPECT_EQ(Update(update)->clipped_cells(), 4);

  // By cells of the plane: two that it has and the board has not, and then the first of row 0 as well.
  update.set_coordinates(v1::HEX_LAYOUT_UNSPECIFIED);
  v1::Shape& block = *update.mutable_edits(0)->mutable_block();
  *block.add_rectangles() = RectangleAt(-1, 0, 2, 1);
  EXPECT_THAT(Update(update),
              IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "edits[0].block.rectangles[0]"));
  block.mutable_rectangles(0)->set_width(3);
  EXPECT_EQ(Update(update)->clipped_cells(), 2);
  EXPECT_EQ(Update(update)->changed_cells(), 0);
}

TEST_F(HexMapTest, FieldsKnowHexagons) {
  const rpc::FieldAnswers fields(store_, kMaxBytes);
  v1::ComputeCostMatrixRequest matrix;
  matrix.set_map("board");
  matrix.mutable_view()->set_coordinates(v1::HEX_LAYOUT_ODD_ROWS);
  *matrix.add_starts() = LocationAt(0, 0);
  *matrix.add_goals() = LocationAt(4, 0);
  *matrix.add_goals() = LocationAt(4, 3);
  *matrix.add_goals() = LocationAt(0, 1);
  v1::ComputeCostMatrixResponse costs;
  ASSERT_TRUE(fields.CostMatrix(matrix, costs, context_).ok());
  EXPECT_THAT(costs.costs(), ElementsAre(4.0, Find(ByRows(0, 0, 4, 3))->cost(), 1.0));

  v1::FindReachableRequest reach;
  reach.set_map("board");
  reach.mutable_view()->set_coordinates(v1::HEX_LAYOUT_ODD_ROWS);
  *reach.mutable_start() = LocationAt(2, 2);
  reach.set_max_cost(1);
  v1::FindReachableResponse reachable;
  ASSERT_TRUE(fields.Reachable(reach, reachable, context_).ok());
  // Itself, two beside it, one below on the left; the others are walls.
  EXPECT_EQ(reachable.count(), 4);
}

TEST_F(HexMapTest, RefusesWhatHexagonsDoNotHave) {
  v1::FindPathRequest request = ByRows(0, 0, 4, 3);
  request.set_algorithm(v1::ALGORITHM_JUMP_POINT_SEARCH);
  EXPECT_THAT(Find(request), IsError(kHexPrecondition, ErrorReason::kAlgorithmUnsuited, "algorithm"));
  request = ByRows(0, 0, 4, 3);
  request.mutable_view()->set_coordinates(static_cast<v1::HexLayout>(99));
  EXPECT_THAT(Find(request), IsError(kInvalid, ErrorReason::kUnknownEnumValue, "view.coordinates"));
  EXPECT_THAT(Find(ByRows(-1, 0, 4, 3)), IsError(kHexPrecondition, ErrorReason::kStartBlocked, "start"));
  const auto off_map = Find(ByRows(0, -1, 4, 3));
  EXPECT_THAT(off_map, IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "start"));
  // Whoever counts by rows is told that this is another cell's name.
  EXPECT_THAT(off_map.status().message(), ::testing::HasSubstr(" of the plane is off the map"));
  Create("squares", {"...."});
  request = PathRequest("squares", CellAt(0, 0), CellAt(3, 0));
  request.mutable_view()->set_coordinates(v1::HEX_LAYOUT_ODD_ROWS);
  EXPECT_THAT(Find(request), IsError(kHexPrecondition, ErrorReason::kWrongMapKind, "view.coordinates"));

  v1::UpdateObstaclesRequest update;
  update.set_map("board");
  update.set_coordinates(v1::HEX_LAYOUT_ODD_ROWS);
  v1::Disc& disc = *update.add_edits()->mutable_block()->add_discs();
  disc.mutable_center()->set_x(1.5);
  EXPECT_THAT(Update(update), IsError(kInvalid, ErrorReason::kBadValue, "edits[0].block.discs[0].center"));

  v1::CreateMapRequest create;
  create.set_map("both");
  create.mutable_grid()->mutable_hexagons();
  create.add_rows("..");
  EXPECT_THAT(Create(create), IsError(kInvalid, ErrorReason::kMissingField, "grid.hexagons.layout"));
  create.mutable_grid()->mutable_squares();
  create.clear_rows();
  create.set_data("hexagons odd_rows\nmap\n..\n");
  EXPECT_THAT(Create(create), IsError(kInvalid, ErrorReason::kBadValue, "grid.squares"));
  create.clear_data();
  create.mutable_grid()->mutable_hexagons()->set_layout(v1::HEX_LAYOUT_ODD_ROWS);
  create.mutable_blank()->set_width(8000);
  create.mutable_blank()->set_height(8000);
  EXPECT_THAT(Create(create), IsError(kInvalid, ErrorReason::kBadSize, "blank.width"));
}

// Single queries, batches, streams and pictures are compared with each other by AnswerWaysTest.
TEST(HexStreamsTest, TracesWatchesAndUpdatesCountByColumnsAndRows) {
  TestServer server;
  server.Create("board", BoardRows(), Hexagons(v1::HEX_LAYOUT_ODD_ROWS));
  const v1::FindPathRequest query = ByRows(0, 1, 4, 1);
  const v1::FindPathResponse expected = server.Find(query);
  v1::TraceSearchRequest trace;
  *trace.mutable_query() = query;
  std::vector<v1::SearchEvent> events;
  const auto traced =
      server.client().TraceSearch(trace, [&](const v1::SearchEvent& event) { events.push_back(event); });
  ASSERT_TRUE(traced.ok()) << traced.status();
  EXPECT_EQ(Show(traced->answer().points()), Show(expected.points()));
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.front().cell().x(), 0);
  EXPECT_EQ(events.front().cell().y(), 1);

  v1::WatchPathRequest request;
  *request.mutable_query() = query;
  const auto watch = server.client().WatchPath(request);
  v1::WatchPathResponse told;
  ASSERT_TRUE(watch->Next(told));
  EXPECT_EQ(Show(told.answer().points()), Show(expected.points()));
  // A hexagon of the path by its column and row.
  const auto updates = server.client().StreamObstacleUpdates();
  v1::UpdateObstaclesRequest batch;
  batch.set_map("board");
  batch.set_coordinates(v1::HEX_LAYOUT_ODD_ROWS);
  *batch.add_edits()->mutable_block()->add_cells() = expected.points(2);
  ASSERT_TRUE(updates->Send(batch));
  v1::StreamObstacleUpdatesResponse applied;
  ASSERT_TRUE(updates->Receive(applied));
  EXPECT_EQ(applied.applied().changed_cells(), 1);
  ASSERT_TRUE(watch->Next(told));
  for (const v1::Cell& point : told.answer().points()) {
    EXPECT_FALSE(point.x() == expected.points(2).x() && point.y() == expected.points(2).y());
  }
  EXPECT_EQ(told.answer().end().x(), 4);
  EXPECT_EQ(told.answer().end().y(), 1);
}

}  // namespace
}  // namespace waystar
