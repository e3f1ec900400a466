// Watches of generated maps through generated changes.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "gmock/gmock.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/search/query.h"
#include "tests/core/watch/watchers.h"
#include "tests/testing/generator.h"

namespace waystar::core {
namespace {

using ::waystar::testing::AnyConnectivity;
using ::waystar::testing::Blocked;
using ::waystar::testing::Edited;
using ::waystar::testing::Generator;
using ::waystar::testing::Repainted;
using ::waystar::testing::Unblocked;
using ::waystar::testing::Watchers;

// Returns the map with a cell that is far cheaper than others, or with one that costs what its terrain does.
// An obstacle may lie on it.
GridMap WithGold(const GridMap& map, Generator& generator) {
  GridMapEditor editor(map);
  if (map.cell_costs() != nullptr && generator.Chance(0.5)) {
    for (int y = 0; y < map.height(); ++y) {
      for (int x = 0; x < map.width(); ++x) {
        if (map.cell_costs()->At({x, y}).straight != 0 && generator.Chance(0.5)) {
          editor.SetStepCost({x, y}, std::nullopt);
        }
      }
    }
  } else {
    editor.SetStepCost(generator.CellOf(map), generator.Between(1, 30) * kCostScale / 100);
  }
  return std::move(editor).Finish();
}

class GeneratedChanges : public ::testing::TestWithParam<int> {};

// Whoever is told nothing has an answer that holds.
TEST_P(GeneratedChanges, SilenceMeansThatTheAnswerHolds) {
  Generator generator(static_cast<std::uint64_t>(GetParam()));
  std::size_t silent = 0;
  for (int i = 0; i < 12; ++i) {
    const bool is_weighted = generator.Chance(0.4);
    const bool has_gold = generator.Chance(0.5);
    Watchers watchers(generator.Map({.max_side = 80,
                                     .max_cells = 2500,
                                     .weighted = is_weighted,
                                     .connectivity = AnyConnectivity(generator)}));
    constexpr int kWatches = 12;
    for (int j = 0; j < kWatches; ++j) {
      PathQuery query{.corner_rule = static_cast<CornerRule>(generator.Between(0, 2)),
                      .path_form = static_cast<PathForm>(generator.Between(0, 3)),
                      .footprint = generator.Chance(0.6) ? 1 : generator.Between(2, 4)};
      query.start = generator.WalkableCellOf(watchers.map(), query.footprint);
      query.goal = generator.Chance(0.8) ? generator.WalkableCellOf(watchers.map(), query.footprint)
                                         : generator.CellOf(watchers.map());
      if (generator.Chance(0.4)) {
        query.unreachable_policy = UnreachablePolicy::kNearestByDistance;
      }
      if (generator.Chance(0.1) && query.path_form != PathForm::kDirections) {
        query.algorithm = is_weighted || has_gold ? Algorithm::kAStar : Algorithm::kLazyThetaStar;
      }
      watchers.Watch(query);
    }
    for (int round = 0; round < 25; ++round) {
      GridMap next = watchers.map();
      if (is_weighted && generator.Chance(0.4)) {
        const int terrains = static_cast<int>(next.settings().terrains.size());
        next = Repainted(next, generator.CellOf(next),
                         static_cast<TerrainId>(generator.Between(0, terrains - 1)));
      } else if (has_gold && generator.Chance(0.3)) {
        next = WithGold(next, generator);
      } else if (generator.Chance(0.6)) {
        const Cell cell = generator.CellOf(next);
        next = next.IsWalkable(cell) ? Blocked(next, cell) : Unblocked(next, cell);
      } else {
        next = Edited(next, generator.Chance(0.5) ? generator.Edits(next, 1) : generator.AnyEdits(next, 1));
      }
      silent += kWatches - watchers.ChangeTo(std::move(next)).size();
      ASSERT_EQ(watchers.Fault(), "") << "map " << i << " round " << round;
    }
  }
  // There must be some to judge.
  EXPECT_GT(silent, 100U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, GeneratedChanges, ::testing::Range(1, 9));

}  // namespace
}  // namespace waystar::core
