// Named obstacles that lie off the map, in part or as a whole.

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/grid/cells/grid_settings.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::waystar::testing::DrawMap;
using ::waystar::testing::DrawPath;
using ::waystar::testing::IsError;
using ::waystar::testing::kInvalid;
using ::waystar::testing::kOutOfRange;

// A map that changes, and what was clipped the last time.
class OffMapTest : public ::testing::Test {
 protected:
  std::int64_t ClippedBy(const Edit& edit) {
    auto edited = ApplyEdits(map_, {edit});
    EXPECT_TRUE(edited.ok()) << edited.status();
    if (!edited.ok()) {
      return -1;
    }
    map_ = std::move(edited->map);
    return edited->summary.clipped_cells;
  }

  GridMap map_ = DrawMap({"....",  //
                          "....",  //
                          "...."});
};

TEST_F(OffMapTest, PutMovedAndResizedAlike) {
  const Shape bar{.rectangles = {{-3, 1, 2, 1}}};
  EXPECT_EQ(ClippedBy(PutObstacle{.obstacle = {.id = "bar", .shape = bar}}), 2);
  EXPECT_THAT(DrawPath(map_, {}), ElementsAre("....", "....", "...."));
  EXPECT_EQ(map_.obstacles().size(), 1U);
  EXPECT_THAT(map_.obstacles().Overlapping(map_.bounds()), IsEmpty());
  EXPECT_THAT(map_.obstacles().Overlapping({-100, 0, 200, 3}), IsEmpty());
  EXPECT_EQ(ClippedBy(MoveObstacle{"bar", 2, 0}), 1);
  EXPECT_THAT(DrawPath(map_, {}), ElementsAre("....", "#...", "...."));
  EXPECT_THAT(map_.obstacles().Overlapping(map_.bounds()), SizeIs(1));
  EXPECT_EQ(ClippedBy(MoveObstacle{"bar", 0, 7}), 2);
  EXPECT_THAT(DrawPath(map_, {}), ElementsAre("....", "....", "...."));
  EXPECT_EQ(ClippedBy(MoveObstacle{"bar", 3, -6}), 0);
  EXPECT_THAT(DrawPath(map_, {}), ElementsAre("....", "....", "..##"));
  EXPECT_EQ(ClippedBy(ResizeObstacle{"bar", bar}), 2);
  EXPECT_THAT(DrawPath(map_, {}), ElementsAre("....", "....", "...."));
  EXPECT_EQ(ClippedBy(RemoveObstacle{"bar"}), 0);
  EXPECT_EQ(map_.obstacles().size(), 0U);
}

TEST_F(OffMapTest, CostsAreThoseOfTheMapMeanwhile) {
  Obstacle fire{.id = "fire", .shape = {.discs = {{{-20, 1}, 2}}}};
  fire.effect = {.kind = ObstacleEffect::Kind::kAddCost, .amount = 4};
  EXPECT_EQ(ClippedBy(PutObstacle{.obstacle = fire}), 13);
  EXPECT_EQ(map_.StraightCost({1, 1}), CostFromDouble(1));
  EXPECT_EQ(ClippedBy(MoveObstacle{"fire", 21, 0}), 13 - 10);
  EXPECT_EQ(map_.StraightCost({1, 1}), CostFromDouble(5));
  EXPECT_EQ(ClippedBy(MoveObstacle{"fire", 0, 100}), 13);
  EXPECT_EQ(map_.StraightCost({1, 1}), CostFromDouble(1));
}

// As far as coordinates go.
TEST_F(OffMapTest, MovesEndWhereCoordinatesDo) {
  constexpr std::int32_t kMin = std::numeric_limits<std::int32_t>::min();
  ClippedBy(PutObstacle{.obstacle = {.id = "disc", .shape = {.discs = {{{1, 1}, 1}}}}});
  ClippedBy(PutObstacle{.obstacle = {.id = "cell", .shape = {.cells = {{kMin, 0}}}}});
  EXPECT_EQ(ClippedBy(MoveObstacle{"disc", kMaxReach - 1, 0}), 5);
  EXPECT_THAT(ApplyEdits(map_, {MoveObstacle{"disc", 0.5, 0}}),
              IsError(kOutOfRange, ErrorReason::kOffMap, "edits[0].move_obstacle"));
  EXPECT_THAT(ApplyEdits(map_, {MoveObstacle{"cell", -1, 0}}),
              IsError(kOutOfRange, ErrorReason::kOffMap, "edits[0].move_obstacle"));
  EXPECT_THAT(ApplyEdits(map_, {MoveObstacle{"cell", 0, 0.25}}),
              IsError(kInvalid, ErrorReason::kBadValue, "edits[0].move_obstacle.dy"));
  EXPECT_EQ(ClippedBy(MoveObstacle{"disc", 1 - kMaxReach, 0}), 0);
  EXPECT_THAT(DrawPath(map_, {}), ElementsAre(".#..",  //
                                              "###.",  //
                                              ".#.."));
}

// Cells (0, 0), (0, 1) and (4, 2) of the plane are off the board.
TEST_F(OffMapTest, OffTheBoardIsOffTheMap) {
  GridSettings settings;
  settings.connectivity = Connectivity::kSix;
  settings.diagonal_cost = 1.0;
  settings.frame.hexagons = HexBoard{HexLayout::kOddRows, 4, 3};
  map_ = DrawMap({"....",  //
                  "....",  //
                  "...."},
                 settings);
  EXPECT_EQ(ClippedBy(BlockCells{{.rectangles = {{0, 0, 5, 3}}}}), 3);
  EXPECT_EQ(ClippedBy(UnblockCells{{.rectangles = {{-1, 0, 7, 1}}}}), 3);
  EXPECT_EQ(ClippedBy(SetTerrain{.shape = {.discs = {{{0, 0}, 0}, {{2, 1}, 0}}}, .symbol = '.'}), 1);
  EXPECT_EQ(ClippedBy(PutObstacle{.obstacle = {.id = "bar", .shape = {.lines = {{{0, 0}, {2, 0}}}}}}), 1);
  EXPECT_EQ(ClippedBy(MoveObstacle{"bar", 0, -1}), 3);
  // Rectangles of the plane may lie beside it, but not all that there is.
  EXPECT_EQ(ClippedBy(BlockCells{{.rectangles = {{2, -1, 1, 1}, {2, 0, 1, 1}}}}), 1);
  EXPECT_THAT(ApplyEdits(map_, {BlockCells{{.rectangles = {{2, -1, 1, 1}}}}}),
              IsError(kOutOfRange, ErrorReason::kOffMap, "edits[0].block"));
  EXPECT_THAT(ApplyEdits(map_, {BlockCells{{.rectangles = {{2, 0, 1, 1}}, .discs = {{{2, -9}, 1}}}}}),
              IsError(kOutOfRange, ErrorReason::kOffMap, "edits[0].block.discs[0]"));
}

}  // namespace
}  // namespace waystar::core
