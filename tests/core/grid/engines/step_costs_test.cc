// Costs of single cells: danger that paths bend round if it is worth the way, rewards that draw them, and
// what may be asked of maps that have some.
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::waystar::testing::DrawnQuery;
using ::waystar::testing::DrawPath;
using ::waystar::testing::DrawQuery;
using ::waystar::testing::FourConnected;
using ::waystar::testing::IsError;

using Costs = std::map<char, double>;

// A drawing with letters on ground cells that cost something else.
DrawnQuery Draw(const std::vector<std::string>& rows, const Costs& costs, GridSettings settings = {}) {
  std::vector<std::string> ground = rows;
  for (std::string& row : ground) {
    for (char& cell : row) {
      cell = costs.contains(cell) ? '.' : cell;
    }
  }
  const DrawnQuery drawn = DrawQuery(ground, std::move(settings));
  GridMapEditor editor(drawn.map);
  for (int y = 0; y < drawn.map.height(); ++y) {
    for (int x = 0; x < drawn.map.width(); ++x) {
      const auto cost = costs.find(rows[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)]);
      if (cost != costs.end()) {
        editor.SetStepCost({x, y}, CostFromDouble(cost->second));
      }
    }
  }
  return {std::move(editor).Finish(), drawn.start, drawn.goal};
}

class StepCostsTest : public ::testing::Test {
 protected:
  // All that search for optimal paths must agree on the cost; the path is the default one.
  std::vector<std::string> PathOn(const DrawnQuery& drawn, double expected_cost) {
    PathQuery query = drawn.query();
    for (const Algorithm algorithm :
         {Algorithm::kAStar, Algorithm::kDijkstra, Algorithm::kJumpPoint, Algorithm::kAuto}) {
      query.algorithm = algorithm;
      const auto result = FindPath(drawn.map, query, {}, scratch_);
      EXPECT_TRUE(result.ok()) << result.status();
      EXPECT_NEAR(result->cost, expected_cost, 1e-7);
      if (algorithm == Algorithm::kAuto) {
        return DrawPath(drawn.map, result->points);
      }
    }
    return {};
  }

  Scratch scratch_{std::size_t{1} << 26};
};

TEST_F(StepCostsTest, PathsBendRoundDanger) {
  const DrawnQuery drawn = Draw({".......",  //
                                 "..aaa..",  //
                                 "s.aba.g",  //
                                 "..aaa..",  //
                                 "#######"},
                                {{'a', 2.0}, {'b', 9.0}});
  EXPECT_THAT(PathOn(drawn, 2.0 + 4.0 * kSqrt2),  //
              ElementsAre("..***..",              //
                          ".*...*.",              //
                          "s.....g",              //
                          ".......",              //
                          "#######"));
}

TEST_F(StepCostsTest, DecimalCostsAddUpAsWritten) {
  GridSettings settings;
  settings.diagonal_cost = 1.4;
  const DrawnQuery drawn = Draw({"saaaaaag"}, {{'a', 0.1}}, settings);
  const auto result = FindPath(drawn.map, drawn.query(), {}, scratch_);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->cost, 1.6);
}

TEST_F(StepCostsTest, AlgorithmsForOneCostAreUnsuited) {
  const auto unsuited =
      IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kAlgorithmUnsuited, "algorithm");
  const DrawnQuery drawn = Draw({"s.a.g"}, {{'a', 2.0}});
  PathQuery query = drawn.query();
  for (const Algorithm algorithm : {Algorithm::kLazyThetaStar, Algorithm::kSubgoalHierarchy}) {
    query.algorithm = algorithm;
    EXPECT_THAT(FindPath(drawn.map, query, {}, scratch_), unsuited);
  }
  const DrawnQuery four = Draw({"s.a.g"}, {{'a', 2.0}}, FourConnected());
  query.algorithm = Algorithm::kJumpPoint;
  EXPECT_THAT(FindPath(four.map, query, {}, scratch_), unsuited);
  query.algorithm = Algorithm::kAuto;
  const auto found = FindPath(four.map, query, {}, scratch_);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->statistics.algorithm, Algorithm::kAStar);
  EXPECT_EQ(found->cost, 5.0);
}

TEST_F(StepCostsTest, TheLastCostTakenAwaySuitsThemAgain) {
  const DrawnQuery drawn = Draw({"s.a.g"}, {{'a', 2.0}});
  GridMapEditor editor(drawn.map);
  editor.SetStepCost({2, 0}, std::nullopt);
  const GridMap map = std::move(editor).Finish();
  PathQuery query = drawn.query();
  for (const Algorithm algorithm : {Algorithm::kLazyThetaStar, Algorithm::kSubgoalHierarchy}) {
    query.algorithm = algorithm;
    const auto found = FindPath(map, query, {}, scratch_);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->cost, 4.0);
  }
}

// An index is of one state of the map.
TEST_F(StepCostsTest, TheFirstCostLeavesAnIndexBehind) {
  const DrawnQuery drawn = DrawQuery({"s....g"});
  drawn.map.static_index().Want();
  const StaticIndexSlot* slot = &drawn.map.static_index();
  GridMapEditor put(drawn.map);
  put.SetStepCost({2, 0}, 2 * kCostScale);
  const GridMap dear = std::move(put).Finish();
  EXPECT_NE(&dear.static_index(), slot);
  GridMapEditor nothing(dear);
  nothing.SetStepCost({2, 0}, 2 * kCostScale);
  EXPECT_EQ(&std::move(nothing).Finish().static_index(), &dear.static_index());
}

}  // namespace
}  // namespace waystar::core
