// Maps, paths and searches as pictures of characters.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/draw/overlay.h"
#include "client/cli/draw/picture.h"
#include "client/cli/map_picture.h"
#include "client/cli/shape_argument.h"

namespace waystar::cli {

std::ostream& operator<<(std::ostream& out, const View& view) {
  return out << view.width << "x" << view.height << " at " << view.left << "," << view.top << " by "
             << view.scale;
}

namespace {

using ::testing::ElementsAre;

v1::Cell At(int x, int y) {
  v1::Cell cell;
  cell.set_x(x);
  cell.set_y(y);
  return cell;
}

// The picture's characters, a string per row.
std::vector<std::string> Drawn(const Picture& picture) {
  std::vector<std::string> rows;
  for (const auto& row : picture.rows) {
    std::string& text = rows.emplace_back();
    for (const Glyph glyph : row) {
      text.push_back(glyph.symbol);
    }
  }
  return rows;
}

TEST(ViewTest, ShowsAMapAsLargeAsItCan) {
  EXPECT_EQ(ChooseView(8, 4, {}, {80, 20}), (View{0, 0, 8, 4, 1}));
  EXPECT_EQ(ChooseView(80, 20, {At(3, 3)}, {80, 20}), (View{0, 0, 80, 20, 1}));
  EXPECT_EQ(ChooseView(161, 40, {}, {80, 20}), (View{0, 0, 161, 40, 3}));
  EXPECT_EQ(ChooseView(160, 40, {}, {80, 20}), (View{0, 0, 160, 40, 2}));
  // A short path is shown in detail, by a view that stays on the map.
  EXPECT_EQ(ChooseView(1000, 1000, {At(500, 500), At(510, 505)}, {80, 20}), (View{465, 492, 80, 20, 1}));
  EXPECT_EQ(ChooseView(1000, 1000, {At(0, 0), At(5, 5)}, {80, 20}), (View{0, 0, 80, 20, 1}));
  EXPECT_EQ(ChooseView(1000, 1000, {At(999, 999)}, {80, 20}), (View{920, 980, 80, 20, 1}));
}

TEST(ViewTest, HoldsTheWholePathAtAnyScale) {
  for (int length = 1; length < 700; ++length) {
    for (const int offset : {0, 1, 150, 299}) {
      const v1::Cell from = At(offset, offset);
      const v1::Cell to = At(offset + length, offset + length / 2);
      const View view = ChooseView(1000, 999, {from, to}, {80, 20});
      EXPECT_EQ(view.left % view.scale, 0);
      EXPECT_EQ(view.top % view.scale, 0);
      EXPECT_LE(view.left, from.x());
      EXPECT_LE(view.top, from.y());
      EXPECT_GT(view.left + view.width, to.x());
      EXPECT_GT(view.top + view.height, to.y());
      EXPECT_LE(view.left + view.width, 1000);
      EXPECT_LE(view.top + view.height, 999);
      EXPECT_LE((view.width + view.scale - 1) / view.scale, 80);
      EXPECT_LE((view.height + view.scale - 1) / view.scale, 20);
    }
  }
}

TEST(PictureTest, RowsLeaveOutTheHeader) {
  EXPECT_THAT(MapRows("connectivity 4\nterrain ~ river 3\nmap\n.~\n#.\n", 2), ElementsAre(".~", "#."));
  EXPECT_THAT(MapRows("..\n", 2), ElementsAre(".."));
  EXPECT_THAT(MapRows("", 2), ElementsAre());
}

TEST(PictureTest, DrawsEveryCellOfAPart) {
  const Picture picture = DrawMap({".#~", "..."}, {0, 0, 3, 2, 1});
  EXPECT_THAT(Drawn(picture), ElementsAre(".#~", "..."));
  EXPECT_EQ(picture.rows[0][0].mark, Mark::kGround);
  EXPECT_EQ(picture.rows[0][1].mark, Mark::kObstacle);
  EXPECT_EQ(picture.rows[0][2].mark, Mark::kTerrain);
  EXPECT_THAT(Drawn(DrawMap({"abcd", "efgh", "ijkl"}, {1, 1, 2, 2, 1})), ElementsAre("fg", "jk"));
}

TEST(PictureTest, ACharacterIsWhatMostOfItsCellsAre) {
  EXPECT_THAT(Drawn(DrawMap({"..#.#.##", "...#####"}, {0, 0, 8, 2, 2})), ElementsAre("..##"))
      << "an obstacle takes more than half";
  EXPECT_THAT(Drawn(DrawMap({"~~#.", ".##~", "~#..", "~.^^"}, {0, 0, 4, 4, 4})), ElementsAre("."));
  EXPECT_THAT(Drawn(DrawMap({"~~", ".#"}, {0, 0, 2, 2, 2})), ElementsAre("~"));
  EXPECT_THAT(Drawn(DrawMap({"..#", "..#", "##."}, {0, 0, 3, 3, 2})), ElementsAre(".#", "#."))
      << "at the edge it stands for fewer";
}

// The rows of a map with an overlay on it.
std::vector<std::string> Overlaid(const std::vector<absl::string_view>& map, const View& view,
                                  const Overlay& overlay) {
  Picture picture = DrawMap(map, view);
  DrawOverlay(overlay, {}, picture);
  return Drawn(picture);
}

// An overlay of several kinds of cells.
Overlay Marked(std::initializer_list<std::pair<Mark, std::vector<v1::Cell>>> kinds) {
  Overlay overlay;
  for (const auto& [mark, cells] : kinds) {
    AddMarks(cells, mark, overlay);
  }
  return overlay;
}

TEST(OverlayTest, DrawsPathAboveSearchAboveMap) {
  const Overlay walk = Marked({{Mark::kStart, {At(0, 0)}},
                               {Mark::kGoal, {At(3, 0)}},
                               {Mark::kPath, {At(0, 0), At(0, 1), At(1, 2), At(2, 2), At(3, 1), At(3, 0)}}});
  EXPECT_THAT(Overlaid({".##.", ".##.", "...."}, {0, 0, 4, 3, 1}, walk), ElementsAre("S##G", "*##*", ".**."));
  EXPECT_THAT(Overlaid({".##.", ".##.", "...."}, {0, 0, 4, 3, 2}, walk), ElementsAre("SG", "**"));
  EXPECT_THAT(Overlaid({"....", "...."}, {1, 0, 2, 2, 1}, walk), ElementsAre("..", ".."))
      << "outside the view";
  EXPECT_THAT(Overlaid({"..#."}, {0, 0, 4, 1, 1},
                       Marked({{Mark::kStart, {At(0, 0)}},
                               {Mark::kGoal, {At(3, 0)}},
                               {Mark::kEnd, {At(1, 0)}},
                               {Mark::kPath, {At(0, 0), At(1, 0)}}})),
              ElementsAre("SE#G"));
  EXPECT_THAT(Overlaid({".##.", "....", "...."}, {0, 0, 4, 3, 1},
                       Marked({{Mark::kStart, {At(0, 0)}},
                               {Mark::kPath, {At(0, 0), At(0, 1)}},
                               {Mark::kExpanded, {At(0, 0), At(0, 1), At(1, 1), At(0, 2), At(3, 1)}},
                               {Mark::kOpen, {At(3, 0), At(1, 1), At(3, 2)}}})),
              ElementsAre("S##o", "*4.8", "6..o"));
  EXPECT_THAT(Overlaid({"....", "...."}, {0, 0, 4, 2, 2},
                       Marked({{Mark::kExpanded, {At(0, 0), At(1, 0), At(1, 1), At(0, 1)}},
                               {Mark::kOpen, {At(0, 1), At(2, 0)}}})),
              ElementsAre("0o"))
      << "the first to be expanded of several";
}

TEST(OverlayTest, MarkersAreNoTerrainOfThePicture) {
  const auto markers = [](absl::string_view row) {
    return ChooseMarkers(DrawMap({row}, {0, 0, static_cast<int>(row.size()), 1, 1}));
  };
  EXPECT_EQ(markers(".#~").start, 'S');
  EXPECT_EQ(markers(".SG").start, 'A');
  EXPECT_EQ(markers(".SG").goal, 'B');
  EXPECT_EQ(markers("SA*1").start, '<');
  EXPECT_EQ(markers(".#~").expanded, '0');
  EXPECT_EQ(markers(".7~").expanded, 'a');
  EXPECT_EQ(markers(".SA").expanded, 'a') << "the marks are digits";
}

TEST(PaintTest, RulersFollowTheView) {
  const std::vector<absl::string_view> map(12, "............");
  EXPECT_EQ(Paint(DrawMap(map, {0, 0, 12, 6, 1}), /*color=*/false),
            "  0    5    10\n"
            "0 ............\n"
            "  ............\n"
            "  ............\n"
            "  ............\n"
            "  ............\n"
            "5 ............\n");
  EXPECT_EQ(Paint(DrawMap(map, {4, 9, 3, 2, 1}), /*color=*/false),
            "    5\n"
            "   ...\n"
            "10 ...\n");
  EXPECT_EQ(Paint(DrawMap(map, {8, 8, 4, 4, 2}), /*color=*/false),
            "    10\n"
            "   ..\n"
            "10 ..\n");
}

TEST(PaintTest, ColoursRunsOfAKind) {
  EXPECT_EQ(Paint(DrawMap({"..#"}, {0, 0, 3, 1, 1}), /*color=*/true),
            "  0\n0 \x1b[2m..\x1b[0m\x1b[90m#\x1b[0m\n");
  const Picture search = {
      .view = {0, 0, 3, 1, 1},
      .rows = {{{'0', Mark::kExpanded, 0}, {'9', Mark::kExpanded, 9}, {'o', Mark::kOpen}}}};
  EXPECT_EQ(Paint(search, /*color=*/true),
            "  0\n0 \x1b[38;5;230m0\x1b[0m\x1b[38;5;196m9\x1b[0m\x1b[34mo\x1b[0m\n");
  EXPECT_EQ(Legend(search, {}), "0-9 expanded, first to last  o open");
}

TEST(PaintTest, LegendAndCaptionExplainWhatIsThere) {
  v1::GridInfo grid;
  v1::Terrain& river = *grid.add_terrains();
  river.set_symbol("~");
  river.set_name("river");
  river.set_cost(3);
  v1::Terrain& peak = *grid.add_terrains();
  peak.set_symbol("^");
  peak.set_name("peak");
  peak.set_impassable(true);
  EXPECT_EQ(Legend(DrawMap({".#~~"}, {0, 0, 4, 1, 1}), grid), "# obstacle  ~ river, cost 3");
  EXPECT_EQ(Legend(DrawMap({"..^."}, {0, 0, 4, 1, 1}), grid), "^ peak, impassable");
  EXPECT_EQ(Legend(DrawMap({"...."}, {0, 0, 4, 1, 1}), grid), "");
  EXPECT_EQ(Caption({0, 0, 400, 300, 1}, 400, 300), "");
  EXPECT_EQ(Caption({0, 0, 400, 300, 5}, 400, 300), "Each character stands for 5 x 5 cells.");
  EXPECT_EQ(
      Caption({10, 20, 160, 40, 2}, 400, 300),
      "Shown: x 10 to 169 and y 20 to 59 of a map of 400 x 300. Each character stands for 2 x 2 cells.");
}

// A square map of that text.
client::ExportedMap Map(int side, const std::string& text,
                        v1::HexLayout layout = v1::HEX_LAYOUT_UNSPECIFIED) {
  client::ExportedMap map;
  v1::GridInfo& grid = *map.header.mutable_info()->mutable_grid();
  grid.set_width(side);
  grid.set_height(side);
  if (layout != v1::HEX_LAYOUT_UNSPECIFIED) {
    grid.mutable_hexagons()->set_layout(layout);
  }
  map.bytes = text;
  return map;
}

TEST(MapPictureTest, DrawsMapLegendAndPath) {
  const std::vector<v1::Cell> path = {At(0, 0), At(0, 1), At(1, 2), At(2, 2)};
  const auto picture = [&](const client::ExportedMap& map, Window window = {80, 20}) {
    const auto drawn = MapPicture(
        map, Marked({{Mark::kStart, {path.front()}}, {Mark::kGoal, {path.back()}}, {Mark::kPath, path}}),
        window, /*color=*/false);
    EXPECT_TRUE(drawn.ok()) << drawn.status();
    return drawn.value_or("");
  };
  const std::string legend = "S start  G goal  * path  # obstacle\n";
  EXPECT_EQ(picture(Map(3, "connectivity 8\nmap\n..#\n.#.\n...\n")), "  0\n0 S.#\n  *#.\n  .*G\n" + legend);
  EXPECT_EQ(picture(Map(4, "..##\n..##\n..##\n..##\n"), {2, 2}),
            absl::StrCat("  0\n0 S#\n  *G\n", legend, "Each character stands for 2 x 2 cells.\n"));
  EXPECT_EQ(picture(Map(3, "hexagons odd_rows\nmap\n..#\n.#.\n...\n", v1::HEX_LAYOUT_ODD_ROWS)),
            absl::StrCat("  0\n0 S . #\n   * # .\n  . * G\n", legend));
  EXPECT_EQ(picture(Map(3, "hexagons axial_pointy\nmap\n..#\n...\n...\n", v1::HEX_LAYOUT_AXIAL_POINTY)),
            absl::StrCat("  0\n0 S . #\n   * . .\n    . * G\n", legend));
}

TEST(MapPictureTest, RefusesAFileOfAnotherSize) {
  for (const char* text : {"", "..\n", "..\n.\n", "..\n...\n"}) {
    EXPECT_TRUE(absl::IsDataLoss(MapPicture(Map(2, text), {}, {80, 20}, false).status())) << text;
  }
  EXPECT_TRUE(absl::IsDataLoss(MapPicture(Map(0, ""), {}, {80, 20}, false).status()));
}

constexpr char kWalk[] = "1,1 2,2 3,3 3,2 3,1 2,1";

std::string Cells(const v1::FindPathResponse& answer) {
  return absl::StrJoin(PathCells("arena", At(1, 1), answer), " ",
                       [](std::string* out, const v1::Cell& cell) { *out += FormatCell(cell); });
}

v1::FindPathResponse AnswerWith(const std::vector<v1::Cell>& points,
                                const std::vector<v1::Direction>& directions = {}) {
  v1::FindPathResponse answer;
  *answer.mutable_path()->mutable_end()->mutable_cell() = At(2, 1);
  for (const v1::Cell& point : points) {
    *answer.mutable_path()->add_points() = point;
  }
  answer.mutable_path()->mutable_directions()->Assign(directions.begin(), directions.end());
  return answer;
}

void AddCrossing(int index, const std::string& map, const v1::Cell& arrival, v1::FindPathResponse& answer) {
  v1::PortalCrossing& crossing = *answer.mutable_path()->add_crossings();
  crossing.set_index(index);
  crossing.set_map(map);
  *crossing.mutable_arrival() = arrival;
}

TEST(PathCellsTest, FillsInBetweenPointsAndFollowsDirections) {
  EXPECT_EQ(Cells({}), "");
  EXPECT_EQ(Cells(AnswerWith({})), "1,1") << "no steps";
  EXPECT_EQ(Cells(AnswerWith({At(1, 1), At(2, 2), At(3, 3), At(3, 2), At(3, 1), At(2, 1)})), kWalk);
  EXPECT_EQ(Cells(AnswerWith({At(1, 1), At(3, 3), At(3, 1), At(2, 1)})), kWalk);
  EXPECT_EQ(Cells(AnswerWith({At(1, 1), At(6, 3), At(4, -2)})),
            "1,1 2,1 3,2 4,2 5,3 6,3 6,2 5,1 5,0 4,-1 4,-2");
  EXPECT_EQ(Cells(AnswerWith({}, {v1::DIRECTION_SOUTH_EAST, v1::DIRECTION_SOUTH_EAST, v1::DIRECTION_NORTH,
                                  v1::DIRECTION_NORTH, v1::DIRECTION_WEST})),
            kWalk);
}

TEST(PathCellsTest, DrawsNoLineThroughAPortalAndNothingOfAnotherMap) {
  v1::FindPathResponse answer = AnswerWith({At(1, 1), At(2, 1), At(9, 1), At(10, 2)});
  AddCrossing(2, "", At(9, 1), answer);
  EXPECT_EQ(Cells(answer), "1,1 2,1 9,1 10,2");
  answer = AnswerWith({}, {v1::DIRECTION_EAST, v1::DIRECTION_SOUTH_EAST});
  AddCrossing(1, "", At(9, 1), answer);
  EXPECT_EQ(Cells(answer), "1,1 2,1 9,1 10,2");
  answer = AnswerWith({At(1, 1), At(2, 1), At(5, 5), At(6, 5), At(3, 1), At(4, 1)});
  AddCrossing(2, "cellar", At(5, 5), answer);
  AddCrossing(4, "arena", At(3, 1), answer);
  EXPECT_EQ(Cells(answer), "1,1 2,1 3,1 4,1");
}

}  // namespace
}  // namespace waystar::cli
