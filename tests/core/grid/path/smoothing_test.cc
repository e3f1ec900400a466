#include "server/core/grid/path/smoothing.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/path/line_of_sight.h"
#include "tests/core/grid/agents.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"

namespace waystar::core {
namespace {

using ::waystar::testing::DrawnQuery;
using ::waystar::testing::DrawPath;
using ::waystar::testing::DrawQuery;
using ::waystar::testing::Generator;

using Rows = std::vector<std::string>;

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

Rows Smoothed(const Rows& rows, GridSettings settings = {}) {
  const DrawnQuery drawn = DrawQuery(rows, std::move(settings));
  Scratch scratch(std::size_t{1} << 24);
  const auto result = FindPath(drawn.map, drawn.query(), {}, scratch);
  EXPECT_TRUE(result.ok()) << result.status();
  std::vector<Cell> points(result->points.begin(), result->points.end());
  DearestOnPath costs(drawn.map, 1);
  Smooth(costs, drawn.map.walk(), CornerRule::kNoCornerCutting, points);
  return DrawPath(drawn.map, points);
}

TEST(SmoothTest, OnOpenGroundTheEndsRemain) {
  const Rows open = {"s.....", "......", ".....g"};
  EXPECT_EQ(Smoothed(open), open);
  const Rows straight = {"s....g"};
  EXPECT_EQ(Smoothed(straight), straight);
}

TEST(SmoothTest, TheStringTouchesTheCornersOfWalls) {
  EXPECT_EQ(Smoothed({"..........",  //
                      "...####...",  //
                      "s..####..g",  //
                      "...####...",  //
                      "...####...",  //
                      ".........."}),
            (Rows{"...*..*...",  //
                  "...####...",  //
                  "s..####..g",  //
                  "...####...",  //
                  "...####...",  //
                  ".........."}));
}

TEST(SmoothTest, ADearShortcutIsNotTaken) {
  GridSettings settings;
  settings.terrains = {{.symbol = '.', .name = "ground", .cost = 1.0},
                       {.symbol = '~', .name = "swamp", .cost = 9.0}};
  EXPECT_EQ(Smoothed({".........",  //
                      ".~~~~~~~.",  //
                      "s~~~~~~~g"},
                     settings),
            (Rows{".*.....*.",  //
                  "*~~~~~~~*",  //
                  "s~~~~~~~g"}));
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

}  // namespace
}  // namespace waystar::core
