#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/grid/engines/engines.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "tests/testing/generator.h"
#include "tests/testing/oracle.h"
#include "tests/testing/rules.h"

namespace waystar::core {
namespace {

// The cells from the start to a node, by the meaning of parents: first the diagonal steps, then the straight
// ones.
std::vector<Cell> CellsTo(const NodeTable& nodes, Cell end) {
  std::vector<Cell> turns;
  NodeIndex node = nodes.Find(end);
  for (; nodes[node].parent != node; node = nodes[node].parent) {
    turns.push_back(Unpack(nodes[node].cell));
  }
  std::vector<Cell> cells = {Unpack(nodes[node].cell)};
  for (; !turns.empty(); turns.pop_back()) {
    while (cells.back() != turns.back()) {
      const Cell at = cells.back();
      cells.push_back(
          {at.x + std::clamp(turns.back().x - at.x, -1, 1), at.y + std::clamp(turns.back().y - at.y, -1, 1)});
    }
  }
  return cells;
}

class WeightedJpsTest : public ::testing::Test {
 protected:
  SearchReport Search(const GridMap& map, const PathQuery& query) {
    NoRecorder recorder;
    return RunWeightedJps(map, query, {}, scratch_, recorder);
  }

  // Nothing if Dijkstra's algorithm does not get there.
  std::optional<Cost> Cheapest(const GridMap& map, PathQuery query) {
    query.algorithm = Algorithm::kDijkstra;
    NoRecorder recorder;
    const SearchReport report = RunAStar(map, map.walk(), query, {}, scratch_, recorder);
    return report.end == SearchEnd::kGoalReached ? std::optional<Cost>(scratch_.Find(query.goal)->g)
                                                 : std::nullopt;
  }

  void ExpectCheapest(const GridMap& map, const PathQuery& query) {
    SCOPED_TRACE(absl::StrCat(query.start.x, " ", query.start.y, " to ", query.goal.x, " ", query.goal.y,
                              " rule ", static_cast<int>(query.corner_rule)));
    const std::optional<Cost> cheapest = Cheapest(map, query);
    const SearchReport report = Search(map, query);
    ASSERT_EQ(report.end, cheapest ? SearchEnd::kGoalReached : SearchEnd::kExhausted);
    const NodeTable& nodes = scratch_.nodes();
    const JumpNode& end = nodes[nodes.Find(report.nearest)];
    if (cheapest) {
      ASSERT_EQ(report.nearest, query.goal);
      ASSERT_EQ(end.g, *cheapest);
      ASSERT_EQ(PathFault(map, query.corner_rule, query.start, query.goal, CellsTo(nodes, query.goal),
                          CostToDouble(end.g)),
                "");
    }
  }

  // One for all, as in a worker: what one search leaves behind must not reach the next.
  Scratch scratch_{std::size_t{1} << 26};
};

// A map whose cells are of the terrains of `settings`, in patches, stripes or one by one.
GridMap PaintedMap(Generator& generator, GridSettings settings) {
  const int terrains = static_cast<int>(settings.terrains.size());
  const GridMap blank =
      *GridMap::Create(generator.Between(1, 24), generator.Between(1, 24), std::move(settings));
  const int patch_width = generator.Between(1, 6);
  const int patch_height = generator.Between(1, 6);
  const int obstacles = generator.Between(0, 3);
  std::vector<TerrainId> patches(24 * 24);
  for (TerrainId& patch : patches) {
    patch = static_cast<TerrainId>(generator.Between(0, terrains - 1));
  }
  GridMapEditor editor(blank);
  for (int y = 0; y < blank.height(); ++y) {
    std::vector<TerrainId> row(static_cast<std::size_t>(blank.width()));
    for (int x = 0; x < blank.width(); ++x) {
      row[static_cast<std::size_t>(x)] =
          generator.Chance(0.1 * obstacles)
              ? GridMapEditor::kObstacle
              : patches[static_cast<std::size_t>(y / patch_height * 24 + x / patch_width)];
    }
    editor.SetRow(y, row);
  }
  return std::move(editor).Finish();
}

TEST_F(WeightedJpsTest, ExactForAllKindsOfCosts) {
  const std::vector<std::vector<double>> cost_sets = {{1.0},
                                                      {1.0, 1.5, 2.0},
                                                      {1.0, 3.0},
                                                      {1.0, 1.001},
                                                      {0.001, 1000.0},
                                                      {1.0, 1.0, 1.0},
                                                      {2.0, kSqrt2, 1.0},
                                                      {0.001, 1.0, 1000.0},
                                                      {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};
  std::uint64_t seed = 0;
  for (const double diagonal_cost : {1.0, 1.2, 1.4, kSqrt2, 1.9, 2.0}) {
    for (const std::vector<double>& costs : cost_sets) {
      GridSettings settings{.diagonal_cost = diagonal_cost, .terrains = {}};
      for (const double cost : costs) {
        settings.terrains.push_back(
            {.symbol = static_cast<char>('a' + settings.terrains.size()), .name = "terrain", .cost = cost});
      }
      for (int i = 0; i < 25; ++i) {
        ++seed;
        SCOPED_TRACE(absl::StrCat("seed ", seed));
        Generator generator(seed);
        const GridMap map = PaintedMap(generator, settings);
        const Cell start = generator.WalkableCellOf(map);
        if (!map.IsWalkable(start)) {
          continue;
        }
        for (const CornerRule rule : kRules) {
          for (int goals = 0; goals < 3; ++goals) {
            ExpectCheapest(map, {.start = start, .goal = generator.CellOf(map), .corner_rule = rule});
          }
        }
      }
    }
  }
}

// Amid cells of one cost runs go on, whether it is their own or their terrain's.
TEST_F(WeightedJpsTest, PassesOverCellsOfOneCostInOneJump) {
  const GridMap map = *GridMap::Create(200, 200, {});
  GridMapEditor editor(map);
  for (int y = 20; y < 120; ++y) {
    for (int x = 20; x < 120; ++x) {
      editor.SetStepCost({x, y}, 5 * kCostScale);
    }
  }
  const GridMap dear = std::move(editor).Finish();
  const PathQuery query{.start = {40, 70}, .goal = {100, 60}};
  ExpectCheapest(dear, query);
  NoRecorder recorder;
  const SearchReport cell_by_cell = RunAStar(dear, dear.walk(), query, {}, scratch_, recorder);
  EXPECT_LT(4 * Search(dear, query).statistics.expanded, cell_by_cell.statistics.expanded);
}

}  // namespace
}  // namespace waystar::core
