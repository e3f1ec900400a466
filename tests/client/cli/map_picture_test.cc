// Marks and colours on pictures of maps, and the parts of large maps that are shown.

#include "client/cli/map_picture.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/service/about_map.h"

namespace waystar::cli {
namespace {

v1::Cell At(int x, int y) {
  v1::Cell cell;
  cell.set_x(x);
  cell.set_y(y);
  return cell;
}

constexpr char kSquares[] =
    " placement { width: 6 height: 4 region { width: 4 height: 2 } zero { x: 2.5 y: 2.5 }"
    " x_step { x: 1 } y_step { y: 1 } }";

TEST(MapPictureTest, MarksLieAboveTheMapAndBelowThereIsTheirLegend) {
  const auto drawn = Parsed<v1::RenderMapResponse>(
      std::string("image: 'title\\n  0\\n0 ..#.\\n  ....\\n# obstacle\\n'") + kSquares);
  EXPECT_EQ(DrawMarks(drawn,
                      {{.cell = At(0, 1), .symbol = '*'},
                       {.cell = At(0, 1), .symbol = 'S'},
                       {.cell = At(1, 0), .direction = v1::DIRECTION_SOUTH_WEST},
                       {.cell = At(9, 0), .symbol = '*'}},
                      "S start", v1::HEX_LAYOUT_UNSPECIFIED, /*color=*/false),
            "  0\n0 ./#.\n  S...\nS start\n# obstacle\n");
}

TEST(MapPictureTest, HexagonsAreMarkedWhereTheyAreDrawn) {
  const auto drawn = Parsed<v1::RenderMapResponse>(
      "image: 'title\\n  0\\n0 . .\\n   . .\\n' placement { width: 7 height: 4 hexagons: true"
      " region { width: 2 height: 2 } zero { x: 2.5 y: 2.5 } x_step { x: 2 } y_step { x: 1 y: 1 } }");
  EXPECT_EQ(
      DrawMarks(drawn,
                {{.cell = At(1, 1), .symbol = '*'}, {.cell = At(0, 1), .direction = v1::DIRECTION_NORTH}}, "",
                v1::HEX_LAYOUT_ODD_ROWS, /*color=*/false),
      "  0\n0 . .\n   \\ *\n");
}

TEST(MapPictureTest, RunsOfACharacterHaveAColour) {
  const auto drawn = Parsed<v1::RenderMapResponse>(
      std::string("image: 'title\\nfacts\\n  0\\n0 ..#9\\n0-9 expanded\\n' answer {}") + kSquares);
  EXPECT_EQ(DrawMarks(drawn, {}, "", v1::HEX_LAYOUT_UNSPECIFIED, /*color=*/true),
            "  0\n0 \x1b[2m..\x1b[0m\x1b[90m#\x1b[0m\x1b[38;5;196m9\x1b[0m\n0-9 expanded\n");
}

TEST(MapPictureTest, APartHasTheFocusInItsMiddle) {
  const auto part = [](const std::vector<v1::Cell>& focus) {
    v1::Rectangle whole;
    whole.set_width(1000);
    whole.set_height(999);
    const v1::Rectangle shown = PartAround(focus, whole, 80, 20);
    return std::vector<int>{shown.x(), shown.y(), shown.width(), shown.height()};
  };
  using Box = std::vector<int>;
  EXPECT_EQ(part({At(500, 500), At(510, 505)}), (Box{466, 493, 80, 20}));
  EXPECT_EQ(part({At(0, 0), At(5, 5)}), (Box{0, 0, 80, 20}));
  EXPECT_EQ(part({At(999, 998)}), (Box{920, 979, 80, 20}));
  EXPECT_EQ(part({At(100, 10), At(300, 900)}), (Box{98, 8, 205, 895})) << "larger than the room";
  EXPECT_EQ(part({At(2000, -5)}), (Box{920, 0, 80, 20})) << "of a map that has shrunk";
}

}  // namespace
}  // namespace waystar::cli
