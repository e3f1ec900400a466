#include "server/core/grid/engines/find_path.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/layouts.h"
#include "tests/testing/patience.h"
#include "tests/testing/random.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Costs = std::map<char, double>;

class FindPathTest : public ::testing::Test {
 protected:
  absl::StatusOr<PathResult> Find(const GridMap& map, const PathQuery& query, const Budget& budget = {}) {
    return FindPath(map, query, budget, scratch_);
  }

  // The answer to a query that must have one.
  PathResult Answer(const DrawnQuery& drawn, const PathQuery& query, const Budget& budget = {}) {
    const auto result = Find(drawn.map, query, budget);
    EXPECT_TRUE(result.ok()) << result.status();
    return *result;
  }

  static constexpr int kSide = 300;

  // Noise whose cells cost the same, and noise of two costs, each with the engines that search it.
  static std::vector<std::pair<GridMap, Algorithm>> MapsAndEngines() {
    GridMap uniform = *GridMap::Create(kSide, kSide, {});
    Random random(4);
    LayNoise(random, 0.25, uniform);
    GridMapEditor clear(uniform);
    for (const Cell cell : {Cell{0, 0}, Cell{1, 0}, Cell{kSide - 1, kSide / 2}}) {
      clear.SetObstacle(cell, false);
    }
    uniform = std::move(clear).Finish();
    GridMapEditor editor(uniform);
    for (int y = 0; y < kSide; y += 20) {
      for (int x = 0; x < kSide; ++x) {
        editor.SetStepCost({x, y}, 3 * kCostScale);
      }
    }
    const GridMap weighted = std::move(editor).Finish();
    return {{uniform, Algorithm::kAStar},     {uniform, Algorithm::kDijkstra},
            {uniform, Algorithm::kJumpPoint}, {uniform, Algorithm::kLazyThetaStar},
            {weighted, Algorithm::kAStar},    {weighted, Algorithm::kDijkstra},
            {weighted, Algorithm::kJumpPoint}};
  }

  Scratch scratch_{1 << 24};
};

TEST_F(FindPathTest, WritesThePathInEachForm) {
  const DrawnQuery drawn = DrawQuery({"s...",  //
                                      "###.",  //
                                      "###.",  //
                                      "..g."});
  PathQuery query = drawn.query();
  const PathResult cells = Answer(drawn, query);
  EXPECT_THAT(cells.points, ElementsAre(Cell{0, 0}, Cell{1, 0}, Cell{2, 0}, Cell{3, 0}, Cell{3, 1},
                                        Cell{3, 2}, Cell{3, 3}, Cell{2, 3}));
  EXPECT_THAT(cells.directions, IsEmpty());

  query.path_form = PathForm::kCorners;
  EXPECT_THAT(Answer(drawn, query).points, ElementsAre(Cell{0, 0}, Cell{3, 0}, Cell{3, 3}, Cell{2, 3}));

  query.path_form = PathForm::kDirections;
  const PathResult directions = Answer(drawn, query);
  using enum Direction;
  EXPECT_THAT(directions.directions, ElementsAre(kEast, kEast, kEast, kSouth, kSouth, kSouth, kWest));
  EXPECT_THAT(directions.points, IsEmpty());
  EXPECT_EQ(directions.end, (Cell{2, 3}));
  EXPECT_EQ(directions.cost, 7.0);
}

TEST_F(FindPathTest, StartMayBeTheGoal) {
  for (const auto& [map, algorithm] : MapsAndEngines()) {
    SCOPED_TRACE(static_cast<int>(algorithm));
    PathQuery query{.start = {1, 0}, .goal = {1, 0}, .algorithm = algorithm};
    const auto cells = Find(map, query);
    ASSERT_TRUE(cells.ok()) << cells.status();
    EXPECT_EQ(cells->outcome, Outcome::kFound);
    EXPECT_EQ(cells->cost, 0.0);
    EXPECT_EQ(cells->statistics.expanded, 0U);
    EXPECT_THAT(cells->points, ElementsAre(Cell{1, 0}));
    query.path_form = PathForm::kCorners;
    EXPECT_THAT(Find(map, query)->points, ElementsAre(Cell{1, 0}));
    if (algorithm != Algorithm::kLazyThetaStar) {
      query.path_form = PathForm::kDirections;
      EXPECT_THAT(Find(map, query)->directions, IsEmpty());
    }
  }
}

TEST_F(FindPathTest, AGoalInSightTakesOneExpansion) {
  const DrawnQuery drawn = DrawQuery({"s....#",  //
                                      "......",  //
                                      "#....g"});
  EXPECT_EQ(Answer(drawn, drawn.query()).statistics.expanded, 1U);
  EXPECT_THAT(Answer(drawn, drawn.query()).points,
              ElementsAre(Cell{0, 0}, Cell{1, 1}, Cell{2, 2}, Cell{3, 2}, Cell{4, 2}, Cell{5, 2}));
  EXPECT_EQ(Answer(drawn, drawn.query(), {.max_expansions = 0}).outcome, Outcome::kBudgetExhausted);
  const std::atomic<bool> cancelled = true;
  EXPECT_EQ(Find(drawn.map, drawn.query(), {.cancelled = &cancelled}).status().code(),
            absl::StatusCode::kCancelled);
}

TEST_F(FindPathTest, AGoalBehindACornerInSightTakesTwoExpansions) {
  const DrawnQuery drawn = DrawQuery({"s.....",  //
                                      "##..#.",  //
                                      "##g.#."});
  EXPECT_EQ(Answer(drawn, drawn.query()).statistics.expanded, 2U);
  EXPECT_DOUBLE_EQ(Answer(drawn, drawn.query()).cost, 4.0);
}

TEST_F(FindPathTest, NoiseOfManyCostsIsSearchedByAStar) {
  const auto algorithm_on = [&](int patch) {
    Random random(1);
    const GridMap map = PaintedMap(random, 64, patch, {1.0, 2.0, 3.0, 4.0});
    return Find(map, {.start = {1, 1}, .goal = {60, 50}})->statistics.algorithm;
  };
  EXPECT_EQ(algorithm_on(1), Algorithm::kAStar);
  EXPECT_EQ(algorithm_on(16), Algorithm::kJumpPoint);
}

TEST_F(FindPathTest, NamesTheFieldAtFault) {
  const GridMap map = DrawMap({"..#",  //
                               "..."});
  constexpr auto kFailed = absl::StatusCode::kFailedPrecondition;
  for (const Cell off : {Cell{-1, 0}, Cell{0, -1}, Cell{3, 0}, Cell{0, 2}, Cell{INT32_MAX, INT32_MIN}}) {
    EXPECT_THAT(Find(map, {.start = off, .goal = {0, 0}}),
                IsError(kOutOfRange, ErrorReason::kOffMap, "start"));
    EXPECT_THAT(Find(map, {.start = {0, 0}, .goal = off}),
                IsError(kOutOfRange, ErrorReason::kOffMap, "goal"));
  }
  EXPECT_THAT(Find(map, {.start = {2, 0}, .goal = {0, 0}}),
              IsError(kFailed, ErrorReason::kStartBlocked, "start"));
  EXPECT_THAT(Find(map, {.start = {0, 0}, .goal = {2, 0}}),
              IsError(kFailed, ErrorReason::kGoalBlocked, "goal"));
}

TEST_F(FindPathTest, SaysWhatBlocksACell) {
  GridSettings settings;
  settings.terrains.push_back({.symbol = 'T', .name = "trees", .impassable = true});
  const GridMap map = DrawMap({".T#"}, settings);
  EXPECT_THAT(std::string(Find(map, {.start = {0, 0}, .goal = {1, 0}}).status().message()),
              HasSubstr("impassable terrain: trees"));
  EXPECT_THAT(std::string(Find(map, {.start = {0, 0}, .goal = {2, 0}}).status().message()),
              HasSubstr("an obstacle"));
}

TEST_F(FindPathTest, ExpansionLimitEndsWithThePathSoFar) {
  const DrawnQuery drawn = DrawQuery({"s........g"});
  PathQuery query = drawn.query();
  query.algorithm = Algorithm::kAStar;
  const PathResult result = Answer(drawn, query, {.max_expansions = 4});
  EXPECT_EQ(result.outcome, Outcome::kBudgetExhausted);
  EXPECT_EQ(result.reason, OutcomeReason::kExpansionLimit);
  EXPECT_EQ(result.statistics.expanded, 4U);
  EXPECT_EQ(result.end, (Cell{3, 0}));
  EXPECT_EQ(result.cost, 3.0);
  EXPECT_EQ(Answer(drawn, query, {.max_expansions = 9}).outcome, Outcome::kFound);
}

TEST_F(FindPathTest, BudgetsEndEveryEngine) {
  for (const auto& [map, algorithm] : MapsAndEngines()) {
    SCOPED_TRACE(static_cast<int>(algorithm));
    const PathQuery query{.start = {0, 0}, .goal = {kSide - 1, kSide / 2}, .algorithm = algorithm};
    for (const std::uint64_t limit : {0U, 3U, 7U}) {
      const auto result = Find(map, query, {.max_expansions = limit});
      ASSERT_TRUE(result.ok()) << result.status();
      EXPECT_EQ(result->outcome, Outcome::kBudgetExhausted);
      EXPECT_EQ(result->reason, OutcomeReason::kExpansionLimit);
      EXPECT_EQ(result->statistics.expanded, limit);
      EXPECT_TRUE(limit > 0 || result->end == query.start);
    }
    for (const std::size_t max_bytes : {std::size_t{0}, std::size_t{120'000}, std::size_t{200'000}}) {
      Scratch small(max_bytes);
      const auto result = FindPath(map, query, {}, small);
      ASSERT_TRUE(result.ok()) << result.status();
      EXPECT_EQ(result->outcome, Outcome::kBudgetExhausted) << max_bytes;
      EXPECT_EQ(result->reason, OutcomeReason::kScratchLimit) << max_bytes;
      // An empty scratch holds its first tables.
      EXPECT_TRUE(max_bytes == 0 || small.memory_bytes() <= max_bytes) << small.memory_bytes();
    }
    EXPECT_THAT(Find(map, query, {.deadline = std::chrono::steady_clock::time_point::min()}),
                IsError(absl::StatusCode::kDeadlineExceeded, ErrorReason::kDeadlineExceeded, ""));
    const std::atomic<bool> cancelled = true;
    EXPECT_THAT(Find(map, query, {.cancelled = &cancelled}),
                IsError(absl::StatusCode::kCancelled, ErrorReason::kCancelled, ""));
    EXPECT_EQ(Find(map, query)->outcome, Outcome::kFound);
  }
}

// Dijkstra across the largest map takes seconds: whoever does not look at the budget on the way ends with a
// path.
TEST_F(FindPathTest, DeadlineAndCancellationStopASearchUnderWay) {
  const GridMap map = *GridMap::Create(kMaxMapSide, kMaxMapSide, {});
  const PathQuery query{
      .start = {0, 0}, .goal = {kMaxMapSide - 1, kMaxMapSide - 1}, .algorithm = Algorithm::kDijkstra};
  Scratch scratch(std::size_t{3} << 29);
  constexpr absl::string_view kNotBegun = "after 0 expansions";
  absl::Status status;
  const Patience patience("searches that end under way");
  do {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
    status = FindPath(map, query, {.deadline = deadline}, scratch).status();
    ASSERT_THAT(status, IsError(absl::StatusCode::kDeadlineExceeded, ErrorReason::kDeadlineExceeded, ""));
  } while (absl::StrContains(status.message(), kNotBegun) && patience.Lasts());
  do {
    std::atomic<bool> cancelled = false;
    std::thread canceller([&] { cancelled = true; });
    status = FindPath(map, query, {.cancelled = &cancelled}, scratch).status();
    canceller.join();
    ASSERT_THAT(status, IsError(absl::StatusCode::kCancelled, ErrorReason::kCancelled, ""));
  } while (absl::StrContains(status.message(), kNotBegun) && patience.Lasts());
}

TEST_F(FindPathTest, DijkstraFindsTheSameCostWithMoreWork) {
  const GridMap map = *GridMap::Create(60, 60, {});
  PathQuery query{.start = {10, 30}, .goal = {50, 33}};
  query.algorithm = Algorithm::kAStar;
  const PathResult astar = *Find(map, query);
  query.algorithm = Algorithm::kDijkstra;
  const PathResult dijkstra = *Find(map, query);
  EXPECT_EQ(astar.cost, dijkstra.cost);
  EXPECT_LT(astar.statistics.expanded * 5, dijkstra.statistics.expanded);
  EXPECT_EQ(dijkstra.statistics.algorithm, Algorithm::kDijkstra);
  query.algorithm = Algorithm::kAuto;
  EXPECT_EQ(Find(map, query)->statistics.algorithm, Algorithm::kJumpPoint);
}

// Which of many equally cheap paths is the answer is part of the contract: these pictures may not change.
TEST_F(FindPathTest, TiesAreBrokenAsDocumented) {
  const DrawnQuery open = DrawQuery({"s....",  //
                                     ".....",  //
                                     "....g"});
  const auto query = [](const DrawnQuery& drawn) {
    PathQuery asked = drawn.query();
    asked.algorithm = Algorithm::kAStar;
    return asked;
  };
  EXPECT_THAT(DrawPath(open.map, Answer(open, query(open)).points), ElementsAre("s....",  //
                                                                                ".*...",  //
                                                                                "..**g"));
  const DrawnQuery around = DrawQuery({".......",  //
                                       "s..#..g",  //
                                       "......."});
  EXPECT_THAT(DrawPath(around.map, Answer(around, query(around)).points), ElementsAre("..***..",  //
                                                                                      "s*.#.*g",  //
                                                                                      "......."));
}

// Costs of single cells: danger that paths bend round if it is worth the way, rewards that draw them, and
// what may be asked of maps that have some.

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
  Scratch scratch_{std::size_t{1} << 26};
};

TEST_F(StepCostsTest, PathsBendRoundDanger) {
  const DrawnQuery drawn = Draw({".......",  //
                                 "..aaa..",  //
                                 "s.aba.g",  //
                                 "..aaa..",  //
                                 "#######"},
                                {{'a', 2.0}, {'b', 9.0}});
  const auto result = FindPath(drawn.map, drawn.query(), {}, scratch_);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_NEAR(result->cost, 2.0 + 4.0 * kSqrt2, 1e-7);
  EXPECT_THAT(DrawPath(drawn.map, result->points), ElementsAre("..***..",  //
                                                               ".*...*.",  //
                                                               "s.....g",  //
                                                               ".......",  //
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
