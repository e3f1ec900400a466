#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "server/core/grid/map/cost_floor.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

using ::waystar::testing::Random;

// A map of square patches, each of one of so many costs.
GridMap Patches(int side, int patch, int costs) {
  GridSettings settings;
  settings.terrains.clear();
  for (int i = 0; i < costs; ++i) {
    settings.terrains.push_back({.symbol = static_cast<char>('a' + i),
                                 .name = std::string(1, static_cast<char>('a' + i)),
                                 .cost = 1.0 + i});
  }
  const GridMap blank = GridMap::Create(side, side, std::move(settings)).value();
  Random random(1);
  GridMapEditor editor(blank);
  for (int y = 0; y < side; y += patch) {
    for (int x = 0; x < side; x += patch) {
      const auto terrain = static_cast<TerrainId>(random.Between(0, costs - 1));
      for (int k = 0; k < patch; ++k) {
        editor.SetTerrains(y + k, x, x + patch, terrain);
      }
    }
  }
  return std::move(editor).Finish();
}

TEST(CostSurveyTest, CellsOfManyCostsInDisorderAreNoise) {
  for (const int side : {32, 128, 512}) {
    EXPECT_TRUE(Patches(side, 1, 8).HasNoisyCosts());
    EXPECT_TRUE(Patches(side, 2, 8).HasNoisyCosts());
  }
}

TEST(CostSurveyTest, LargerPatchesAndFewCostsAreNot) {
  EXPECT_FALSE(Patches(256, 8, 8).HasNoisyCosts());
  EXPECT_FALSE(Patches(256, 1, 2).HasNoisyCosts());
  EXPECT_FALSE(Patches(256, 1, 1).HasNoisyCosts());
  EXPECT_FALSE(Patches(2, 1, 8).HasNoisyCosts());
}

TEST(CostSurveyTest, FollowsTheTerrain) {
  const GridMap noise = Patches(64, 1, 8);
  GridMapEditor editor(noise);
  for (int y = 0; y < 64; ++y) {
    editor.SetTerrains(y, 0, 64, y < 32 ? 1 : 2);
  }
  EXPECT_FALSE(std::move(editor).Finish().HasNoisyCosts());
}

}  // namespace
}  // namespace waystar::core
