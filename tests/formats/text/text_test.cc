#include "server/formats/text/text.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/elements/profile_table.h"
#include "server/formats/text/rows.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kRiver[] =
    "connectivity 4\n"
    "diagonal_cost 1.4\n"
    "terrain ~ river 3\n"
    "terrain ^ mountain impassable\n"
    "map\n"
    "..~~\n"
    ".#^.\n";

// Reads a text that must be right.
GridMap ReadText(const std::string& text, const GridOverrides& overrides = {}) {
  absl::StatusOr<GridMap> map = ParseText(text, overrides);
  EXPECT_TRUE(map.ok()) << map.status() << "\n" << text;
  return *std::move(map);
}

TEST(TextTest, ReadsRowsWithoutHeader) {
  const GridMap map = ReadText("..#\r\n.@O");
  EXPECT_THAT(DrawPath(map, {}), ElementsAre("..#", ".##"));
  EXPECT_EQ(map.settings(), GridSettings{});
}

TEST(TextTest, IgnoresAByteOrderMarkAndBlanksAroundLines) {
  const GridMap plain = ReadText("\xEF\xBB\xBF \t\r\n..# \r\n.@O\t \r\r\n \n\t\n");
  EXPECT_THAT(DrawPath(plain, {}), ElementsAre("..#", ".##"));
  const GridMap with_header = ReadText("\xEF\xBB\xBF  connectivity\t4 \n\t\n\tmap \n..#  \n");
  EXPECT_EQ(with_header.settings().connectivity, Connectivity::kFour);
  EXPECT_THAT(DrawPath(with_header, {}), ElementsAre("..#"));
  const GridMap tabs = ReadText("connectivity\t4\nmap\n..#\n");
  EXPECT_EQ(tabs.settings().connectivity, Connectivity::kFour);
  const GridMap bare_header = ReadText("\tmap \n..#\n");
  EXPECT_EQ(bare_header.height(), 1);
}

TEST(TextTest, ReadsHeader) {
  const GridMap map = ReadText(kRiver);
  EXPECT_EQ(map.settings().connectivity, Connectivity::kFour);
  EXPECT_EQ(map.settings().diagonal_cost, 1.4);
  EXPECT_THAT(map.settings().terrains,
              ElementsAre(Terrain{}, Terrain{.symbol = '~', .name = "river", .cost = 3.0},
                          Terrain{.symbol = '^', .name = "mountain", .impassable = true}));
  EXPECT_TRUE(map.IsWalkable({2, 0}));
  EXPECT_FALSE(map.IsWalkable({2, 1}));
}

TEST(TextTest, CallersOptionsWinOverTheHeader) {
  GridOverrides overrides{.connectivity = Connectivity::kEight, .diagonal_cost = 1.5};
  overrides.terrains.push_back({.symbol = '~', .cost = 2.0});
  overrides.terrains.push_back({.symbol = '^', .cost = 9.0});
  const GridMap map = ReadText(kRiver, overrides);
  EXPECT_EQ(map.settings().connectivity, Connectivity::kEight);
  EXPECT_EQ(map.settings().diagonal_cost, 1.5);
  EXPECT_THAT(map.settings().terrains,
              ElementsAre(Terrain{}, Terrain{.symbol = '~', .name = "river", .cost = 2.0},
                          Terrain{.symbol = '^', .name = "mountain", .cost = 9.0}));
  EXPECT_TRUE(map.IsWalkable({2, 1}));
}

TEST(TextTest, NamesTheLineAtFault) {
  const auto expect_error = [](const std::string& text, const std::string& message,
                               ErrorReason reason = ErrorReason::kBadFormat) {
    const auto map = ParseText(text, {});
    EXPECT_THAT(map, IsError(kInvalid, reason, ""));
    EXPECT_THAT(std::string(map.status().message()), HasSubstr(message)) << text;
  };
  expect_error("connectivity 4\nmap\n...\n..\n", "line 4: has 2 cells, the first row 3",
               ErrorReason::kBadRow);
  expect_error("...\n.?.\n", "line 2: no terrain has the symbol '?' of column 1",
               ErrorReason::kUnknownTerrain);
  expect_error("...\n.\xff.\n", "'\\xff' of column 1", ErrorReason::kUnknownTerrain);
  expect_error("...\n .\n", "line 2: has 2 cells, the first row 3", ErrorReason::kBadRow);
  expect_error(" ..\n", "line 1: no terrain has the symbol ' ' of column 0", ErrorReason::kUnknownTerrain);
  expect_error("...\n..  \n", "line 2: has 2 cells, the first row 3", ErrorReason::kBadRow);
  expect_error("...\n \n...\n", "line 3: a row after an empty line", ErrorReason::kBadRow);
  expect_error("\xEF\xBB\xBF", "at least one row", ErrorReason::kBadSize);
  expect_error("connectivity 5\nmap\n.\n", "line 1");
  expect_error("connectivity 4\nconnectivity 4\nmap\n.\n", "line 2: a second");
  expect_error("connectivity 4\nwater 3\nmap\n.\n", "line 2: \"water 3\" is none of");
  expect_error("terrain ~ river\nmap\n.\n", "line 1: expected \"terrain");
  expect_error("terrain ~ river -3\nmap\n.\n", "a terrain's cost must be 0.001");
  expect_error("connectivity 4\n...\n", "line 2");
  expect_error("connectivity 4\n", "does not end with a line \"map\"");
  expect_error("", "at least one row", ErrorReason::kBadSize);
  expect_error("map\n", "at least one row", ErrorReason::kBadSize);
  expect_error("...\n\n...\n", "line 3: a row after an empty line", ErrorReason::kBadRow);
  std::string tall;
  for (int y = 0; y <= kMaxMapSide; ++y) {
    tall += ".\n";
  }
  expect_error(tall, "height must be 1 to 8192 cells, got 8193", ErrorReason::kBadSize);
  expect_error(std::string(kMaxMapSide + 1, '.'), "width must be 1 to 8192", ErrorReason::kBadSize);
}

TEST(TextTest, ProfilesAreLinesOfTheHeader) {
  const std::string text =
      "terrain ~ river 3\n"
      "profile tank footprint 2 ~ forbidden corner_rule always\n"
      "profile crab no_diagonals tag rope tag ladder ~ 0.5\n"
      "map\n"
      "..~\n";
  const GridMap map = ReadText(text);
  const NamedProfile tank{"tank",
                          {.footprint = 2, .corner_rule = CornerRule::kAlways, .forbidden_terrains = {'~'}}};
  const NamedProfile crab{
      "crab", {.terrain_costs = {{'~', 0.5}}, .required_tags = {"rope", "ladder"}, .no_diagonals = true}};
  EXPECT_THAT(map.profiles(), ElementsAre(crab, tank));
  const GridMap again = ReadText(FormatText(map));
  EXPECT_EQ(again.profiles(), map.profiles());
}

TEST(TextTest, OriginAndCellSizeAreLinesOfTheHeader) {
  const GridMap map = ReadText("origin -50 0.1\ncell_size 0.25\nmap\n..\n");
  EXPECT_EQ(map.settings().frame, (WorldFrame{.origin = {-50, 0.1, 0}, .cell_size = 0.25}));
  const GridMap again = ReadText(FormatText(map));
  EXPECT_EQ(again.settings(), map.settings());
  for (const char* const line :
       {"origin 1", "origin 1 2 3 4", "origin a b", "origin nan 0", "origin 2e9 0", "cell_size 0",
        "cell_size inf", "cell_size 1\ncell_size 1", "origin 0 0\norigin 0 0"}) {
    EXPECT_THAT(ParseText(std::string(line) + "\nmap\n..\n", {}),
                IsError(kInvalid, ErrorReason::kBadFormat, ""))
        << line;
  }
}

TEST(TextTest, BadProfileNamesItsLine) {
  const auto expect_error = [](const std::string& line, const std::string& message) {
    const auto map = ParseText("terrain ~ river 3\n" + line + "\nmap\n.~\n", {});
    EXPECT_THAT(map, IsError(kInvalid, ErrorReason::kBadFormat, "")) << line;
    EXPECT_THAT(std::string(map.status().message()), HasSubstr("line 2: " + message)) << line;
  };
  expect_error("profile ", "expected \"profile NAME");
  expect_error("profile a/b", "a profile's name");
  expect_error("profile tank footprint", "\"footprint\" does not begin");
  expect_error("profile tank footprint two", "\"footprint\" does not begin");
  expect_error("profile tank footprint 33", "");
  expect_error("profile tank wide 2", "\"wide\" does not begin");
  expect_error("profile tank ^ 2", "none of the map's terrains");
  expect_error("profile tank ~ free", "\"~\" does not begin");
  expect_error("profile tank ~ 2 ~ forbidden", "the profile names the terrain '~' twice");
  expect_error("profile tank ~ forbidden . forbidden", "the profile leaves no terrain");
}

TEST(TextTest, RefusesTheFirstProfileTooMany) {
  std::string header;
  for (std::size_t i = 1; i <= kMaxProfiles; ++i) {
    absl::StrAppend(&header, "profile p", i, "\n");
  }
  const std::string rows = "map\n..\n";
  EXPECT_EQ(ParseText(header + rows, {}).status(), absl::OkStatus());
  // What comes later is not looked at.
  const auto map = ParseText(header + "profile more\nprofile more\nnonsense\n" + rows, {});
  EXPECT_THAT(map, IsError(kInvalid, ErrorReason::kBadFormat, ""));
  EXPECT_THAT(std::string(map.status().message()),
              HasSubstr(absl::StrCat("line ", kMaxProfiles + 1, ": a map has at most ", kMaxProfiles)));
}

TEST(TextTest, PlainMapIsWrittenWithoutHeader) {
  EXPECT_EQ(FormatText(DrawMap({"..#", "..."})), "..#\n...\n");
}

TEST(TextTest, WhatIsWrittenReadsBackTheSame) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Generator generator(seed);
    const GridMap map = generator.Map(
        {.max_side = 70, .weighted = generator.Chance(0.5), .connectivity = AnyConnectivity(generator)});
    const GridMap read = ReadText(FormatText(map));
    EXPECT_EQ(read.settings(), map.settings());
    EXPECT_EQ(DrawPath(read, {}), DrawPath(map, {})) << "seed " << seed;
  }
}

TEST(HexTextTest, BoardsAreWrittenByTheirOwnRows) {
  for (const char* layout : {"odd_rows", "even_rows", "odd_columns", "even_columns"}) {
    const std::string text = absl::StrCat("hexagons ", layout,
                                          "\nterrain . ground 1\nterrain ~ swamp 2\nmap\n"
                                          "..#.~\n"
                                          "~....\n"
                                          "##.~.\n");
    const GridMap map = ReadText(text);
    EXPECT_EQ(FormatText(map), text);
    EXPECT_EQ(map.settings().connectivity, Connectivity::kSix);
    EXPECT_EQ(map.walkable_cells(), 12);
    const HexBoard& board = *map.settings().frame.hexagons;
    EXPECT_TRUE(map.HasObstacle(board.PlaneCellOf({2, 0})));
    EXPECT_EQ(map.TerrainAt(board.PlaneCellOf({0, 1})), 1);
    EXPECT_EQ(map.StraightCost(board.PlaneCellOf({3, 2})), 2 * kCostScale);
  }
}

TEST(HexTextTest, AxialRowsAreThoseOfThePlane) {
  const GridMap map = ReadText("hexagons axial_flat\nmap\n#..\n...\n..#\n");
  EXPECT_EQ(map.width(), 3);
  EXPECT_FALSE(map.IsWalkable({0, 0}));
  EXPECT_EQ(ReadText(FormatText(map)).settings(), map.settings());
}

TEST(HexTextTest, ALayoutIsOneOfSixAndAllowsNoOtherConnectivity) {
  const auto message = [](const char* header) {
    return std::string(ParseText(absl::StrCat(header, "\nmap\n..\n"), {}).status().message());
  };
  EXPECT_THAT(message("hexagons round"), HasSubstr("LAYOUT one of axial_pointy"));
  EXPECT_THAT(message("hexagons odd_rows\nhexagons odd_rows"), HasSubstr("once"));
  EXPECT_THAT(message("hexagons odd_rows\nconnectivity 8"), HasSubstr("a layout of hexagons"));
  EXPECT_THAT(message("hexagons odd_rows\ndiagonal_cost 1.4"), HasSubstr("no diagonals"));
}

TEST(MapFormatTest, WritesWhatItCanSay) {
  const GridMap map = ReadText("..#");
  EXPECT_EQ(*FormatMap(MapFormat::kText, map), "..#\n");
  for (const MapFormat format :
       {MapFormat::kTiled, MapFormat::kLdtk, MapFormat::kImage, MapFormat::kGeoJson}) {
    EXPECT_THAT(FormatMap(format, map),
                IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kNotExpressible, "format"));
  }
}

TEST(RowsTest, NamesTheRowAtFault) {
  EXPECT_THAT(ParseRows({"...", ".."}, {}, {}), IsError(kInvalid, ErrorReason::kBadRow, "rows[1]"));
  EXPECT_THAT(ParseRows({"...", "...", ".~."}, {}, {}),
              IsError(kInvalid, ErrorReason::kUnknownTerrain, "rows[2]"));
  EXPECT_THAT(ParseRows({}, {}, {}), IsError(kInvalid, ErrorReason::kBadSize, "rows"));
  EXPECT_THAT(ParseRows({""}, {}, {}), IsError(kInvalid, ErrorReason::kBadSize, "rows"));
}

TEST(GridOverridesTest, NamesTheOverrideAtFault) {
  GridOverrides overrides;
  overrides.terrains.push_back({.symbol = '~', .cost = 2.0});
  overrides.terrains.push_back({.symbol = '=', .cost = 0.0});
  EXPECT_THAT(ApplyOverrides({}, overrides), IsError(kInvalid, ErrorReason::kBadTerrain, "terrains[1].cost"));
  overrides.terrains[1] = {.symbol = '~', .cost = 3.0};
  EXPECT_THAT(ApplyOverrides({}, overrides),
              IsError(kInvalid, ErrorReason::kBadTerrain, "terrains[1].symbol"));
  overrides.terrains[1] = {.symbol = '@'};
  EXPECT_THAT(ApplyOverrides({}, overrides),
              IsError(kInvalid, ErrorReason::kBadTerrain, "terrains[1].symbol"));
}

TEST(GridOverridesTest, GroundMayBeRedefined) {
  EXPECT_THAT(ApplyOverrides({}, {.terrains = {{.symbol = '.', .cost = 2.0}}})->terrains,
              ElementsAre(Terrain{.symbol = '.', .name = "ground", .cost = 2.0}));
}

TEST(ShortestTextTest, WritesNumbersAsPeopleDo) {
  for (const auto& [number, text] : {std::pair(1.4, "1.4"),
                                     {0.1, "0.1"},
                                     {0.0, "0"},
                                     {-50.0, "-50"},
                                     {100000.0, "100000"},
                                     {1.0 / 3.0, "0.3333333333333333"},
                                     {1e30, "1e+30"},
                                     {2.5e-9, "2.5e-09"}}) {
    EXPECT_EQ(ShortestText(number), text);
  }
}

TEST(ShortestTextTest, ReadsBackAsTheSameNumber) {
  std::vector<double> numbers = {std::numeric_limits<double>::max(),
                                 std::numeric_limits<double>::denorm_min(),
                                 1e16,
                                 std::nextafter(1e16, 0.0),
                                 1e-5,
                                 std::nextafter(1e-5, 0.0)};
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    numbers.push_back(std::bit_cast<double>(random()));
  }
  for (const double number : numbers) {
    double read = 0;
    ASSERT_TRUE(absl::SimpleAtod(ShortestText(number), &read) || !std::isfinite(number));
    ASSERT_TRUE(read == number || !std::isfinite(number)) << number;
  }
}

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
  const auto expect_error = [](const std::string& text, const std::string& message,
                               ErrorReason reason = ErrorReason::kBadFormat) {
    const auto map = ParseMovingAi(text, {});
    EXPECT_THAT(map, IsError(kInvalid, reason, ""));
    EXPECT_THAT(std::string(map.status().message()), HasSubstr(message)) << text;
  };
  expect_error(File(".......\n"), "the file ends after 1 of the 2 rows");
  expect_error(File(".......\n...."), "line 6: the row has 4 cells, not the 7");
  expect_error(File(".......\n.......\n.......\n"), "line 7: more rows than the 2");
  expect_error(File(".......\n...x...\n"), "line 6: no terrain has the symbol 'x'",
               ErrorReason::kUnknownTerrain);
  expect_error(File("", 0, 7), "height must be 1 to 8192 cells, got 0", ErrorReason::kBadSize);
  expect_error(File("", -3, 7), "got -3", ErrorReason::kBadSize);
  expect_error("type octile\nheight 2147483648\nwidth 2147483648\nmap\n", "got 2147483648",
               ErrorReason::kBadSize);
  expect_error("type octile\nheight 1\nmap\n.\n", "line 3: the header lacks one of height and width");
  expect_error("type octile\nwidth 1\nmap\n.\n", "lacks one of height and width");
  expect_error("type hexagonal\nheight 1\nwidth 1\nmap\n.\n", "line 1: Moving AI files are of squares");
  expect_error("type octile\nheight one\nwidth 1\nmap\n.\n", "line 2: \"one\" is not a number");
  expect_error("type octile\nHeight 1\nheight 2\nwidth 1\nmap\n.\n", "line 3: a second height");
  expect_error("type octile\nheight 1\nwidth 1 cell\nmap\n.\n", "line 3: \"width 1 cell\" is none of");
  expect_error("type octile\nheight 1\nwidth 9\nversion 2\n.........\n", "line 4: \"version 2\" is none of");
  expect_error("type octile\nheight 1\n.\n", "line 3: \".\" is none of");
  expect_error("type octile\nwidth 1\n.\n", "line 3: \".\" is none of");
  expect_error("type octile\nheight 1\n", "lacks one of height and width");
  expect_error("", "lacks one of height and width");
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
