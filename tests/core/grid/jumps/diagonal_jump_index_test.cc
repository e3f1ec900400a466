#include "server/core/grid/jumps/diagonal_jump_index.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/grid/jumps/turn_jump_index.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/walk/walk_grid.h"
#include "tests/testing/diagonal_jump_index_match.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

TEST(DiagonalJumpIndexTest, StopsWhereASideJumpFindsAJumpPoint) {
  const GridMap map = DrawMap({"........",  //
                               ".......#",  //
                               "........",  //
                               "......#.",  //
                               "........",  //
                               "........"});
  const DiagonalJumpIndex& stops = *map.walk().MakeDiagonalJumpIndex(CornerRule::kNoCornerCutting);
  // From (2, 2) a jump to the east gets past the wall below it at (7, 2); from (1, 2) as well.
  EXPECT_EQ(stops.StepsToStop<Direction::kSouthEast>({1, 1}), 1);
  EXPECT_EQ(stops.StepsToStop<Direction::kSouthEast>({0, 1}), 1);
  // To the west and north nothing is seen: the corner of the map ends it.
  EXPECT_EQ(stops.StepsToStop<Direction::kNorthWest>({2, 2}), 2);
}

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

class DiagonalStopsRepairTest : public ::testing::TestWithParam<CornerRule> {};

// Long runs, which come to find jump points and cease to, word by word.
TEST_P(DiagonalStopsRepairTest, MissesNoStopOnOpenMaps) {
  for (std::uint64_t seed = 1; seed <= Rounds(20); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    GridMap map = *GridMap::Create(generator.Between(64, 400), generator.Between(64, 400), {});
    map.walk().MakeDiagonalJumpIndex(GetParam());
    for (int round = 0; round < 60; ++round) {
      const Cell cell = generator.CellOf(map);
      const Shape shape{.cells = {cell}};
      const auto edited = map.IsWalkable(cell) && generator.Chance(0.7)
                              ? ApplyEdits(map, {BlockCells{shape}})
                              : ApplyEdits(map, {UnblockCells{{.rectangles = {{cell.x, cell.y, 90, 90}}}}});
      ASSERT_TRUE(edited.ok()) << edited.status();
      map = edited->map;
      if (round % 10 == 9) {
        const WalkGrid grid(map.walk().rows());
        ExpectNoStopMissing(grid, *map.walk().MakeDiagonalJumpIndex(GetParam()),
                            DiagonalJumpIndex(grid, GetParam()));
        ASSERT_FALSE(HasFailure()) << "round " << round;
      }
    }
  }
}

// A map whose obstacles come and go stops no more than it did before.
TEST_P(DiagonalStopsRepairTest, ForgetsObstaclesThatCameAndWent) {
  GridMap map = *GridMap::Create(500, 300, {});
  map.walk().MakeDiagonalJumpIndex(GetParam());
  const DiagonalJumpIndex open(map.walk(), GetParam());
  Generator generator(1);
  for (int round = 0; round < 200; ++round) {
    const Shape shape{.cells = {generator.CellOf(map)}};
    map = ApplyEdits(ApplyEdits(map, {BlockCells{shape}})->map, {UnblockCells{shape}})->map;
  }
  EXPECT_EQ(ExpectNoStopMissing(map.walk(), *map.walk().MakeDiagonalJumpIndex(GetParam()), open), 0);
}

INSTANTIATE_TEST_SUITE_P(Rules, DiagonalStopsRepairTest,
                         ::testing::Values(CornerRule::kNoCornerCutting, CornerRule::kOneSideFree,
                                           CornerRule::kAlways));

}  // namespace
}  // namespace waystar::core
