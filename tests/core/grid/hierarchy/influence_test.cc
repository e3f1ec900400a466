// Danger and reward as named obstacles, drawn.

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/edit.h"
#include "server/core/grid/engines/find_path.h"
#include "tests/testing/drawn_map.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::waystar::testing::DrawnQuery;
using ::waystar::testing::DrawPath;
using ::waystar::testing::DrawQuery;

// Least at the rim, `addition` in the middle.
GridMap WithField(const GridMap& map, Point center, double radius, double addition) {
  const PutObstacle put{.obstacle = {.id = "field",
                                     .shape = {.discs = {{.center = center, .radius = radius}}},
                                     .effect = {.kind = ObstacleEffect::Kind::kAddCost,
                                                .amount = addition,
                                                .falloff = ObstacleEffect::Falloff::kLinear}}};
  auto edited = ApplyEdits(map, {put});
  EXPECT_TRUE(edited.ok()) << edited.status();
  return std::move(edited->map);
}

std::vector<std::string> DrawAnswer(const GridMap& map, const DrawnQuery& drawn) {
  Scratch scratch(std::size_t{1} << 20);
  const auto result = FindPath(map, drawn.query(), {}, scratch);
  EXPECT_TRUE(result.ok()) << result.status();
  return DrawPath(map, result->points);
}

TEST(InfluenceTest, PathBendsRoundAFieldOfFireWhenTheDetourIsWorthIt) {
  const DrawnQuery drawn = DrawQuery({
      "...........",
      "...........",
      "...........",
      "s.........g",
      "...........",
      "...........",
      "...........",
  });
  const std::vector<std::string> straight = {
      "...........", "...........", "...........", "s*********g", "...........", "...........", "...........",
  };
  EXPECT_EQ(DrawAnswer(drawn.map, drawn), straight);
  // The gunner stands in the middle and reaches three cells.
  EXPECT_THAT(DrawAnswer(WithField(drawn.map, {5, 3}, 3, 9), drawn),
              ElementsAre("...........", "...........", "...........", "s.........g", ".*.......*.",
                          "..*.....*..", "...*****..."));
  EXPECT_EQ(DrawAnswer(WithField(drawn.map, {5, 3}, 3, 0.3), drawn), straight);
}

TEST(InfluenceTest, PathRunsThroughAFieldOfFireThatFillsTheOnlyPass) {
  const DrawnQuery drawn = DrawQuery({
      "#####.#####",
      "s.........g",
      "###########",
  });
  EXPECT_THAT(DrawAnswer(WithField(drawn.map, {5, 1}, 3, 900), drawn),
              ElementsAre("#####.#####", "s*********g", "###########"));
}

TEST(InfluenceTest, PathIsDrawnToAReward) {
  const DrawnQuery drawn = DrawQuery({
      "...........",
      "s.........g",
      "...........",
      "...........",
      "...........",
  });
  EXPECT_THAT(DrawAnswer(WithField(drawn.map, {5, 3}, 3, -0.95), drawn),
              ElementsAre("...........", "s**.....**g", "...**..*...", ".....**....", "..........."));
}

}  // namespace
}  // namespace waystar::core
