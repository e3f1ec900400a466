// The nearest of several goals where there are portals. A search for each goal alone is the judge.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/portal/portal_search.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/portal_world.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::waystar::testing::Between;
using ::waystar::testing::DrawMap;
using ::waystar::testing::Generator;
using ::waystar::testing::IsOk;
using ::waystar::testing::With;

// Both cost 4; the one below the wall looks nearer.
TEST(NearestThroughPortalsTest, OfEquallyCheapGoalsTheFirst) {
  const GridMap map = With(DrawMap({".......",  //
                                    "..#....",  //
                                    "......."},
                                   {.connectivity = Connectivity::kFour}),
                           {Between("far", {5, 2}, {6, 2}, 1000.0)});
  Scratch scratch(std::size_t{1} << 22);
  NoWorld world;
  const std::vector<Cell> goals = {{6, 0}, {2, 2}};
  for (const std::vector<Cell>& order : {goals, std::vector<Cell>(goals.rbegin(), goals.rend())}) {
    const auto found =
        FindPathThroughPortals(map, world, {.path = {.start = {2, 0}}, .goals = order}, {}, scratch);
    ASSERT_THAT(found, IsOk());
    EXPECT_EQ(found->path.cost, 4.0);
    EXPECT_EQ(found->goal_index, 0U);
    EXPECT_EQ(found->path.end, order[0]);
  }
}

TEST(NearestThroughPortalsTest, IsTheFirstOfTheCheapestOfAll) {
  Scratch scratch(std::size_t{1} << 26);
  int ties = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Generator generator(seed);
    GridMap map = generator.Map({.max_side = 16, .weighted = generator.Chance(0.3)});
    for (int i = generator.Between(1, 5); i > 0; --i) {
      const std::vector<Edit> edits = {
          PutPortal{.portal = Between(absl::StrCat("p", i), generator.WalkableCellOf(map),
                                      generator.WalkableCellOf(map), generator.Between(0, 4))}};
      // Some lead nowhere.
      if (auto result = ApplyEdits(map, edits); result.ok()) {
        map = result->map;
      }
    }
    NoWorld world;
    PortalQuery query{.path = {.start = generator.WalkableCellOf(map)}};
    std::vector<Cell> goals;
    std::vector<std::optional<double>> costs;
    for (int i = 0; i < 6; ++i) {
      goals.push_back(generator.WalkableCellOf(map));
      query.path.goal = goals.back();
      const auto alone = FindPathThroughPortals(map, world, query, {}, scratch);
      costs.push_back(alone.ok() && alone->path.outcome == Outcome::kFound ? std::optional(alone->path.cost)
                                                                           : std::nullopt);
    }
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      if (costs[i] && (!first || *costs[i] < *costs[*first] - 1e-7)) {
        first = i;
      } else if (costs[i] && *costs[i] < *costs[*first] + 1e-7) {
        ++ties;
      }
    }
    query.goals = goals;
    const auto nearest = FindPathThroughPortals(map, world, query, {}, scratch);
    if (!nearest.ok()) {
      EXPECT_FALSE(first.has_value());
      continue;
    }
    ASSERT_EQ(nearest->path.outcome == Outcome::kFound, first.has_value());
    if (first) {
      EXPECT_EQ(nearest->goal_index, *first);
      EXPECT_NEAR(nearest->path.cost, *costs[*first], 1e-7);
    }
  }
  EXPECT_GT(ties, 20);
}

}  // namespace
}  // namespace waystar::core
