#include "client/cli/map_picture.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/client/cli/cells.h"

namespace waystar::cli {
namespace {

using ::waystar::testing::At;

client::ExportedMap Map(int width, int height, const std::string& text) {
  client::ExportedMap map;
  map.header.mutable_info()->mutable_grid()->set_width(width);
  map.header.mutable_info()->mutable_grid()->set_height(height);
  map.bytes = text;
  return map;
}

TEST(MapPictureTest, DrawsMapLegendAndPath) {
  Overlay overlay;
  overlay.start = At(0, 0);
  overlay.goal = At(4, 0);
  overlay.path = {At(0, 0), At(1, 1), At(2, 2), At(3, 1), At(4, 0)};
  const auto picture =
      MapPicture(Map(5, 3, "connectivity 8\nmap\n..#..\n..#..\n.....\n"), overlay, {80, 20}, /*color=*/false);
  ASSERT_TRUE(picture.ok()) << picture.status();
  EXPECT_EQ(*picture,
            "  0\n"
            "0 S.#.G\n"
            "  .*#*.\n"
            "  ..*..\n"
            "S start  G goal  * path  # obstacle\n");
}

TEST(MapPictureTest, ScalesDownWhatDoesNotFit) {
  const std::string wall = "....####";
  const std::string open = "........";
  const auto picture = MapPicture(Map(8, 4, absl::StrCat(wall, "\n", wall, "\n", open, "\n", open, "\n")), {},
                                  {4, 2}, /*color=*/false);
  ASSERT_TRUE(picture.ok()) << picture.status();
  EXPECT_EQ(*picture,
            "  0\n"
            "0 ..##\n"
            "  ....\n"
            "# obstacle\n"
            "Each character stands for 2 x 2 cells.\n");
}

TEST(MapPictureTest, ShiftsEveryOtherRowOfABoardOfHexagons) {
  client::ExportedMap map = Map(3, 3, "hexagons odd_rows\nmap\n..#\n.#.\n...\n");
  map.header.mutable_info()->mutable_grid()->mutable_hexagons()->set_layout(v1::HEX_LAYOUT_ODD_ROWS);
  Overlay overlay;
  overlay.start = At(0, 0);
  overlay.path = {At(0, 0), At(0, 1), At(1, 2), At(2, 2)};
  overlay.goal = At(2, 2);
  const auto picture = MapPicture(map, overlay, {80, 20}, /*color=*/false);
  ASSERT_TRUE(picture.ok()) << picture.status();
  EXPECT_EQ(*picture,
            "  0\n"
            "0 S . #\n"
            "   * # .\n"
            "  . * G\n"
            "S start  G goal  * path  # obstacle\n");
}

TEST(MapPictureTest, SlantsAPlaneOfHexagons) {
  client::ExportedMap map = Map(3, 3, "hexagons axial_pointy\nmap\n...\n...\n..#\n");
  map.header.mutable_info()->mutable_grid()->mutable_hexagons()->set_layout(v1::HEX_LAYOUT_AXIAL_POINTY);
  const auto picture = MapPicture(map, {}, {80, 20}, /*color=*/false);
  ASSERT_TRUE(picture.ok()) << picture.status();
  EXPECT_EQ(*picture,
            "  0\n"
            "0 . . .\n"
            "   . . .\n"
            "    . . #\n"
            "# obstacle\n");
}

TEST(MapPictureTest, RefusesAFileOfAnotherSize) {
  for (const char* text : {"", "..\n", "..\n.\n", "..\n...\n"}) {
    EXPECT_TRUE(absl::IsDataLoss(MapPicture(Map(2, 2, text), {}, {80, 20}, false).status())) << text;
  }
  EXPECT_TRUE(absl::IsDataLoss(MapPicture(Map(0, 0, ""), {}, {80, 20}, false).status()));
}

}  // namespace
}  // namespace waystar::cli
