#include "server/core/grid/engines/find_path.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
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
using ::waystar::testing::DrawMap;
using ::waystar::testing::DrawnQuery;
using ::waystar::testing::DrawPath;
using ::waystar::testing::DrawQuery;
using ::waystar::testing::IsError;
using ::waystar::testing::kOutOfRange;
using ::waystar::testing::Patience;

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
    testing::Random random(4);
    testing::LayNoise(random, 0.25, uniform);
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

// The three rules at one corner: between two walls, beside one wall, in the open.
TEST_F(FindPathTest, CornerRulesDecideWhichDiagonalsAreLegal) {
  const auto cost = [&](const DrawnQuery& drawn, CornerRule rule) {
    PathQuery query = drawn.query();
    query.corner_rule = rule;
    const PathResult result = Answer(drawn, query);
    return result.outcome == Outcome::kFound ? result.cost : -1.0;
  };
  const DrawnQuery squeeze = DrawQuery({"s#",  //
                                        "#g"});
  EXPECT_EQ(cost(squeeze, CornerRule::kNoCornerCutting), -1.0);
  EXPECT_EQ(cost(squeeze, CornerRule::kOneSideFree), -1.0);
  EXPECT_EQ(cost(squeeze, CornerRule::kAlways), kSqrt2);

  const DrawnQuery corner = DrawQuery({"s#",  //
                                       ".g"});
  EXPECT_EQ(cost(corner, CornerRule::kNoCornerCutting), 2.0);
  EXPECT_EQ(cost(corner, CornerRule::kOneSideFree), kSqrt2);
  EXPECT_EQ(cost(corner, CornerRule::kAlways), kSqrt2);

  const DrawnQuery open = DrawQuery({"s.",  //
                                     ".g"});
  EXPECT_EQ(cost(open, CornerRule::kNoCornerCutting), kSqrt2);
}

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
    testing::Random random(1);
    const GridMap map = testing::PaintedMap(random, 64, patch, {1.0, 2.0, 3.0, 4.0});
    return Find(map, {.start = {1, 1}, .goal = {60, 50}})->statistics.algorithm;
  };
  EXPECT_EQ(algorithm_on(1), Algorithm::kAStar);
  EXPECT_EQ(algorithm_on(16), Algorithm::kJumpPoint);
}

TEST_F(FindPathTest, UnreachableGoalIsAnAnswer) {
  const DrawnQuery drawn = DrawQuery({"s.#.",  //
                                      "..#g"});
  const PathResult result = Answer(drawn, drawn.query());
  EXPECT_EQ(result.outcome, Outcome::kUnreachable);
  EXPECT_EQ(result.reason, OutcomeReason::kNoRoute);
  EXPECT_THAT(result.points, IsEmpty());
  EXPECT_EQ(result.cost, 0.0);
}

TEST_F(FindPathTest, NearestReachableCellStandsInForTheGoal) {
  const DrawnQuery drawn = DrawQuery({"s...#..",  //
                                      "....#.g",  //
                                      "....###",  //
                                      "......."});
  PathQuery query = drawn.query();
  query.unreachable_policy = UnreachablePolicy::kNearestByDistance;
  const PathResult result = Answer(drawn, query);
  EXPECT_EQ(result.outcome, Outcome::kPartial);
  EXPECT_EQ(result.reason, OutcomeReason::kNoRoute);
  EXPECT_THAT(DrawPath(drawn.map, result.points), ElementsAre("s...#..",  //
                                                              ".*..#..",  //
                                                              "..*.###",  //
                                                              "...***g"));
  EXPECT_EQ(result.end, (Cell{6, 3}));
}

TEST_F(FindPathTest, NearestWorksForABlockedGoal) {
  const GridMap map = DrawMap({".....",  //
                               "..###",  //
                               "..###"});
  PathQuery query{
      .start = {0, 2}, .goal = {4, 1}, .unreachable_policy = UnreachablePolicy::kNearestByDistance};
  const auto result = Find(map, query);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->outcome, Outcome::kPartial);
  EXPECT_EQ(result->reason, OutcomeReason::kGoalBlocked);
  EXPECT_EQ(result->end, (Cell{4, 0}));
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

}  // namespace
}  // namespace waystar::core
