// A sample takes so much for each cell that is drawn and each row of the region.
#include <cstdint>

#include "gtest/gtest.h"
#include "server/core/grid/field/sample_cells.h"
#include "tests/core/cliffs/grid_growth_maps.h"
#include "tests/core/cliffs/work_counter.h"

namespace waystar::core {
namespace {

using ::waystar::testing::ExpectFlat;
using ::waystar::testing::ExpectLinear;
using ::waystar::testing::WorkOf;

std::uint64_t WorkOfSample(const GridMap& map, const SampleQuery& query) {
  NoWorld world;
  // Makes what the map keeps.
  EXPECT_TRUE(SampleCells(map, world, {.count = 1, .reachable_from = query.reachable_from}, {}).ok());
  return WorkOf([&] { EXPECT_TRUE(SampleCells(map, world, query, {}).ok()); });
}

// Each cell compared with those before.
TEST(SampleGrowthTest, Count) {
  const GridMap map = MakeNoise(256, 64);
  for (const bool distinct : {false, true}) {
    ExpectLinear(2000, [&](int count) { return WorkOfSample(map, {.count = count, .distinct = distinct}); });
  }
}

// The rows gone through for each cell: both grow.
TEST(SampleGrowthTest, CountAndRegion) {
  ExpectLinear(256, [&](int height) { return WorkOfSample(MakeNoise(64, height), {.count = 4 * height}); });
}

// The rows gone through for each row.
TEST(SampleGrowthTest, Region) {
  ExpectLinear(256, [&](int height) { return WorkOfSample(MakeNoise(64, height), {.count = 10}); });
  ExpectLinear(256, [&](int width) { return WorkOfSample(MakeNoise(width, 64), {.count = 10}); });
}

// Rows outside the region.
TEST(SampleGrowthTest, TheMapAroundTheRegion) {
  ExpectFlat(128, [&](int side) {
    return WorkOfSample(MakeNoise(side, side), {.count = 100, .region = Rectangle{40, 40, 64, 64}});
  });
}

// Each run of cells compared with each part of the map that a path leads to.
TEST(SampleGrowthTest, PartsThatPortalsJoin) {
  ExpectLinear(200, [&](int strips) {
    return WorkOfSample(MakeStrips(strips, true), {.count = 10, .reachable_from = Cell{0, 0}});
  });
}

}  // namespace
}  // namespace waystar::core
