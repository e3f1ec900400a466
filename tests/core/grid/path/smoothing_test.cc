#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/path/line_of_sight.h"
#include "server/core/grid/path/path.h"
#include "server/core/grid/path/validate_path.h"
#include "server/core/grid/walk/footprint_grids.h"
#include "tests/core/grid/agents.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/rules.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAreArray;

// What is wrong with a smoothed path; empty if nothing.
std::string Fault(const GridMap& map, SightRule rule, const std::vector<Cell>& before,
                  const std::vector<Cell>& after) {
  DearestOnPath costs(map, 1);
  if (after.front() != before.front() || after.back() != before.back()) {
    return "the ends have moved";
  }
  for (std::size_t i = 1; i < after.size(); ++i) {
    if (!HasLineOfSight(map.walk(), rule, after[i - 1], after[i])) {
      return absl::StrCat("point ", i, " does not see the one before");
    }
  }
  for (std::size_t i = 1; i + 1 < after.size(); ++i) {
    const double around = LineCost(costs, after[i - 1], after[i]) + LineCost(costs, after[i], after[i + 1]);
    if (HasLineOfSight(map.walk(), rule, after[i - 1], after[i + 1]) &&
        LineCost(costs, after[i - 1], after[i + 1]) <= around) {
      return absl::StrCat("point ", i, " can be left out");
    }
  }
  const double allowed = PolylineCost(costs, before) * (1 + 1e-12);
  if (PolylineCost(costs, after) > allowed) {
    return absl::StrCat("costs ", PolylineCost(costs, after), " and cost ", allowed, " before");
  }
  return "";
}

TEST(SmoothTest, TheStringTouchesTheCornersOfWalls) {
  const DrawnQuery drawn = DrawQuery({"..........",  //
                                      "...####...",  //
                                      "s..####..g",  //
                                      "...####...",  //
                                      "...####...",  //
                                      ".........."});
  Scratch scratch(std::size_t{1} << 24);
  const auto result = FindPath(drawn.map, drawn.query(), {}, scratch);
  ASSERT_TRUE(result.ok()) << result.status();
  std::vector<Cell> points(result->points.begin(), result->points.end());
  DearestOnPath costs(drawn.map, 1);
  Smooth(costs, drawn.map.walk(), CornerRule::kNoCornerCutting, points);
  EXPECT_THAT(DrawPath(drawn.map, points), ::testing::ElementsAre("...*..*...",  //
                                                                  "...####...",  //
                                                                  "s..####..g",  //
                                                                  "...####...",  //
                                                                  "...####...",  //
                                                                  ".........."));
}

TEST(SmoothTest, TakesWhatHasNothingToSmooth) {
  const GridMap map = *GridMap::Create(5, 5, {});
  DearestOnPath costs(map, 1);
  for (const std::vector<Cell>& path : {std::vector<Cell>{}, {{1, 1}}, {{1, 1}, {4, 2}}}) {
    std::vector<Cell> points = path;
    Smooth(costs, map.walk(), CornerRule::kNoCornerCutting, points);
    EXPECT_EQ(points, path);
  }
}

TEST(PolylineCostTest, AddsUpLines) {
  const GridMap map = *GridMap::Create(9, 9, {});
  DearestOnPath costs(map, 1);
  EXPECT_EQ(PolylineCost(costs, {}), 0.0);
  EXPECT_EQ(PolylineCost(costs, {{3, 3}}), 0.0);
  EXPECT_DOUBLE_EQ(PolylineCost(costs, {{0, 0}, {3, 4}, {3, 8}}), 9.0);
}

class SmoothedPathsTest : public ::testing::TestWithParam<MapAndAgent> {};

TEST_P(SmoothedPathsTest, KeepTheirPromises) {
  const CornerRule corner_rule = GetParam().agent.corner_rule;
  Scratch scratch(std::size_t{1} << 26);
  int smoothed = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Generator generator(seed);
    GridMap map = generator.Map({.max_side = seed % 5 == 0 ? 200 : 40,
                                 .weighted = GetParam().weighted,
                                 .connectivity = GetParam().connectivity});
    if (GetParam().weighted && seed % 3 == 0) {
      map = generator.WithStepCostsChanged(map);
    }
    for (const PathForm form : {PathForm::kEveryCell, PathForm::kCorners}) {
      const PathQuery query = {.start = generator.WalkableCellOf(map),
                               .goal = generator.WalkableCellOf(map),
                               .corner_rule = corner_rule,
                               .unreachable_policy = UnreachablePolicy::kNearestByDistance,
                               .path_form = form};
      if (!map.IsWalkable(query.start)) {
        continue;
      }
      const auto result = FindPath(map, query, {}, scratch);
      ASSERT_TRUE(result.ok()) << result.status();
      const std::vector<Cell> before(result->points.begin(), result->points.end());
      const SightRule rule = LineRule(GetParam().connectivity, corner_rule);
      DearestOnPath costs(map, 1);
      std::vector<Cell> after = before;
      Smooth(costs, map.walk(), rule, after);
      ASSERT_EQ(Fault(map, rule, before, after), "") << "seed " << seed;
      EXPECT_LE(after.size(), before.size());
      smoothed += after.size() < before.size() ? 1 : 0;

      std::vector<Cell> again = before;
      Smooth(costs, map.walk(), rule, again);
      EXPECT_EQ(again, after) << "seed " << seed;
    }
  }
  EXPECT_GT(smoothed, 200);
}

INSTANTIATE_TEST_SUITE_P(Agents, SmoothedPathsTest, ::testing::ValuesIn(SmallAgents()), NameOf);

// Lines of large agents: they cost the dearest of the cells that the agent covers.

double CostByValidation(const GridMap& map, const PathQuery& query, absl::Span<const Cell> points) {
  const auto validation = ValidatePath(map, {.points = points,
                                             .corner_rule = query.corner_rule,
                                             .path_form = query.path_form,
                                             .footprint = query.footprint});
  EXPECT_TRUE(validation.ok() && validation->walkable);
  return validation->cost;
}

double CostByLegs(const GridMap& map, const PathQuery& query, const PathResult& result) {
  double cost = 0.0;
  for (const PathLeg& leg : Summarize(map, query, result).legs) {
    cost += leg.cost;
  }
  return cost;
}

// Returns the map on which an agent of one cell is where the large one is on `map`, at the same costs.
GridMap AsSeenBy(int footprint, const GridMap& map) {
  const std::shared_ptr<const WalkGrid> walk = map.walk(footprint);
  GridMapEditor editor(map);
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      if (!walk->IsWalkable({x, y})) {
        editor.SetObstacle({x, y}, true);
        continue;
      }
      Cell dearest = {x, y};
      ForEachCellUnder({x, y}, footprint, [&](Cell cell) {
        dearest = map.StraightCost(cell) > map.StraightCost(dearest) ? cell : dearest;
      });
      const Cost own = map.cell_costs() == nullptr ? 0 : map.cell_costs()->At(dearest).straight;
      editor.SetTerrains(y, x, x + 1, map.TerrainAt(dearest));
      editor.SetStepCost({x, y}, own == 0 ? std::nullopt : std::optional<Cost>(own));
    }
  }
  return std::move(editor).Finish();
}

class LargeAgentLines : public ::testing::TestWithParam<Connectivity> {};

TEST_P(LargeAgentLines, AreThoseOfASmallAgentWhereEachCellCostsTheDearestBelow) {
  Scratch scratch(std::size_t{1} << 26);
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    Generator generator(seed);
    GridMap map = generator.Map({.max_side = 60, .weighted = true, .connectivity = GetParam()});
    if (seed % 3 == 0) {
      map = generator.WithStepCostsChanged(map);
    }
    // Footprints of more than 8 x 8 cells read the cells below them by other code.
    PathQuery query{.corner_rule = kRules[seed % 3],
                    .algorithm = Algorithm::kDijkstra,
                    .path_form = PathForm::kSmoothed,
                    .footprint = generator.Chance(0.2) ? generator.Between(9, 12) : generator.Between(2, 5)};
    const GridMap seen = AsSeenBy(query.footprint, map);
    for (int i = 0; i < 4; ++i) {
      query.start = generator.WalkableCellOf(map, query.footprint);
      query.goal = generator.WalkableCellOf(map, query.footprint);
      // Where all cells cost the same a string is pulled in other ways.
      if (!seen.IsWalkable(query.start) || !seen.IsWalkable(query.goal) || seen.HasUniformCost()) {
        continue;
      }
      PathQuery small = query;
      small.footprint = 1;
      const auto of_small = FindPath(seen, small, {}, scratch);
      ASSERT_TRUE(of_small.ok()) << of_small.status();
      if (of_small->outcome != Outcome::kFound) {
        continue;
      }
      const std::vector<Cell> points(of_small->points.begin(), of_small->points.end());
      const double cost = of_small->cost;
      const auto result = FindPath(map, query, {}, scratch);
      ASSERT_TRUE(result.ok()) << result.status();
      ASSERT_THAT(result->points, ElementsAreArray(points)) << "seed " << seed;
      ASSERT_DOUBLE_EQ(result->cost, cost) << "seed " << seed;
      ASSERT_DOUBLE_EQ(CostByValidation(map, query, points), cost) << "seed " << seed;
      ASSERT_NEAR(CostByLegs(map, query, *result), cost, 1e-9 * (1.0 + cost)) << "seed " << seed;
      ++compared;
    }
  }
  EXPECT_GT(compared, 60);
}

INSTANTIATE_TEST_SUITE_P(Lattices, LargeAgentLines,
                         ::testing::Values(Connectivity::kFour, Connectivity::kEight, Connectivity::kSix),
                         [](const auto& one) { return ConnectivityName(one.param); });

}  // namespace
}  // namespace waystar::core
