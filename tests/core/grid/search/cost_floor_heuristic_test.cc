#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/grid/cells/grid_moves.h"
#include "server/core/grid/map/cost_floor.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/search/goal_set.h"
#include "server/core/grid/search/octile.h"
#include "tests/testing/generator.h"

namespace waystar::core {
namespace {

// Weighted, and with some cells that are far cheaper than the others.
GridMap MapOf(Generator& generator, Connectivity connectivity) {
  const GridMap map = generator.Map({.max_side = 90, .weighted = true, .connectivity = connectivity});
  GridMapEditor editor(map);
  for (int places = generator.Between(0, 12); places > 0; --places) {
    const Cell corner = generator.CellOf(map);
    const Cost cost = generator.Between(1, 30) * kCostScale / 100;
    const int side = generator.Between(1, 3);
    for (int i = 0; i < side * side; ++i) {
      const Cell cell{corner.x + i % side, corner.y + i / side};
      if (map.Contains(cell)) {
        editor.SetStepCost(cell, cost);
      }
    }
  }
  return std::move(editor).Finish();
}

// Expects that it is 0 at the goals and falls by no more than a step costs.
template <typename Heuristic>
void ExpectConsistent(const GridMap& map, const std::vector<Cell>& goals, const Heuristic& heuristic) {
  for (const Cell goal : goals) {
    ASSERT_EQ(heuristic(goal), 0);
  }
  const GridMoves& moves = GridMoves::For(map.settings().connectivity, CornerRule::kAlways);
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      const Cell cell{x, y};
      if (!map.IsWalkable(cell)) {
        continue;
      }
      const DirectionSet steps = moves.From(map.walk(), cell);
      for (int i = 0; i < kDirectionCount; ++i) {
        const auto direction = static_cast<Direction>(i);
        if ((steps & SetOf(direction)) == 0) {
          continue;
        }
        const Cell next = Step(cell, direction);
        const bool is_diagonal = IsDiagonal(direction) && map.settings().connectivity != Connectivity::kSix;
        const Cost cost = is_diagonal ? map.DiagonalCost(next) : map.StraightCost(next);
        ASSERT_LE(heuristic(cell), cost + heuristic(next))
            << x << " " << y << " to " << next.x << " " << next.y;
      }
    }
  }
}

TEST(CostFloorHeuristicTest, IsConsistentAndNoLessThanTheOctileDistance) {
  int with_places = 0;
  for (std::uint64_t seed = 1; seed <= 240; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    constexpr std::array kConnectivities = {Connectivity::kFour, Connectivity::kEight, Connectivity::kSix};
    const GridMap map = MapOf(generator, kConnectivities[seed % kConnectivities.size()]);
    with_places += map.cost_floor().cheap.empty() ? 0 : 1;
    std::vector<Cell> goals;
    for (int i = generator.Between(1, 30); i > 0; --i) {
      goals.push_back(generator.CellOf(map));
    }
    const CostFloorHeuristic one(map, goals[0]);
    ExpectConsistent(map, {goals[0]}, one);

    GoalSet set;
    set.Start(map);
    for (std::size_t i = 0; i < goals.size(); ++i) {
      set.Add(goals[i], i);
    }
    set.Finish();
    ExpectConsistent(map, goals, [&](Cell cell) { return set.Heuristic(cell); });

    const OctileHeuristic octile(map, goals[0]);
    for (int i = 0; i < 200; ++i) {
      const Cell cell = generator.CellOf(map);
      ASSERT_GE(one(cell), octile(cell));
      ASSERT_LE(set.Heuristic(cell), one(cell));
    }
  }
  EXPECT_GT(with_places, 80);
}

TEST(CostFloorHeuristicTest, IsConsistentInARoomAmidImpassableGround) {
  const GridMap rock =
      GridMap::Create(1280, 64,
                      {.terrains = {{.symbol = '.', .name = "meadow"},
                                    {.symbol = '-', .name = "road", .cost = 0.5},
                                    {.symbol = '^', .name = "rock", .cost = 0.1, .impassable = true}}},
                      2)
          .value();
  GridMapEditor editor(rock);
  for (int y = 10; y < 50; ++y) {
    editor.SetTerrains(y, 300, 400, 0);
  }
  editor.SetTerrains(20, 320, 350, 1);
  const GridMap map = std::move(editor).Finish();
  ExpectConsistent(map, {{350, 30}}, CostFloorHeuristic(map, {350, 30}));
}

}  // namespace
}  // namespace waystar::core
