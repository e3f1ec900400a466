// Searches over cells of different costs judge cells in proportion to what they look at, however large the
// map is and however many terrains it has.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/map/movement_profile.h"
#include "server/core/grid/map/plain_cells.h"
#include "server/core/grid/map/profile_views.h"
#include "server/core/search/interruption.h"
#include "tests/testing/layouts.h"
#include "tests/testing/plainness.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

using ::waystar::testing::JudgeAll;

// A map whose cells have one of `terrains` terrains at random, in turn of the costs 1 to `costs`.
GridMap Noise(int side, int terrains, int costs) {
  testing::Random random(5);
  std::vector<double> values;
  for (int i = 0; i < terrains; ++i) {
    values.push_back(1.0 + i % costs);
  }
  return testing::PaintedMap(random, side, 1, values);
}

TEST(PlainCellsCliffTest, TerrainsOfOneCostAreOne) {
  const auto judged = [](int grasses) { return JudgeAll(Noise(256, 2 * grasses, 2)).neighbourhoods; };
  EXPECT_LE(judged(1), 8U * 512);
  EXPECT_LE(judged(10), 8U * 512);
  EXPECT_LE(JudgeAll(Noise(256, 20, 1)).neighbourhoods, 64U);
}

TEST(PlainCellsCliffTest, EachNeighbourhoodIsJudgedAboutOnce) {
  for (const int side : {128, 256, 512}) {
    const PlainCells::Work work = JudgeAll(Noise(side, 2, 2));
    EXPECT_EQ(work.cells, static_cast<std::uint64_t>(side) * static_cast<std::uint64_t>(side));
    EXPECT_LE(work.neighbourhoods, 8U * 512) << "side " << side;
  }
}

TEST(PlainCellsCliffTest, NoNewMapIsJudged) {
  GridMap map = Noise(256, 3, 3);
  map.Prepare();
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      EXPECT_EQ(map.plain_cells().Find(column, row), nullptr);
    }
  }
}

class FreshProfileCliffTest : public ::testing::Test {
 protected:
  static GridMap MapOf(int side) { return Noise(side, 20, 3); }

  PathResult Find(const GridMap& map, const PathQuery& query, std::uint64_t upkeep) {
    Upkeep left(upkeep);
    const auto result = FindPath(map, query, {.upkeep = &left}, scratch_);
    upkeep_left_ = left.left();
    EXPECT_TRUE(result.ok()) << result.status();
    return *result;
  }

  static constexpr std::uint64_t kPlenty = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t upkeep_left_ = 0;
  Scratch scratch_{std::size_t{1} << 28};
};

TEST_F(FreshProfileCliffTest, AShortQueryPaysForWhereItGoes) {
  for (const int side : {256, 512, 1024}) {
    const GridMap map = MapOf(side);
    const auto view = ViewUnder(map, TerrainRules({.terrain_costs = {{'a', 2.5}}}, map.settings()));
    Find(*view, {.start = {100, 100}, .goal = {115, 110}, .algorithm = Algorithm::kJumpPoint}, kPlenty);
    // Four tiles of cells that are all different.
    EXPECT_LE(kPlenty - upkeep_left_, 4U * (64 + 4 * 64 * 64)) << "side " << side;
    EXPECT_GT(kPlenty - upkeep_left_, 0U);
  }
}

TEST_F(FreshProfileCliffTest, AnswersAreTheSameBeforeAndAfter) {
  const GridMap map = MapOf(512);
  for (int i = 0; i < 20; ++i) {
    PathQuery query{.start = {7 + 13 * i, 400 - 11 * i}, .goal = {300 - 9 * i, 20 + 23 * i}};
    query.corner_rule = static_cast<CornerRule>(i % kCornerRuleCount);
    query.algorithm = Algorithm::kJumpPoint;
    const PathResult first = Find(map, query, kPlenty);
    const PathResult second = Find(map, query, kPlenty);
    EXPECT_EQ(kPlenty - upkeep_left_, 0U) << "judged twice";
    EXPECT_EQ(first.points, second.points);
    EXPECT_EQ(first.statistics.expanded, second.statistics.expanded);
    query.algorithm = Algorithm::kDijkstra;
    EXPECT_NEAR(first.cost, Find(map, query, kPlenty).cost, 1e-6);
  }
}

TEST_F(FreshProfileCliffTest, WithoutUpkeepASearchEndsAtOnce) {
  const GridMap map = MapOf(512);
  const PathQuery query{.start = {5, 5}, .goal = {500, 500}, .algorithm = Algorithm::kJumpPoint};
  PathResult result = Find(map, query, 0);
  EXPECT_EQ(result.reason, OutcomeReason::kExpansionLimit);
  EXPECT_LE(result.statistics.expanded, 1U);
  for (int i = 0; i < 1000 && result.reason == OutcomeReason::kExpansionLimit; ++i) {
    result = Find(map, query, 4096);
  }
  EXPECT_EQ(result.reason, OutcomeReason::kGoalReached) << "what a search judged is there for the next";
}

}  // namespace
}  // namespace waystar::core
