#include "server/core/grid/hierarchy/hierarchy.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/core/grid/engines/engines.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/hierarchy/hierarchy_search.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/path/path.h"
#include "server/core/grid/search/taut_turns.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/environment.h"
#include "tests/testing/generator.h"
#include "tests/testing/oracle.h"
#include "tests/testing/profiles.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;

std::unique_ptr<const Hierarchy> BuildFor(const GridMap& map, const WalkGrid& walk,
                                          const Hierarchy::Limits& limits = {}) {
  auto hierarchy =
      Hierarchy::Build(walk, map.step_costs().min_straight, map.step_costs().min_diagonal, limits);
  EXPECT_TRUE(hierarchy.ok()) << hierarchy.status();
  return *std::move(hierarchy);
}

std::unique_ptr<const Hierarchy> BuildFor(const GridMap& map) { return BuildFor(map, map.walk()); }

SearchReport Search(const Hierarchy& hierarchy, const PathQuery& query, Scratch& scratch,
                    const Budget& budget = {}) {
  NoRecorder recorder;
  return RunHierarchy(hierarchy, query, budget, scratch, recorder);
}

// Every cell of the way that a search left behind.
std::vector<Cell> CellsTo(Cell end, Scratch& scratch) {
  std::vector<Cell> corners;
  TraceJumps(Connectivity::kEight, end, scratch.nodes(), corners);
  std::vector<Cell> cells;
  ExpandCells(corners, cells);
  return cells;
}

GridMap WithDiagonalCost(const GridMap& map, double diagonal_cost) {
  GridSettings settings = map.settings();
  settings.diagonal_cost = diagonal_cost;
  return Rebuilt(map, std::move(settings));
}

// Asks for ways from one cell to several.
void Judge(const GridMap& map, int footprint, std::uint64_t max_steps, Generator& generator,
           Scratch& scratch) {
  constexpr int kGoals = 8;
  const std::shared_ptr<const WalkGrid> walk = map.walk(footprint);
  const std::unique_ptr<const Hierarchy> hierarchy = BuildFor(map, *walk, {.max_steps = max_steps});
  const Cell start = generator.WalkableCellOf(map, footprint);
  if (!CanStand(map, start, footprint)) {
    return;
  }
  const Oracle oracle(map, CornerRule::kNoCornerCutting, start, footprint);
  for (int i = 0; i < kGoals; ++i) {
    const Cell goal = i == 0 ? start : generator.WalkableCellOf(map, footprint);
    SCOPED_TRACE(absl::StrCat("from ", start.x, ",", start.y, " to ", goal.x, ",", goal.y));
    const PathQuery query{.start = start, .goal = goal, .footprint = footprint};
    const SearchReport report = Search(*hierarchy, query, scratch);
    const std::optional<double> optimal = oracle.CostTo(goal);
    ASSERT_EQ(report.end, optimal ? SearchEnd::kGoalReached : SearchEnd::kExhausted);
    if (!optimal) {
      continue;
    }
    ASSERT_EQ(report.nearest, goal);
    EXPECT_NEAR(CostToDouble(report.cost), *optimal, 1e-6 * (1.0 + *optimal));
    EXPECT_EQ(PathFault(map, query.corner_rule, start, goal, CellsTo(goal, scratch), *optimal, footprint),
              "");
    NoRecorder recorder;
    EXPECT_EQ(report.cost, RunJps(map, *walk, query, {}, scratch, recorder).cost);
  }
}

TEST(HierarchyTest, AgreesWithOracleOnGeneratedMaps) {
  const std::uint64_t maps = NumberFromEnvironment("WAYSTAR_ORACLE_MAPS", Rounds(400));
  const std::uint64_t first_seed = NumberFromEnvironment("WAYSTAR_ORACLE_SEED", 1);
  Scratch scratch(std::size_t{1} << 26);
  for (std::uint64_t seed = first_seed; seed < first_seed + maps; ++seed) {
    Generator generator(seed);
    const GridMap map = generator.Map({.max_side = seed % 5 == 0 ? 140 : 40, .max_cells = 4000});
    const int footprint = seed % 4 == 0 ? 2 : 1;
    for (const double diagonal_cost : {map.settings().diagonal_cost, 1.0, 1.4, kSqrt2, 2.0}) {
      SCOPED_TRACE(absl::StrCat("seed ", seed, ", diagonal ", diagonal_cost));
      // With no core, with one, and with nothing but a core.
      const std::uint64_t max_steps =
          seed % 3 == 0 ? 1'000'000'000 : generator.Between(0, 1) * generator.Between(0, 20'000);
      Judge(WithDiagonalCost(map, diagonal_cost), footprint, max_steps, generator, scratch);
      ASSERT_FALSE(::testing::Test::HasFailure());
    }
  }
}

TEST(HierarchyTest, NodesAreTheCornersOfObstacles) {
  const GridMap map = DrawMap({
      ".....",
      ".....",
      "..#..",
      ".....",
      "....#",
  });
  std::vector<Cell> cells;
  Subgoals(map.walk()).ForEach([&](Cell cell) { cells.push_back(cell); });
  EXPECT_THAT(cells, ElementsAre(Cell{1, 1}, Cell{3, 1}, Cell{1, 3}, Cell{3, 3}));
  EXPECT_EQ(BuildFor(map)->node_count(), 4U);
}

TEST(HierarchyTest, MapWithoutObstaclesNeedsNoNodes) {
  const auto drawn = DrawQuery({
      "s......",
      ".......",
      "......g",
  });
  const auto hierarchy = BuildFor(drawn.map);
  EXPECT_EQ(hierarchy->node_count(), 0U);
  Scratch scratch(std::size_t{1} << 20);
  const SearchReport report = Search(*hierarchy, drawn.query(), scratch);
  EXPECT_EQ(report.end, SearchEnd::kGoalReached);
  EXPECT_EQ(report.statistics.expanded, 0U);
  EXPECT_EQ(CellsTo(drawn.goal, scratch).size(), 7U);
}

TEST(HierarchyTest, BuildKeepsToItsLimits) {
  Generator generator(1);
  const GridMap map = WithDiagonalCost(generator.Map({.max_side = 40}), kSqrt2);
  ASSERT_GT(BuildFor(map)->node_count(), 0U);
  const auto build = [&](const Hierarchy::Limits& limits) {
    return Hierarchy::Build(map.walk(), map.step_costs().min_straight, map.step_costs().min_diagonal, limits)
        .status()
        .code();
  };
  const std::size_t bytes = BuildFor(map)->memory_bytes();
  EXPECT_EQ(build({.max_bytes = 0}), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(build({.max_bytes = bytes / 2}), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(BuildFor(map, map.walk(), {.max_steps = 0})->first_of_core(), 0U);
  std::atomic<bool> cancelled = true;
  EXPECT_EQ(build({.cancelled = &cancelled}), absl::StatusCode::kCancelled);
  cancelled = false;
  EXPECT_EQ(build({.cancelled = &cancelled}), absl::StatusCode::kOk);
}

// A wall between start and goal, to be walked around by corners.
class HierarchyBudgetTest : public ::testing::Test {
 protected:
  SearchReport SearchWith(const Budget& budget, std::size_t scratch_bytes = std::size_t{1} << 20) {
    scratch_ = std::make_unique<Scratch>(scratch_bytes);
    return Search(*hierarchy_, drawn_.query(), *scratch_, budget);
  }

  const waystar::DrawnQuery drawn_ = DrawQuery({
      "..#......",
      "s.#.###..",
      "..#.#.#..",
      "....#.#g.",
      "..#.#....",
  });
  const std::unique_ptr<const Hierarchy> hierarchy_ = BuildFor(drawn_.map);
  std::unique_ptr<Scratch> scratch_;
};

TEST_F(HierarchyBudgetTest, StopsAfterAsManyExpansionsAsAllowed) {
  const SearchReport whole = SearchWith({});
  ASSERT_EQ(whole.end, SearchEnd::kGoalReached);
  ASSERT_GT(whole.statistics.expanded, 2U);
  for (std::uint64_t limit = 0; limit <= whole.statistics.expanded; ++limit) {
    const SearchReport report = SearchWith({.max_expansions = limit});
    ASSERT_LE(report.statistics.expanded, limit);
    if (report.end == SearchEnd::kGoalReached) {
      EXPECT_EQ(limit, whole.statistics.expanded);
      continue;
    }
    ASSERT_EQ(report.end, SearchEnd::kExpansionLimit);
    EXPECT_EQ(PathFault(drawn_.map, CornerRule::kNoCornerCutting, drawn_.start, report.nearest,
                        CellsTo(report.nearest, *scratch_), CostToDouble(report.cost)),
              "");
  }
}

TEST_F(HierarchyBudgetTest, ObeysDeadlineAndCancellation) {
  EXPECT_EQ(SearchWith({.deadline = std::chrono::steady_clock::now()}).end, SearchEnd::kDeadline);
  const std::atomic<bool> cancelled = true;
  EXPECT_EQ(SearchWith({.cancelled = &cancelled}).end, SearchEnd::kCancelled);
}

TEST_F(HierarchyBudgetTest, StopsWhereMemoryEnds) {
  EXPECT_EQ(SearchWith({}, 1000).end, SearchEnd::kScratchLimit);
}

TEST_F(HierarchyBudgetTest, RecordsWhatItCounts) {
  EventRecorder recorder(1000);
  Scratch scratch(std::size_t{1} << 20);
  const SearchReport report = RunHierarchy(*hierarchy_, drawn_.query(), {}, scratch, recorder);
  std::uint64_t expanded = 0;
  for (const SearchEvent& event : recorder.events()) {
    expanded += event.kind == SearchEvent::Kind::kExpanded ? 1 : 0;
  }
  EXPECT_EQ(expanded, report.statistics.expanded);
  EXPECT_EQ(recorder.events().size(), report.statistics.expanded + report.statistics.generated);
}

// Built twice, and searched with scratches of different pasts.
TEST(HierarchyTest, SameQuestionSameAnswer) {
  Scratch used(std::size_t{1} << 26);
  for (std::uint64_t seed = 1; seed <= Rounds(100); ++seed) {
    Generator generator(seed);
    const GridMap map = generator.Map({.max_side = 70});
    const PathQuery query{.start = generator.WalkableCellOf(map), .goal = generator.WalkableCellOf(map)};
    if (!map.IsWalkable(query.start) || !map.IsWalkable(query.goal)) {
      continue;
    }
    Scratch fresh(std::size_t{1} << 26);
    const SearchReport first = Search(*BuildFor(map), query, fresh);
    const SearchReport second = Search(*BuildFor(map), query, used);
    ASSERT_EQ(first.end, second.end);
    EXPECT_EQ(first.statistics.expanded, second.statistics.expanded);
    EXPECT_EQ(first.statistics.generated, second.statistics.generated);
    if (first.end == SearchEnd::kGoalReached) {
      EXPECT_EQ(CellsTo(query.goal, fresh), CellsTo(query.goal, used)) << "seed " << seed;
    }
  }
}

// An index goes on answering where a change does not matter.
class ChangedMapTest : public ::testing::Test {
 protected:
  // Asks for a path by the hierarchy, and judges it. Returns whether the hierarchy answered.
  bool Ask(const GridMap& map, Cell start, Cell goal) {
    PathQuery query{.start = start, .goal = goal, .algorithm = Algorithm::kSubgoalHierarchy};
    const auto found = FindPath(map, query, {}, scratch_);
    query.algorithm = Algorithm::kAStar;
    const auto expected = FindPath(map, query, {}, other_scratch_);
    EXPECT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->outcome, expected->outcome);
    EXPECT_NEAR(found->cost, expected->cost, 1e-6);
    EXPECT_EQ(found->end, expected->end);
    if (found->outcome == Outcome::kFound) {
      EXPECT_EQ(PathFault(map, query.corner_rule, start, found->end, found->points, found->cost), "");
    }
    return found->statistics.algorithm == Algorithm::kSubgoalHierarchy;
  }

  static GridMap WithIndex(GridMap map) {
    map.static_index().Put(BuildFor(map), map.walkable());
    return map;
  }

  static GridMap With(const GridMap& map, Cell cell, bool is_blocked) {
    GridMapEditor editor(map);
    editor.SetObstacle(cell, is_blocked);
    return std::move(editor).Finish();
  }

  Scratch scratch_{std::size_t{1} << 26};
  Scratch other_scratch_{std::size_t{1} << 26};
};

TEST_F(ChangedMapTest, AnswersStayOptimal) {
  int by_hierarchy = 0;
  int by_jumps = 0;
  for (std::uint64_t seed = 1; seed <= Rounds(60); ++seed) {
    Generator generator(seed);
    const double diagonal_cost = seed % 3 == 0 ? generator.Between(10, 20) / 10.0 : kSqrt2;
    GridMap map = WithIndex(WithDiagonalCost(generator.Map({.max_side = 60}), diagonal_cost));
    for (int change = 0; change < 20; ++change) {
      SCOPED_TRACE(absl::StrCat("seed ", seed, ", change ", change));
      const Cell cell = generator.CellOf(map);
      map = With(map, cell, map.IsWalkable(cell));
      for (int i = 0; i < 4; ++i) {
        const Cell start = generator.WalkableCellOf(map);
        const Cell goal = generator.WalkableCellOf(map);
        if (map.IsWalkable(start) && map.IsWalkable(goal)) {
          (Ask(map, start, goal) ? by_hierarchy : by_jumps) += 1;
        }
      }
      ASSERT_FALSE(HasFailure());
    }
  }
  EXPECT_GT(by_hierarchy, by_jumps / 4);
  EXPECT_GT(by_jumps, 0);
}

TEST_F(ChangedMapTest, JumpsAnswerWhereTheChangeMatters) {
  const waystar::DrawnQuery drawn = DrawQuery({
      "....#....",
      "s...#...g",
      "....#....",
      ".........",
      "....#....",
      "....#....",
      ".........",
  });
  const GridMap map = WithIndex(drawn.map);
  const auto ask = [&](const GridMap& changed) { return Ask(changed, drawn.start, drawn.goal); };
  EXPECT_TRUE(ask(map));
  EXPECT_TRUE(ask(With(map, {0, 6}, true))) << "off the path";
  EXPECT_TRUE(ask(With(map, {4, 5}, false))) << "a longer way";
  EXPECT_FALSE(ask(With(map, {4, 3}, true))) << "on the path";
  EXPECT_FALSE(ask(With(map, {4, 1}, false))) << "a shorter way";
  EXPECT_TRUE(ask(With(With(map, {4, 3}, true), {4, 3}, false))) << "as before";
}

TEST_F(ChangedMapTest, ManyChangesLeaveTheIndexBehind) {
  GridMap map = WithIndex(*GridMap::Create(70, 400, {}));
  for (int y = 0; y < static_cast<int>(StaticIndexSlot::kMostChanged); ++y) {
    map = With(map, {5, y}, true);
    ASSERT_EQ(map.static_index().held()->changed.size(), static_cast<std::size_t>(y) + 1);
  }
  EXPECT_EQ(With(map, {5, 399}, true).static_index().held(), nullptr);
  // The same words again.
  EXPECT_NE(With(map, {6, 0}, true).static_index().held(), nullptr);
}

constexpr Cost kDiagonal = 141'421'356;
constexpr Cell kHere = {10, 10};

constexpr NeighbourBits kOpen = 0xFF;
constexpr auto kCornerNorthEast = static_cast<NeighbourBits>(kOpen & ~SetOf(Direction::kNorthEast));

// Returns true if a path from `from` over kHere to `to`, both given by their offsets, may be a cheapest one.
bool IsTaut(const TautTurns& turns, NeighbourBits surroundings, Cell from, Cell to) {
  const auto sector = [](Cell offset) { return SectorOf(kHere, {kHere.x + offset.x, kHere.y + offset.y}); };
  return (turns.Onward(surroundings, sector(from)) >> sector(to) & 1U) != 0;
}

TEST(TautTurnsTest, SectorsGoAroundClockwise) {
  EXPECT_EQ(SectorOf(kHere, {10, 3}), 0);
  EXPECT_EQ(SectorOf(kHere, {11, 3}), 1);
  EXPECT_EQ(SectorOf(kHere, {17, 3}), 2);
  EXPECT_EQ(SectorOf(kHere, {17, 9}), 3);
  EXPECT_EQ(SectorOf(kHere, {17, 10}), 4);
  EXPECT_EQ(SectorOf(kHere, {10, 17}), 8);
  EXPECT_EQ(SectorOf(kHere, {3, 9}), 13);
  EXPECT_EQ(SectorOf(kHere, {3, 3}), 14);
  EXPECT_EQ(SectorOf(kHere, {9, 3}), 15);
}

TEST(TautTurnsTest, OverOpenGroundOnlyWaysThatHardlyTurnAreTaut) {
  const TautTurns turns(kCostScale, kDiagonal);
  EXPECT_TRUE(IsTaut(turns, kOpen, {-5, 0}, {5, 0}));
  EXPECT_TRUE(IsTaut(turns, kOpen, {-5, 0}, {5, 5}));
  EXPECT_TRUE(IsTaut(turns, kOpen, {-5, 2}, {5, -2}));
  EXPECT_FALSE(IsTaut(turns, kOpen, {-5, 0}, {0, 5}));
  EXPECT_FALSE(IsTaut(turns, kOpen, {-5, 2}, {5, 2}));
  EXPECT_FALSE(IsTaut(turns, kOpen, {-5, 0}, {-5, 0}));
}

TEST(TautTurnsTest, WaysBendAroundCorners) {
  const TautTurns turns(kCostScale, kDiagonal);
  EXPECT_FALSE(IsTaut(turns, kOpen, {0, -5}, {5, 0}));
  EXPECT_TRUE(IsTaut(turns, kCornerNorthEast, {0, -5}, {5, 0}));
  EXPECT_TRUE(IsTaut(turns, kCornerNorthEast, {-2, -5}, {5, 2}));
  EXPECT_FALSE(IsTaut(turns, kCornerNorthEast, {0, 5}, {5, 0}));
}

TEST(TautTurnsTest, TiesAreTaut) {
  // Where a diagonal costs as much as two straight steps, a turn of a quarter is no detour.
  EXPECT_TRUE(IsTaut(TautTurns(kCostScale, 2 * kCostScale), kOpen, {-5, 0}, {0, 5}));
  // Where it costs as much as one, neither is one between diagonals.
  EXPECT_TRUE(IsTaut(TautTurns(kCostScale, kCostScale), kOpen, {-5, 5}, {5, 5}));
  EXPECT_FALSE(IsTaut(TautTurns(kCostScale, kDiagonal), kOpen, {-5, 5}, {5, 5}));
}

}  // namespace
}  // namespace waystar::core
