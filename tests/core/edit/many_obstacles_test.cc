#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/elements/obstacle_table.h"
#include "tests/core/edit/map_model.h"
#include "tests/testing/generator.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::waystar::testing::Generator;
using ::waystar::testing::IsOk;
using ::waystar::testing::MapModel;

GridMap WithAll(const GridMap& map, const std::vector<Edit>& edits, MapModel& model) {
  auto edited = ApplyEdits(map, edits);
  EXPECT_THAT(edited, IsOk());
  for (const Edit& edit : edits) {
    model.Apply(edit);
  }
  return edited.ok() ? std::move(edited->map) : map;
}

// A crowd of all kinds that comes, moves and goes, a thousand of them for each ten rows.
TEST(ManyObstaclesTest, AgreeWithAListOfWhatLiesOnTheMap) {
  constexpr int kObstacles = 10'000;
  Generator generator(1);
  const GridMap empty = *GridMap::Create(256, 100, {});
  MapModel model(empty);
  std::vector<Edit> puts;
  while (puts.size() < kObstacles) {
    const Cell cell = generator.CellOf(empty);
    Obstacle obstacle = generator.ObstacleOf(empty, absl::StrCat("o", puts.size()));
    if (obstacle.effect.falloff == ObstacleEffect::Falloff::kNone) {
      obstacle.shape = {.rectangles = {{cell.x, cell.y, generator.Between(1, 3), generator.Between(1, 3)}}};
    } else {
      obstacle.shape.discs[0].radius = 0.5 * generator.Between(1, 4);
    }
    puts.push_back(PutObstacle{.obstacle = std::move(obstacle)});
  }
  const GridMap full = WithAll(empty, puts, model);
  EXPECT_EQ(full.obstacles().size(), std::size_t{kObstacles});
  ExpectIs(full, model, "after they were laid");

  std::vector<Edit> moves;
  for (int i = 0; i < kObstacles; i += 5) {
    // Away from the nearer edge, so that none leaves the map.
    const Obstacle& obstacle = std::get<PutObstacle>(puts[static_cast<std::size_t>(i)]).obstacle;
    const bool is_left = obstacle.shape.discs.empty() ? obstacle.shape.rectangles[0].x < 128
                                                      : obstacle.shape.discs[0].center.x < 128;
    moves.push_back(MoveObstacle{absl::StrCat("o", i), is_left ? 9.0 : -9.0, 0.0});
  }
  const GridMap moved = WithAll(full, moves, model);
  ExpectIs(moved, model, "after some had moved");

  std::vector<Edit> removals;
  for (int i = 0; i < kObstacles; i += 2) {
    removals.push_back(RemoveObstacle{absl::StrCat("o", i)});
  }
  const GridMap half = WithAll(moved, removals, model);
  EXPECT_EQ(half.obstacles().size(), std::size_t{kObstacles} / 2);
  ExpectIs(half, model, "after half had gone");
  EXPECT_EQ(full.obstacles().size(), std::size_t{kObstacles});

  removals.clear();
  for (int i = 1; i < kObstacles; i += 2) {
    removals.push_back(RemoveObstacle{absl::StrCat("o", i)});
  }
  const GridMap bare = WithAll(half, removals, model);
  ExpectIs(bare, model, "after all had gone");
  EXPECT_EQ(bare.obstacles().size(), 0U);
  EXPECT_EQ(bare.obstacles().cost_obstacles(), 0U);
  EXPECT_EQ(bare.walkable_cells(), 256 * 100);
}

}  // namespace
}  // namespace waystar::core
