// Conversion of what is told of maps.

#include <utility>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/store/map_store.h"
#include "server/service/convert/convert.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::rpc {
namespace {

using ::waystar::testing::DrawMap;
using ::waystar::testing::IsError;
using ::waystar::testing::kInvalid;

v1::MapInfo InfoOf(core::GridMap map) {
  core::MapStore store(1);
  const auto snapshot = store.Create("coast", std::move(map), absl::FromUnixSeconds(1'700'000'000));
  EXPECT_TRUE(snapshot.ok()) << snapshot.status();
  v1::MapInfo info;
  FillMapInfo(store, **snapshot, info);
  EXPECT_EQ(info.version().epoch(), (*snapshot)->epoch);
  EXPECT_EQ(info.digest(), (*snapshot)->digest());
  return info;
}

TEST(FillMapInfoTest, TellsOfGrids) {
  core::GridSettings settings{.connectivity = core::Connectivity::kFour, .diagonal_cost = 1.4};
  settings.terrains.push_back({.symbol = '~', .name = "water", .cost = 3, .impassable = true});
  settings.world = "moon";
  settings.frame = {.origin = {-2, -1, 7}, .cell_size = 0.5};
  core::GridMap map = DrawMap({"..~~", ".#.."}, settings);
  map.SetProfiles(core::ProfileTable{{"boat",
                                      {.footprint = 2,
                                       .corner_rule = core::CornerRule::kAlways,
                                       .terrain_costs = {{'~', 1.25}},
                                       .no_diagonals = true}}});
  const v1::MapInfo info = InfoOf(std::move(map));
  EXPECT_EQ(info.map(), "coast");
  EXPECT_EQ(info.version().revision(), 1U);
  EXPECT_EQ(info.create_time().seconds(), 1'700'000'000);
  EXPECT_GT(info.memory_bytes(), 0);
  EXPECT_FALSE(info.has_old_snapshots());
  const v1::GridInfo& grid = info.grid();
  EXPECT_EQ(grid.width(), 4);
  EXPECT_EQ(grid.height(), 2);
  EXPECT_EQ(grid.squares().connectivity(), v1::CONNECTIVITY_FOUR);
  EXPECT_EQ(grid.squares().diagonal_cost(), 1.4);
  EXPECT_EQ(grid.walkable_cells(), 5);
  EXPECT_EQ(grid.obstacle_cells(), 1);
  EXPECT_EQ(grid.world(), "moon");
  EXPECT_EQ(grid.origin().x(), -2);
  EXPECT_EQ(grid.origin().z(), 7);
  EXPECT_EQ(grid.cell_size(), 0.5);
  EXPECT_FALSE(grid.has_hexagons());
  ASSERT_EQ(grid.terrains_size(), 2);
  EXPECT_EQ(grid.terrains(1).symbol(), "~");
  EXPECT_EQ(grid.terrains(1).name(), "water");
  EXPECT_EQ(grid.terrains(1).cost(), 3.0);
  EXPECT_TRUE(grid.terrains(1).impassable());
  ASSERT_EQ(grid.profiles_size(), 1);
  EXPECT_EQ(grid.profiles(0).name(), "boat");
  EXPECT_EQ(grid.profiles(0).profile().footprint(), 2);
  EXPECT_EQ(grid.profiles(0).profile().corner_rule(), v1::CORNER_RULE_ALWAYS);
  EXPECT_EQ(grid.profiles(0).profile().terrain_costs(0).cost(), 1.25);
  EXPECT_TRUE(grid.profiles(0).profile().no_diagonals());
}

TEST(FillMapInfoTest, TellsOfBoardsAndTheirPlanes) {
  core::GridSettings settings{.connectivity = core::Connectivity::kSix, .diagonal_cost = 1};
  settings.frame.hexagons = core::HexBoard{.layout = core::HexLayout::kOddRows};
  const v1::GridInfo grid = InfoOf(DrawMap({".....",  //
                                            ".###.",  //
                                            ".....",  //
                                            "..#.."},
                                           settings))
                                .grid();
  EXPECT_FALSE(grid.has_squares());
  EXPECT_EQ(grid.width(), 5);
  EXPECT_EQ(grid.height(), 4);
  EXPECT_EQ(grid.walkable_cells(), 16);
  EXPECT_EQ(grid.obstacle_cells(), 4);
  EXPECT_EQ(grid.hexagons().layout(), v1::HEX_LAYOUT_ODD_ROWS);
}

TEST(MapFormatTest, EachGoesInAndComesOut) {
  for (int value = v1::MAP_FORMAT_TEXT; value < v1::MapFormat_ARRAYSIZE; ++value) {
    const auto format = ToWriteFormat(static_cast<v1::MapFormat>(value));
    ASSERT_TRUE(format.ok()) << format.status();
    EXPECT_EQ(FromFormat(*format), value);
  }
  EXPECT_EQ(*ToReadFormat(v1::MAP_FORMAT_UNSPECIFIED, "type octile\n"), core::MapFormat::kMovingAi);
  EXPECT_EQ(*ToReadFormat(v1::MAP_FORMAT_TEXT, "type octile\n"), core::MapFormat::kText);
  EXPECT_THAT(ToWriteFormat(static_cast<v1::MapFormat>(77)),
              IsError(kInvalid, ErrorReason::kUnknownEnumValue, "format"));
}

TEST(HexLayoutTest, EachGoesInAndComesOut) {
  for (int value = v1::HEX_LAYOUT_UNSPECIFIED + 1; value < v1::HexLayout_ARRAYSIZE; ++value) {
    const auto layout = ToHexLayout(static_cast<v1::HexLayout>(value), "hexagons").value();
    core::GridSettings settings{.connectivity = core::Connectivity::kSix, .diagonal_cost = 1};
    settings.frame.hexagons = core::HexBoard{.layout = layout};
    EXPECT_EQ(InfoOf(DrawMap({".."}, settings)).grid().hexagons().layout(), value);
  }
  EXPECT_THAT(ToHexLayout(v1::HEX_LAYOUT_UNSPECIFIED, "hexagons"),
              IsError(kInvalid, ErrorReason::kUnknownEnumValue, "hexagons"));
}

}  // namespace
}  // namespace waystar::rpc
