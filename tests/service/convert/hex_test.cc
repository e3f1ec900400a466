// Maps of hexagons, whose cells requests and answers count as the map's layout does.

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/formats/text/text.h"
#include "tests/service/about_map.h"
#include "tests/service/handler_test.h"
#include "tests/service/handlers/watch/watches.h"
#include "tests/service/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr v1::HexLayout kHexLayouts[] = {v1::HEX_LAYOUT_ODD_ROWS, v1::HEX_LAYOUT_EVEN_ROWS,
                                         v1::HEX_LAYOUT_ODD_COLUMNS, v1::HEX_LAYOUT_EVEN_COLUMNS};
constexpr auto kHexPrecondition = absl::StatusCode::kFailedPrecondition;

v1::GridOptions Hexagons(v1::HexLayout layout) {
  v1::GridOptions grid;
  grid.mutable_hexagons()->set_layout(layout);
  return grid;
}

const std::vector<std::string>& BoardRows() {
  static const auto* const kRows = new std::vector<std::string>{".....",  //
                                                                ".###.",  //
                                                                ".....",  //
                                                                "..#.."};
  return *kRows;
}

v1::FindPathRequest ByRows(int from_column, int from_row, int to_column, int to_row) {
  return PathRequest("board", CellAt(from_column, from_row), CellAt(to_column, to_row));
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
  const auto answer = Find(ByRows(0, 0, 4, 3)).value();
  EXPECT_EQ(answer.info().statistics().algorithm(), v1::ALGORITHM_ASTAR);
  ASSERT_THAT(answer.path().points(), SizeIs(static_cast<int>(answer.cost()) + 1));
  EXPECT_EQ(answer.path().end().cell().x(), 4);
  EXPECT_EQ(answer.path().end().cell().y(), 3);
  for (int i = 1; i < answer.path().points_size(); ++i) {
    EXPECT_TRUE(TouchOnBoard(answer.path().points(i - 1), answer.path().points(i))) << i;
  }
}

// On an axial plane of the same hexagons, whose row 2 begins one cell further left.
TEST_F(HexMapTest, AnAxialPlaneCountsByItself) {
  Create("plane",
         {"#.....",  //
          "#.###.",  //
          ".....#",  //
          "..#..#"},
         Hexagons(v1::HEX_LAYOUT_AXIAL_POINTY));
  const auto answer = Find(PathRequest("plane", CellAt(1, 0), CellAt(4, 3))).value();
  EXPECT_EQ(answer.cost(), Find(ByRows(0, 0, 4, 3))->cost());
  EXPECT_EQ(answer.path().points(0).x(), 1);
  EXPECT_EQ(answer.path().end().cell().x(), 4);
}

TEST_F(HexMapTest, EachFormIsOneOfTheSamePath) {
  v1::FindPathRequest request = ByRows(0, 0, 4, 0);
  request.set_path_form(v1::PATH_FORM_DIRECTIONS);
  EXPECT_THAT(Find(request)->path().directions(),
              ElementsAre(v1::DIRECTION_EAST, v1::DIRECTION_EAST, v1::DIRECTION_EAST, v1::DIRECTION_EAST));
  for (const v1::PathForm form : {v1::PATH_FORM_CORNERS, v1::PATH_FORM_SMOOTHED}) {
    request.set_path_form(form);
    EXPECT_THAT(Find(request)->path().points(), SizeIs(2));
  }
  request = ByRows(0, 3, 4, 0);
  request.set_path_form(v1::PATH_FORM_CORNERS);
  request.set_with_summary(true);
  const auto corners = Find(request).value();
  EXPECT_EQ(corners.summary().length(), corners.cost());
  auto validation = About<v1::ValidatePathsRequest>("board");
  *validation.add_paths() = corners.path();
  EXPECT_TRUE(Validate(validation)->walkable());
  EXPECT_EQ(Validate(validation)->cost(), corners.cost());
}

TEST_F(HexMapTest, EditsCountByColumnsAndRowsToo) {
  const auto update = Parsed<v1::UpdateMapRequest>(R"(
    map: "board"
    edits { block { rectangles { x: 3 y: 2 width: 2 height: 2 } } }
    edits { unblock { cells { x: 2 y: 1 } } })");
  const auto updated = Update(update).value();
  EXPECT_EQ(updated.changed_cells(), 5);
  EXPECT_THAT(core::FormatText((*store_.Pin("board"))->grid()), ::testing::EndsWith("map\n"
                                                                                    ".....\n"
                                                                                    ".#.#.\n"
                                                                                    "...##\n"
                                                                                    "..###\n"));
}

// A rectangle that sticks out on all sides frees what is on the board, and nothing beside it.
TEST_F(HexMapTest, WhatIsOffTheBoardStaysBlocked) {
  auto update = About<v1::UpdateMapRequest>("board");
  *update.add_edits()->mutable_unblock()->add_rectangles() = RectangleAt(-1, -1, 7, 6);
  EXPECT_EQ(Update(update)->changed_cells(), 4);
  EXPECT_EQ((*store_.Pin("board"))->grid().walkable_cells(), 20);
  EXPECT_THAT(Find(ByRows(-1, 0, 4, 3)),
              IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "start"));
}

TEST_F(HexMapTest, CellsToEditAreOnTheBoard) {
  constexpr auto kOutOfRange = absl::StatusCode::kOutOfRange;
  auto update = About<v1::UpdateMapRequest>("board");
  v1::Shape& block = *update.add_edits()->mutable_block();
  *block.add_cells() = CellAt(4, 0);
  *block.add_cells() = CellAt(-1, 0);
  const auto by_columns = Update(update);
  EXPECT_THAT(by_columns, IsError(kOutOfRange, ErrorReason::kOffMap, "edits[0].block.cells[1]"));
  EXPECT_EQ(by_columns.status().message(),
            "column -1 of row 0 is off the map, which has 5 columns and 4 rows");
  *block.mutable_cells(1) = CellAt(std::numeric_limits<int>::max(), std::numeric_limits<int>::min());
  EXPECT_THAT(Update(update), IsError(kOutOfRange, ErrorReason::kOffMap, "edits[0].block.cells[1]"));

  v1::SetTerrain& terrain = *update.mutable_edits(0)->mutable_set_terrain();
  terrain.set_terrain(".");
  *terrain.mutable_shape()->add_cells() = CellAt(5, 0);
  EXPECT_THAT(Update(update),
              IsError(kOutOfRange, ErrorReason::kOffMap, "edits[0].set_terrain.shape.cells[0]"));
  *terrain.mutable_shape()->mutable_cells(0) = CellAt(4, 0);
  EXPECT_TRUE(Update(update).ok());
}

// Whatever the layout of the board, a rectangle is clipped and counted as among squares.
TEST_F(HexMapTest, RectanglesThatStickOutAreClippedAndCounted) {
  constexpr std::pair<int, int> kSizes[] = {{1, 1}, {2, 1}, {1, 2}, {3, 4}, {9, 9}};
  constexpr int kColumns = 4;
  constexpr int kRows = 3;
  for (const v1::HexLayout layout : kHexLayouts) {
    SCOPED_TRACE(v1::HexLayout_Name(layout));
    const std::string map = absl::StrCat("board-", layout);
    Create(map, std::vector<std::string>(kRows, std::string(kColumns, '.')), Hexagons(layout));
    const auto send = [&](const v1::Rectangle& rectangle, bool block) {
      auto update = About<v1::UpdateMapRequest>(map);
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
            ASSERT_GE(updated->changed_bounds().width(), inside.width);
            ASSERT_GE(updated->changed_bounds().height(), inside.height);
            ASSERT_EQ(updated->clipped_cells(), width * height - inside.area());
          }
        }
      }
    }
  }
}

TEST_F(HexMapTest, ErrorsNameTheRectangleThatWasSent) {
  auto update = About<v1::UpdateMapRequest>("board");
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
}

// Fields cover columns and rows, and do not leave regions of them.
TEST(HexRegionsTest, RegionsAreOfColumnsAndRows) {
  constexpr int kColumns = 7;
  constexpr int kRows = 6;
  for (const v1::HexLayout layout : kHexLayouts) {
    SCOPED_TRACE(v1::HexLayout_Name(layout));
    TestServer server;
    server.Create("open", std::vector<std::string>(kRows, std::string(kColumns, '.')), Hexagons(layout));
    auto flow =
        Parsed<v1::ComputeFlowFieldRequest>(R"(map: "open" goals { cell { x: 2 y: 2 } } with_costs: true)");
    const auto whole = server.client().ComputeFlowField(flow).value();
    EXPECT_EQ(whole.region().width(), kColumns);
    EXPECT_EQ(whole.region().height(), kRows);
    ASSERT_THAT(whole.costs(), SizeIs(kColumns * kRows));
    for (int y = 0; y < kRows; ++y) {
      for (int x = 0; x < kColumns; ++x) {
        const v1::FindPathResponse path = server.Find(PathRequest("open", CellAt(x, y), CellAt(2, 2)));
        EXPECT_EQ(whole.costs(y * kColumns + x), path.cost()) << x << "," << y;
      }
    }
    *flow.mutable_region() = RectangleAt(2, 1, 1, 4);
    const auto narrow = server.client().ComputeFlowField(flow).value();
    ASSERT_THAT(narrow.directions(), SizeIs(4));

    const auto reach = Parsed<v1::FindReachableRequest>(
        R"(map: "open" start { cell { x: 2 y: 2 } } region { x: 1 y: 1 width: 4 height: 3 })");
    const auto reached = server.client().FindReachable(reach).value();
    EXPECT_EQ(reached.count(), 12);
    EXPECT_EQ(TextOf(reached.bounds()), TextOf(reach.region()));
    EXPECT_EQ(reached.cells(), std::string("\x0F\x0F\x0F"));
    const auto sample = Parsed<v1::SamplePlacesRequest>(
        R"(map: "open" count: 100 distinct: true region { x: 3 y: 2 width: 3 height: 4 })");
    const auto sampled = server.client().SamplePlaces(sample).value();
    EXPECT_THAT(sampled.cells(), SizeIs(12));
    for (const v1::Cell& cell : sampled.cells()) {
      EXPECT_TRUE(core::Rectangle({3, 2, 3, 4}).Contains({cell.x(), cell.y()}));
    }
  }
}

// Obstacles and portals that were put by columns and rows are listed by columns and rows.
TEST(HexListsTest, ObstaclesAndPortalsAreListedAsTheyWerePut) {
  TestServer server;
  server.Create("board", BoardRows(), Hexagons(v1::HEX_LAYOUT_ODD_COLUMNS));
  server.Create("squares", {"....", "...."});
  const auto update = Parsed<v1::UpdateMapRequest>(R"(
    map: "board"
    edits { add_obstacle { id: "crate" shape {
      cells { x: 1 y: 3 } rectangles { x: 2 width: 3 height: 2 } discs { center { x: 3.5 y: 1.25 } radius: 1 }
    } } }
    edits { add_portal { id: "stairs" from { x: 3 } to { x: 4 y: 3 } } }
    edits { add_portal { id: "way-out" from {} to_map: "squares" to { x: 3 y: 1 } } })");
  ASSERT_TRUE(server.client().UpdateMap(update).ok());
  const auto listed = server.client().ListObstacles(About<v1::ListObstaclesRequest>("board")).value();
  EXPECT_EQ(TextOf(listed.obstacles(0).shape()), TextOf(update.edits(0).add_obstacle().shape()));
  const auto told = server.client().ListPortals(About<v1::ListPortalsRequest>("board")).value();
  const v1::Portal& portal = update.edits(1).add_portal();
  EXPECT_EQ(TextOf(told.portals(0).from()), TextOf(portal.from()));
  EXPECT_EQ(TextOf(told.portals(0).to()), TextOf(portal.to()));
  EXPECT_EQ(TextOf(told.portals(1).to()), TextOf(update.edits(2).add_portal().to()));
}

// Each map counts its own part of a path.
TEST(HexPortalsTest, EachMapCountsItsOwnCells) {
  TestServer server;
  server.Create("squares", {"....", "...."});
  server.Create("board", BoardRows(), Hexagons(v1::HEX_LAYOUT_ODD_ROWS));
  const auto update = Parsed<v1::UpdateMapRequest>(R"(
    map: "squares" edits { add_portal { id: "stairs" from { x: 3 } to_map: "board" to {} } })");
  ASSERT_TRUE(server.client().UpdateMap(update).ok());
  v1::FindPathRequest query = PathRequest("squares", CellAt(0, 0), CellAt(0, 3));
  query.set_goal_map("board");
  const v1::FindPathResponse answer = server.Find(query);
  ASSERT_EQ(answer.outcome(), v1::OUTCOME_FOUND);
  EXPECT_EQ(answer.cost(), 6);
  EXPECT_EQ(TextOf(answer.path().crossings(0).arrival()), TextOf(CellAt(0, 0)));
  EXPECT_EQ(TextOf(answer.path().end().cell()), TextOf(CellAt(0, 3)));
  EXPECT_EQ(TextOf(answer.path().points(answer.path().points_size() - 1)), TextOf(CellAt(0, 3)));
  EXPECT_EQ(TextOf(answer.path().points(0)), TextOf(CellAt(0, 0)));
  auto validation = About<v1::ValidatePathsRequest>("squares");
  *validation.add_paths() = answer.path();
  const auto validated = server.client().ValidatePaths(validation).value().results(0);
  EXPECT_TRUE(validated.walkable());
  EXPECT_EQ(validated.cost(), answer.cost());
  v1::TraceSearchRequest trace;
  *trace.mutable_query() = query;
  bool has_goal = false;
  const auto traced = server.client().TraceSearch(trace, [&](const v1::SearchEvent& event) {
    has_goal |= event.map() == "board" && TextOf(event.cell()) == TextOf(CellAt(0, 3));
  });
  ASSERT_TRUE(traced.ok()) << traced.status();
  EXPECT_TRUE(has_goal);
}

TEST_F(HexMapTest, RegionsEndWithTheBoardAndHoldTheStart) {
  auto reach = About<v1::FindReachableRequest>("board");
  *reach.mutable_start() = LocationAt(0, 2);
  *reach.mutable_region() = RectangleAt(1, 0, 4, 3);
  EXPECT_THAT(Ask<v1::FindReachableResponse>(reach), IsError(kInvalid, ErrorReason::kBadValue, "start"));
  *reach.mutable_region() = RectangleAt(1, 1, 5, 3);
  EXPECT_THAT(Ask<v1::FindReachableResponse>(reach),
              IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "region"));
}

TEST_F(HexMapTest, RefusesWhatHexagonsDoNotHave) {
  v1::FindPathRequest request = ByRows(0, 0, 4, 3);
  request.set_algorithm(v1::ALGORITHM_JUMP_POINT_SEARCH);
  EXPECT_THAT(Find(request), IsError(kHexPrecondition, ErrorReason::kAlgorithmUnsuited, "algorithm"));
  EXPECT_THAT(Find(ByRows(-1, 0, 4, 3)),
              IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "start"));
  const auto off_map = Find(ByRows(0, -1, 4, 3));
  EXPECT_THAT(off_map, IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "start"));
  EXPECT_EQ(off_map.status().message(), "the start (0, -1) is off the map, which is 5 x 4 cells");

  auto create = About<v1::CreateMapRequest>("both");
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
  const auto traced = server.client()
                          .TraceSearch(trace, [&](const v1::SearchEvent& event) { events.push_back(event); })
                          .value();
  EXPECT_EQ(Show(traced.answer().path().points()), Show(expected.path().points()));
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.front().cell().x(), 0);
  EXPECT_EQ(events.front().cell().y(), 1);

  FollowedPath followed(server, query);
  v1::AgentState told = followed.Next();
  EXPECT_EQ(Show(told.answer().path().points()), Show(expected.path().points()));
  // A hexagon of the path by its column and row.
  const auto updates = server.client().StreamUpdates();
  auto batch = About<v1::UpdateMapRequest>("board");
  *batch.add_edits()->mutable_block()->add_cells() = expected.path().points(2);
  ASSERT_TRUE(updates->Send(batch));
  v1::StreamUpdatesResponse applied;
  ASSERT_TRUE(updates->Receive(applied));
  EXPECT_EQ(applied.applied().changed_cells(), 1);
  told = followed.Next();
  for (const v1::Cell& point : told.answer().path().points()) {
    EXPECT_FALSE(point.x() == expected.path().points(2).x() && point.y() == expected.path().points(2).y());
  }
  EXPECT_EQ(told.answer().path().end().cell().x(), 4);
  EXPECT_EQ(told.answer().path().end().cell().y(), 1);
}

}  // namespace
}  // namespace waystar
