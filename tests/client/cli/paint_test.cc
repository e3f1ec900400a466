#include "client/cli/draw/paint.h"

#include <gtest/gtest.h>

namespace waystar::cli {
namespace {

v1::GridInfo Grid(int width, int height) {
  v1::GridInfo grid;
  grid.set_width(width);
  grid.set_height(height);
  v1::Terrain& river = *grid.add_terrains();
  river.set_symbol("~");
  river.set_name("river");
  river.set_cost(3);
  v1::Terrain& peak = *grid.add_terrains();
  peak.set_symbol("^");
  peak.set_name("peak");
  peak.set_impassable(true);
  return grid;
}

TEST(PaintTest, RulersTellCoordinates) {
  const std::vector<absl::string_view> map(11, "............");
  EXPECT_EQ(Paint(DrawMap(map, {0, 0, 12, 11, 1}), /*color=*/false),
            "   0    5    10\n"
            " 0 ............\n"
            "   ............\n"
            "   ............\n"
            "   ............\n"
            "   ............\n"
            " 5 ............\n"
            "   ............\n"
            "   ............\n"
            "   ............\n"
            "   ............\n"
            "10 ............\n");
}

TEST(PaintTest, RulersFollowTheView) {
  const std::vector<absl::string_view> map(12, "............");
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
  const Picture picture = DrawMap({"..#"}, {0, 0, 3, 1, 1});
  EXPECT_EQ(Paint(picture, /*color=*/true), "  0\n0 \x1b[2m..\x1b[0m\x1b[90m#\x1b[0m\n");
}

TEST(PaintTest, LaterIsRedder) {
  const Picture picture = {
      .view = {0, 0, 3, 1, 1},
      .rows = {{{'0', Mark::kExpanded, 0}, {'9', Mark::kExpanded, 9}, {'o', Mark::kOpen}}}};
  EXPECT_EQ(Paint(picture, /*color=*/true),
            "  0\n0 \x1b[38;5;230m0\x1b[0m\x1b[38;5;196m9\x1b[0m\x1b[34mo\x1b[0m\n");
  EXPECT_EQ(Legend(picture, Grid(3, 1)), "0-9 expanded, first to last  o open");
}

TEST(PaintTest, TheLegendExplainsWhatIsThere) {
  const v1::GridInfo grid = Grid(4, 1);
  EXPECT_EQ(Legend(DrawMap({".#~~"}, {0, 0, 4, 1, 1}), grid), "# obstacle  ~ river, cost 3");
  EXPECT_EQ(Legend(DrawMap({"..^."}, {0, 0, 4, 1, 1}), grid), "^ peak, impassable");
  EXPECT_EQ(Legend(DrawMap({"...."}, {0, 0, 4, 1, 1}), grid), "");
}

TEST(PaintTest, TheCaptionTellsPartAndScale) {
  EXPECT_EQ(Caption({0, 0, 400, 300, 1}, 400, 300), "");
  EXPECT_EQ(Caption({0, 0, 400, 300, 5}, 400, 300), "Each character stands for 5 x 5 cells.");
  EXPECT_EQ(Caption({10, 20, 80, 20, 1}, 400, 300),
            "Shown: x 10 to 89 and y 20 to 39 of a map of 400 x 300.");
  EXPECT_EQ(
      Caption({10, 20, 160, 40, 2}, 400, 300),
      "Shown: x 10 to 169 and y 20 to 59 of a map of 400 x 300. Each character stands for 2 x 2 cells.");
}

}  // namespace
}  // namespace waystar::cli
