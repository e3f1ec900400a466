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
#include "server/formats/text/grid_overrides.h"
#include "server/formats/text/map_format.h"
#include "server/formats/text/number.h"
#include "server/formats/text/rows.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::waystar::testing::AnyConnectivity;
using ::waystar::testing::DrawMap;
using ::waystar::testing::DrawPath;
using ::waystar::testing::Generator;
using ::waystar::testing::IsError;
using ::waystar::testing::kInvalid;

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
  const auto expect_error = [](const std::string& text, ErrorReason reason, const std::string& message) {
    const auto map = ParseText(text, {});
    EXPECT_THAT(map, IsError(kInvalid, reason, ""));
    EXPECT_THAT(std::string(map.status().message()), HasSubstr(message)) << text;
  };
  expect_error("connectivity 4\nmap\n...\n..\n", ErrorReason::kBadRow,
               "line 4: has 2 cells, the first row 3");
  expect_error("...\n.?.\n", ErrorReason::kUnknownTerrain,
               "line 2: no terrain has the symbol '?' of column 1");
  expect_error("...\n.\xff.\n", ErrorReason::kUnknownTerrain, "'\\xff' of column 1");
  expect_error("...\n .\n", ErrorReason::kBadRow, "line 2: has 2 cells, the first row 3");
  expect_error(" ..\n", ErrorReason::kUnknownTerrain, "line 1: no terrain has the symbol ' ' of column 0");
  expect_error("...\n..  \n", ErrorReason::kBadRow, "line 2: has 2 cells, the first row 3");
  expect_error("...\n \n...\n", ErrorReason::kBadRow, "line 3: a row after an empty line");
  expect_error("\xEF\xBB\xBF", ErrorReason::kBadSize, "at least one row");
  expect_error("connectivity 5\nmap\n.\n", ErrorReason::kBadFormat, "line 1");
  expect_error("connectivity 4\nconnectivity 4\nmap\n.\n", ErrorReason::kBadFormat, "line 2: a second");
  expect_error("connectivity 4\nwater 3\nmap\n.\n", ErrorReason::kBadFormat,
               "line 2: \"water 3\" is none of");
  expect_error("terrain ~ river\nmap\n.\n", ErrorReason::kBadFormat, "line 1: expected \"terrain");
  expect_error("terrain ~ river -3\nmap\n.\n", ErrorReason::kBadFormat, "a terrain's cost must be 0.001");
  expect_error("connectivity 4\n...\n", ErrorReason::kBadFormat, "line 2");
  expect_error("connectivity 4\n", ErrorReason::kBadFormat, "does not end with a line \"map\"");
  expect_error("", ErrorReason::kBadSize, "at least one row");
  expect_error("map\n", ErrorReason::kBadSize, "at least one row");
  expect_error("...\n\n...\n", ErrorReason::kBadRow, "line 3: a row after an empty line");
  std::string tall;
  for (int y = 0; y <= kMaxMapSide; ++y) {
    tall += ".\n";
  }
  expect_error(tall, ErrorReason::kBadSize, "height must be 1 to 8192 cells, got 8193");
  expect_error(std::string(kMaxMapSide + 1, '.'), ErrorReason::kBadSize, "width must be 1 to 8192");
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

}  // namespace
}  // namespace waystar::core
