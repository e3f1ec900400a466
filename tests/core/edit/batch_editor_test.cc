#include "server/core/edit/batch_editor.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/core/elements/obstacle_table.h"
#include "tests/core/edit/map_model.h"
#include "tests/testing/generator.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::waystar::testing::Generator;
using ::waystar::testing::IsOk;
using ::waystar::testing::MapModel;

template <typename Visitor>
void ForEachCellOf(const GridMap& map, Visitor visit) {
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      visit(Cell{x, y});
    }
  }
}

void ExpectCounts(const ChangeSummary& result, std::vector<Rectangle> areas, const GridMap& map,
                  const MapModel& before, const MapModel& after) {
  if (areas.empty()) {
    areas.push_back(result.changed_bounds);
  }
  std::int64_t changed = 0;
  Rectangle bounds;
  ForEachCellOf(map, [&](Cell cell) {
    const bool costs_differ = before.IsPassable(cell) && after.IsPassable(cell) &&
                              before.StraightCost(cell) != after.StraightCost(cell);
    if (before.HasObstacle(cell) != after.HasObstacle(cell) ||
        before.TerrainAt(cell) != after.TerrainAt(cell) || costs_differ) {
      ++changed;
      bounds = Extend(bounds, cell);
      EXPECT_TRUE(std::ranges::any_of(areas, [&](const Rectangle& area) { return area.Contains(cell); }));
    }
  });
  EXPECT_EQ(result.changed_cells, changed);
  EXPECT_EQ(result.changed_bounds, bounds);
  Rectangle around_areas;
  for (const Rectangle& area : areas) {
    around_areas = Union(around_areas, area);
  }
  EXPECT_EQ(around_areas, bounds);
}

void ExpectLists(const MapChanges& changes, const GridMap& before, const GridMap& after) {
  ASSERT_FALSE(changes.is_everything);
  std::vector<Cell> walkability;
  std::vector<Cell> cost;
  ForEachCellOf(after, [&](Cell cell) {
    if (before.IsWalkable(cell) != after.IsWalkable(cell)) {
      walkability.push_back(cell);
    } else if (after.IsWalkable(cell) && before.StraightCost(cell) != after.StraightCost(cell)) {
      cost.push_back(cell);
    }
  });
  const auto cells_of = [](const std::vector<WordChange>& words) {
    std::vector<Cell> cells;
    for (const WordChange& word : words) {
      ForEachCell(word, [&](Cell cell) { cells.push_back(cell); });
    }
    return cells;
  };
  EXPECT_EQ(cells_of(changes.walkability), walkability);
  EXPECT_EQ(cells_of(changes.cost), cost);
}

TEST(BatchEditorTest, FoldedBatchesAgreeWithAListOfWhatLiesOnTheMap) {
  int applied = 0;
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Generator generator(seed);
    GridMap map = generator.Map({.max_side = 140, .max_cells = 900, .weighted = true});
    MapModel model(map);
    for (int revision = 0; revision < 6; ++revision) {
      BatchEditor editor(map);
      for (int batch = generator.Between(1, 4); batch > 0; --batch) {
        std::vector<Edit> edits;
        MapModel next = model;
        for (int edit = generator.Between(1, 4); edit > 0; --edit) {
          edits.push_back(generator.AnyEdit(map));
        }
        const auto result = editor.Apply(edits, absl::UnixEpoch());
        if (!result.ok()) {
          ++refused;
          continue;
        }
        ++applied;
        std::for_each(edits.begin(), edits.end(), [&](const Edit& edit) { next.Apply(edit); });
        ExpectCounts(*result, editor.changed_areas(), map, model, next);
        model = std::move(next);
      }
      BatchEditor::Result result = std::move(editor).Finish();
      ExpectIs(result.map, model, absl::StrCat("seed ", seed));
      ExpectLists(result.changes, map, result.map);
      map = std::move(result.map);
      if (::testing::Test::HasFailure()) {
        FAIL() << "seed " << seed << " revision " << revision;
      }
    }
  }
  EXPECT_GT(applied, 300);
  EXPECT_GT(refused, 100);
}

GridMap WithAll(const GridMap& map, const std::vector<Edit>& edits, MapModel& model) {
  auto edited = ApplyEdits(map, edits);
  EXPECT_THAT(edited, IsOk());
  for (const Edit& edit : edits) {
    model.Apply(edit);
  }
  return edited.ok() ? std::move(edited->map) : map;
}

// A crowd of all kinds that comes, moves and goes, a thousand of them for each ten rows.
TEST(BatchEditorTest, ManyObstaclesAgreeWithAListOfWhatLiesOnTheMap) {
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

  for (int i = 0; i < kObstacles / 2; ++i) {
    removals[static_cast<std::size_t>(i)] = RemoveObstacle{absl::StrCat("o", 2 * i + 1)};
  }
  const GridMap bare = WithAll(half, removals, model);
  ExpectIs(bare, model, "after all had gone");
  EXPECT_EQ(bare.obstacles().size(), 0U);
  EXPECT_EQ(bare.obstacles().cost_obstacles(), 0U);
  EXPECT_EQ(bare.walkable_cells(), 256 * 100);
}

}  // namespace
}  // namespace waystar::core
