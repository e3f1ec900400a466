// A flood that ends at given cells looks about once at each of them, and once for each step in costs.
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/grid/field/flood.h"
#include "server/core/grid/field/flood_ground.h"
#include "tests/core/cliffs/field_cliff_maps.h"

namespace waystar::core {
namespace {

TEST(FloodGoalsCliffTest, GoalsThatAreReachedAreNotLookedAtAgain) {
  ForEachFieldMap({Connectivity::kFour, Connectivity::kEight, Connectivity::kSix}, {48, 96},
                  [&](const GridMap& map) {
                    const std::vector<Cell> part = LargestPart(map);
                    FloodGround ground;
                    ground.Read(map, *map.walk(1), 1, CornerRule::kNoCornerCutting, map.bounds());
                    Flood flood;
                    for (const std::size_t count : {1U, 32U, 1024U}) {
                      SCOPED_TRACE(absl::StrCat(count, " goals"));
                      // All lie near the seed, but for the last.
                      std::vector<std::uint32_t> until(count, ground.IndexOf(part[1]));
                      until.back() = ground.IndexOf(part.back());
                      std::uint64_t expanded = 0;
                      flood.Run(ground, {.seeds = {&part[0], 1}, .until = until}, {}, expanded);
                      EXPECT_LE(flood.until_looks(), expanded + count + 1);
                    }
                  });
}

}  // namespace
}  // namespace waystar::core
