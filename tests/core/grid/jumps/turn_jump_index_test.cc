#include "server/core/grid/jumps/turn_jump_index.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/walk/walk_grid.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"

namespace waystar::core {
namespace {

using ::waystar::testing::DrawMap;
using ::waystar::testing::Generator;

TEST(TurnJumpIndexTest, TurnsWhereAVerticalJumpGetsPastAWall) {
  const GridMap map = DrawMap({"....",  //
                               "....",  //
                               "..#.",  //
                               "....",  //
                               "...."});
  const Word* turns = map.walk().MakeTurnJumpIndex()->Row(1);
  // Beside the wall, down to where it ends.
  EXPECT_TRUE(TestBit(turns, 1));
  EXPECT_TRUE(TestBit(turns, 3));
  EXPECT_FALSE(TestBit(turns, 0));
  EXPECT_FALSE(TestBit(turns, 2));
}

TEST(TurnJumpIndexTest, RepairedEqualsMadeAfresh) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    GridMap map = generator.Map({.max_side = seed % 20 == 0 ? 200 : 70});
    map.walk().MakeTurnJumpIndex();
    for (int round = 0; round < 6; ++round) {
      const auto edited = ApplyEdits(map, generator.Edits(map, generator.Between(1, 4)));
      ASSERT_TRUE(edited.ok()) << edited.status();
      map = edited->map;
      // Else they are left behind by several edits.
      if (round < 5 && generator.Chance(0.5)) {
        continue;
      }
      const WalkGrid grid(map.walk().rows());
      const TurnJumpIndex fresh(grid);
      for (int y = 0; y < map.height(); ++y) {
        for (int x = 0; x < map.width(); ++x) {
          ASSERT_EQ(TestBit(map.walk().MakeTurnJumpIndex()->Row(y), x), TestBit(fresh.Row(y), x))
              << "round " << round << " at " << x << ", " << y;
        }
      }
    }
  }
}

}  // namespace
}  // namespace waystar::core
