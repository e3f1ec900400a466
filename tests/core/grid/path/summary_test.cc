#include <cstdint>

#include "gmock/gmock.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/path/path.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/oracle.h"

namespace waystar::core {
namespace {

TEST(SummaryTest, TellsLegsOfEachTerrain) {
  GridSettings settings;
  settings.terrains.push_back({.symbol = '~', .name = "mud", .cost = 3.0});
  const auto drawn = DrawQuery({"s.~~.",  //
                                "####.",  //
                                "####g"},
                               settings);
  Scratch scratch(std::size_t{16} << 20);
  for (const PathForm form : {PathForm::kEveryCell, PathForm::kCorners, PathForm::kDirections}) {
    PathQuery query = drawn.query();
    query.path_form = form;
    const auto result = FindPath(drawn.map, query, {}, scratch);
    ASSERT_TRUE(result.ok());
    const PathSummary summary = Summarize(drawn.map, query, *result);
    EXPECT_DOUBLE_EQ(summary.length, 6.0);
    EXPECT_EQ(summary.turns, 1);
    ASSERT_EQ(summary.legs.size(), 3U);
    EXPECT_EQ(summary.legs[1].terrain, 1);
    EXPECT_EQ(summary.legs[1].cells, 2);
    EXPECT_DOUBLE_EQ(summary.legs[1].cost, 6.0);
    EXPECT_EQ(summary.legs[2].cells, 3);
  }
}

// Legs add up, whatever the form; the forms of one path agree.
TEST(SummaryTest, LegsAddUpToThePath) {
  Scratch scratch(std::size_t{64} << 20);
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Generator generator(seed);
    GridMap map = generator.Map(
        {.max_side = 60, .weighted = generator.Chance(0.7), .connectivity = AnyConnectivity(generator)});
    if (generator.Chance(0.3)) {
      map = generator.WithStepCostsChanged(map);
    }
    PathQuery query{.path_form = static_cast<PathForm>(generator.Between(0, 3)),
                    .footprint = generator.Chance(0.7) ? 1 : 2};
    query.start = generator.WalkableCellOf(map, query.footprint);
    query.goal = generator.Chance(0.1) ? query.start : generator.WalkableCellOf(map, query.footprint);
    if (!CanStand(map, query.start, query.footprint) || !CanStand(map, query.goal, query.footprint)) {
      continue;
    }
    const auto result = FindPath(map, query, {}, scratch);
    ASSERT_TRUE(result.ok()) << result.status();
    if (result->outcome != Outcome::kFound) {
      continue;
    }
    ++found;
    const PathSummary summary = Summarize(map, query, *result);
    double length = 0.0;
    double cost = 0.0;
    int cells = 0;
    for (std::size_t i = 0; i < summary.legs.size(); ++i) {
      length += summary.legs[i].length;
      cost += summary.legs[i].cost;
      cells += summary.legs[i].cells;
      ASSERT_TRUE(i == 0 || summary.legs[i].terrain != summary.legs[i - 1].terrain);
    }
    ASSERT_NEAR(length, summary.length, 1e-6);
    ASSERT_EQ(summary.legs.empty(), query.start == query.goal);
    ASSERT_NEAR(cost, result->cost, 1e-6 * (1 + result->cost)) << "seed " << seed;
    if (query.path_form == PathForm::kEveryCell) {
      ASSERT_EQ(cells + 1, static_cast<int>(result->points.size()));
      PathQuery corners = query;
      corners.path_form = PathForm::kCorners;
      const auto same = FindPath(map, corners, {}, scratch);
      const PathSummary other = Summarize(map, corners, *same);
      ASSERT_EQ(other.turns, summary.turns);
      ASSERT_EQ(other.turns, std::max(static_cast<int>(same->points.size()) - 2, 0));
      ASSERT_DOUBLE_EQ(other.length, summary.length);
    }
  }
  EXPECT_GT(found, 50);
}

}  // namespace
}  // namespace waystar::core
