// A picture takes so much for each cell, node, obstacle and portal that it shows.
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/render/scene/graph_scene.h"
#include "server/render/scene/grid_scene.h"
#include "tests/core/cliffs/graph_growth_maps.h"
#include "tests/core/cliffs/grid_growth_maps.h"
#include "tests/core/cliffs/work_counter.h"

namespace waystar::core {
namespace {

using ::waystar::testing::ExpectFlat;
using ::waystar::testing::ExpectLinear;
using ::waystar::testing::WorkOf;

std::uint64_t WorkOfPicture(const GridMap& map, const Rectangle& region) {
  return WorkOf([&] { EXPECT_TRUE(MakeGridScene(map, region, {}, nullptr, {}).ok()); });
}

std::uint64_t WorkOfPicture(const WaypointGraph& graph, const std::optional<Box>& area = {}) {
  return WorkOf([&] { EXPECT_TRUE(MakeGraphScene(graph, area, {}, nullptr, {}).ok()); });
}

// Each obstacle compared with each other, or looked at for each cell.
TEST(PictureGrowthTest, Obstacles) {
  const GridMap blank = MakeBlank(64, 64);
  const std::uint64_t of_blank = WorkOfPicture(blank, blank.bounds());
  ExpectLinear(250, [&](int count) {
    return WorkOfPicture(WithDearDiscs(blank, Spread(blank.bounds(), count)), blank.bounds()) - of_blank;
  });
}

// All obstacles looked at more than once, for those of a small region.
TEST(PictureGrowthTest, ObstaclesElsewhere) {
  const GridMap blank = MakeBlank(512, 512);
  ExpectFlat(250, [&](int count) {
    return WorkOfPicture(WithDearDiscs(blank, Spread({100, 100, 400, 400}, count)), {0, 0, 64, 64});
  });
}

// The portals looked at for each cell or each portal.
TEST(PictureGrowthTest, Portals) {
  constexpr Rectangle kRegion{0, 0, 64, kStripHeight};
  ExpectLinear(250, [&](int strips) {
    return WorkOfPicture(MakeStrips(strips, true), kRegion) -
           WorkOfPicture(MakeStrips(strips, false), kRegion);
  });
}

// The terrains looked at for each cell.
TEST(PictureGrowthTest, Terrains) {
  ExpectFlat(11, [&](int count) {
    GridSettings settings;
    settings.terrains.clear();
    for (int i = 0; i < count; ++i) {
      const char symbol = static_cast<char>('$' + i + (i < '@' - '$' ? 0 : 1));
      settings.terrains.push_back(
          {.symbol = symbol == 'O' ? '!' : symbol, .name = absl::StrCat("t", i), .cost = 1.0 + i});
    }
    const auto made = GridMap::Create(256, 256, settings);
    EXPECT_TRUE(made.ok()) << made.status();
    GridMapEditor editor(*made);
    for (int y = 0; y < 256; ++y) {
      for (int x = 0; x < 256; ++x) {
        editor.SetTerrains(y, x, x + 1, static_cast<TerrainId>((x + y) % count));
      }
    }
    return WorkOfPicture(std::move(editor).Finish(), {0, 0, 256, 256});
  });
}

// Cells outside the region.
TEST(PictureGrowthTest, TheMapAroundTheRegion) {
  ExpectFlat(128, [&](int side) { return WorkOfPicture(MakeNoise(side, side), {40, 40, 64, 64}); });
}

// Each node compared with each other.
TEST(PictureGrowthTest, Nodes) {
  ExpectLinear(40, [&](int columns) { return WorkOfPicture(MakeStreets(columns)); });
}

// Each obstacle looked at for each edge.
TEST(PictureGrowthTest, ObstaclesOfAGraph) {
  ExpectLinear(40, [&](int columns) {
    return WorkOfPicture(WithDiscs(MakeStreets(columns), MiddlesOfBlocks(columns)));
  });
}

}  // namespace
}  // namespace waystar::core
