#include "server/formats/text/moving_ai.h"

#include <string>

#include "gmock/gmock.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::waystar::testing::DrawMap;
using ::waystar::testing::DrawPath;
using ::waystar::testing::IsError;
using ::waystar::testing::kInvalid;

std::string File(const std::string& rows, int height = 2, int width = 7) {
  return "type octile\nheight " + std::to_string(height) + "\nwidth " + std::to_string(width) + "\nmap\n" +
         rows;
}

// Reads a file that must be right.
GridMap ReadMovingAi(const std::string& file, const GridOverrides& overrides = {}) {
  absl::StatusOr<GridMap> map = ParseMovingAi(file, overrides);
  EXPECT_TRUE(map.ok()) << map.status() << "\n" << file;
  return *std::move(map);
}

TEST(MovingAiTest, KnowsEveryLetter) {
  const GridMap map = ReadMovingAi(File(".GSTW@O\n.......\n"));
  for (int x = 0; x < 7; ++x) {
    EXPECT_EQ(map.IsWalkable({x, 0}), x < 3) << "column " << x;
    EXPECT_EQ(map.HasObstacle({x, 0}), x >= 5) << "column " << x;
  }
  EXPECT_TRUE(map.step_costs().uniform);
}

TEST(MovingAiTest, TerrainMayBePriced) {
  GridOverrides overrides;
  overrides.terrains.push_back({.symbol = 'S', .cost = 1.5});
  overrides.terrains.push_back({.symbol = 'W', .cost = 2.0});
  const GridMap map = ReadMovingAi(File(".GSTW@O\n.......\n"), overrides);
  EXPECT_TRUE(map.IsWalkable({4, 0}));
  EXPECT_EQ(map.settings().terrains[map.TerrainAt({4, 0})],
            (Terrain{.symbol = 'W', .name = "water", .cost = 2.0}));
}

TEST(MovingAiTest, AcceptsCrLfTrailingSpacesAndBlankLinesAtTheEnd) {
  const GridMap map = ReadMovingAi("type octile\r\nheight 2 \r\nwidth  2\r\nmap\r\n..\r\n.@\r\n\r\n");
  EXPECT_THAT(DrawPath(map, {}), ElementsAre("..", ".#"));
}

TEST(MovingAiTest, NamesTheLineAtFault) {
  const auto expect_error = [](const std::string& text, ErrorReason reason, const std::string& message) {
    const auto map = ParseMovingAi(text, {});
    EXPECT_THAT(map, IsError(kInvalid, reason, ""));
    EXPECT_THAT(std::string(map.status().message()), HasSubstr(message)) << text;
  };
  expect_error(File(".......\n"), ErrorReason::kBadFormat, "the file ends after 1 of the 2 rows");
  expect_error(File(".......\n...."), ErrorReason::kBadFormat, "line 6: the row has 4 cells, not the 7");
  expect_error(File(".......\n.......\n.......\n"), ErrorReason::kBadFormat, "line 7: more rows than the 2");
  expect_error(File(".......\n...x...\n"), ErrorReason::kUnknownTerrain,
               "line 6: no terrain has the symbol 'x'");
  expect_error(File("", 0, 7), ErrorReason::kBadSize, "height must be 1 to 8192 cells, got 0");
  expect_error(File("", -3, 7), ErrorReason::kBadSize, "got -3");
  expect_error("type octile\nheight 2147483648\nwidth 2147483648\nmap\n", ErrorReason::kBadSize,
               "got 2147483648");
  expect_error("type octile\nheight 1\nmap\n.\n", ErrorReason::kBadFormat,
               "line 3: the header lacks one of height and width");
  expect_error("type octile\nwidth 1\nmap\n.\n", ErrorReason::kBadFormat, "lacks one of height and width");
  expect_error("type hexagonal\nheight 1\nwidth 1\nmap\n.\n", ErrorReason::kBadFormat,
               "line 1: Moving AI files are of squares");
  expect_error("type octile\nheight one\nwidth 1\nmap\n.\n", ErrorReason::kBadFormat,
               "line 2: \"one\" is not a number");
  expect_error("type octile\nHeight 1\nheight 2\nwidth 1\nmap\n.\n", ErrorReason::kBadFormat,
               "line 3: a second height");
  expect_error("type octile\nheight 1\nwidth 1 cell\nmap\n.\n", ErrorReason::kBadFormat,
               "line 3: \"width 1 cell\" is none of");
  expect_error("type octile\nheight 1\nwidth 9\nversion 2\n.........\n", ErrorReason::kBadFormat,
               "line 4: \"version 2\" is none of");
  expect_error("type octile\nheight 1\n.\n", ErrorReason::kBadFormat, "line 3: \".\" is none of");
  expect_error("type octile\nwidth 1\n.\n", ErrorReason::kBadFormat, "line 3: \".\" is none of");
  expect_error("type octile\nheight 1\n", ErrorReason::kBadFormat, "lacks one of height and width");
  expect_error("", ErrorReason::kBadFormat, "lacks one of height and width");
}

TEST(MovingAiTest, ReadsHeadersAsOthersWriteThem) {
  for (const char* const header :
       {"\xEF\xBB\xBFtype octile\nheight 2\nwidth 3\nmap\n", "type octile\nwidth 3\nheight 2\nmap\n",
        "TYPE octile\nHeight 2\nWIDTH 3\nMap\n", "\ttype\toctile \n  height  2\nwidth\t3 \r\n map \r\r\n",
        "\n \ntype octile\n\nheight 2\nwidth 3\n\nmap\n\n \n", "type tile\nheight 2\nwidth 3\nmap\n",
        "height 2\nwidth 3\nmap\n", "width 3\nheight 2\ntype octile\n", "type octile\nheight 2\nwidth 3\n\n",
        "height 2\nwidth 3\n"}) {
    const GridMap map = ReadMovingAi(std::string(header) + "..@\n.T.\n");
    EXPECT_EQ(map.walkable_cells(), 4) << header;
    EXPECT_TRUE(map.HasObstacle({2, 0})) << header;
    EXPECT_FALSE(map.IsWalkable({1, 1})) << header;
  }
}

TEST(MovingAiTest, DropsBlanksBehindRowsAndNothingElse) {
  const GridMap map = ReadMovingAi(File("..@ \t\r\n.@. \n \n\t\r\n", 2, 3));
  EXPECT_THAT(DrawPath(map, {}), ElementsAre("..#", ".#."));
  const auto message = [](const std::string& rows) {
    return std::string(ParseMovingAi(File(rows, 2, 3), {}).status().message());
  };
  EXPECT_THAT(message("..@\n..  \n"), HasSubstr("line 6: the row has 2 cells, not the 3"));
  EXPECT_THAT(message(" ..@\n...\n"), HasSubstr("line 5: the row has 4 cells, not the 3"));
  EXPECT_THAT(message("..@\n \n...\n"), HasSubstr("line 6: the row has 0 cells, not the 3"));
  EXPECT_THAT(message("..@\n...\n@ \n"), HasSubstr("line 7: more rows than the 2"));
  EXPECT_THAT(message("\n..@\n. .\n"), HasSubstr("line 7: no terrain has the symbol ' ' of column 1"));
}

TEST(MovingAiTest, IsKnownByItsFirstLines) {
  for (const char* const file :
       {"type octile\n", "\xEF\xBB\xBFtype octile", "TYPE\toctile\n", " \r\n  type octile\n",
        "height 3\nwidth 4\n", "Width 4\r\n\r\nHEIGHT 3\r\n", "width 4\ntype octile\n"}) {
    EXPECT_TRUE(LooksLikeMovingAi(file)) << file;
  }
  for (const char* const file : {"", "\n", "type\n....\n", "type \n....\n", "types octile\n", "map\n..\n",
                                 "height 3\n", "height 3\n\nheight 3\n", "height 3\n...\n", "height\nwidth\n",
                                 "height 3 4\nwidth 4\n", "width 3 4\nheight 4\n", "...\ntype octile\n"}) {
    EXPECT_FALSE(LooksLikeMovingAi(file)) << file;
  }
}

TEST(MovingAiTest, WritesWhatItReads) {
  const std::string file = File(".GSTW@@\n.......\n");
  const GridMap map = ReadMovingAi(file);
  EXPECT_EQ(*FormatMovingAi(map), file);
}

TEST(MovingAiTest, RefusesTerrainItHasNoLetterFor) {
  GridSettings settings;
  settings.terrains.push_back({.symbol = '~', .name = "river", .cost = 3.0});
  const auto text = FormatMovingAi(DrawMap({"..", ".~"}, settings));
  EXPECT_THAT(text, IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kNotExpressible, "format"));
  EXPECT_THAT(std::string(text.status().message()), HasSubstr("'~' at (1, 1)"));
}

}  // namespace
}  // namespace waystar::core
