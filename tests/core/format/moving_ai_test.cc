#include "server/core/format/moving_ai.h"

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

TEST(MovingAiTest, KnowsEveryLetter) {
  const auto map = ParseMovingAi(File(".GSTW@O\n.......\n"), {});
  ASSERT_TRUE(map.ok()) << map.status();
  for (int x = 0; x < 7; ++x) {
    EXPECT_EQ(map->IsWalkable({x, 0}), x < 3) << "column " << x;
    EXPECT_EQ(map->HasObstacle({x, 0}), x >= 5) << "column " << x;
  }
  EXPECT_TRUE(map->step_costs().uniform);
}

TEST(MovingAiTest, TerrainMayBePriced) {
  GridOverrides overrides;
  overrides.terrains.push_back({.symbol = 'S', .cost = 1.5});
  overrides.terrains.push_back({.symbol = 'W', .cost = 2.0});
  const auto map = ParseMovingAi(File(".GSTW@O\n.......\n"), overrides);
  ASSERT_TRUE(map.ok()) << map.status();
  EXPECT_TRUE(map->IsWalkable({4, 0}));
  EXPECT_EQ(map->settings().terrains[map->TerrainAt({4, 0})],
            (Terrain{.symbol = 'W', .name = "water", .cost = 2.0}));
}

TEST(MovingAiTest, AcceptsCrLfTrailingSpacesAndBlankLinesAtTheEnd) {
  const auto map = ParseMovingAi("type octile\r\nheight 2 \r\nwidth  2\r\nmap\r\n..\r\n.@\r\n\r\n", {});
  ASSERT_TRUE(map.ok()) << map.status();
  EXPECT_THAT(DrawPath(*map, {}), ElementsAre("..", ".#"));
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
  expect_error(File("", 0, 7), ErrorReason::kBadSize, "height is from 1 to 8192 cells, not 0");
  expect_error(File("", -3, 7), ErrorReason::kBadSize, "not -3");
  expect_error("type octile\nheight 2147483648\nwidth 2147483648\nmap\n", ErrorReason::kBadSize,
               "not 2147483648");
  expect_error("type octile\nheight 1\nmap\n.\n", ErrorReason::kBadFormat,
               "lacks one of type, height and width");
  expect_error("type hex\nheight 1\nwidth 1\nmap\n.\n", ErrorReason::kBadFormat,
               "line 1: \"type hex\" is none of");
  expect_error("type octile\nheight one\nwidth 1\nmap\n.\n", ErrorReason::kBadFormat, "line 2");
  expect_error("type octile\nheight 1\n", ErrorReason::kBadFormat, "does not end with a line \"map\"");
  expect_error("", ErrorReason::kBadFormat, "does not end with a line \"map\"");
}

TEST(MovingAiTest, WritesWhatItReads) {
  const std::string file = File(".GSTW@@\n.......\n");
  const auto map = ParseMovingAi(file, {});
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(*FormatMovingAi(*map), file);
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
