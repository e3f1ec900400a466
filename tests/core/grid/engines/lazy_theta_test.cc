#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/grid/engines/engines.h"
#include "server/core/grid/path/line_of_sight.h"
#include "server/core/grid/path/path.h"
#include "tests/core/grid/agents.h"
#include "tests/testing/generator.h"

namespace waystar::core {
namespace {

struct Answer {
  SearchReport report;
  std::vector<Cell> points;
  // Of the last point.
  double g = 0.0;
};

Answer Search(const GridMap& map, const PathQuery& query, Scratch& scratch) {
  NoRecorder recorder;
  Answer answer;
  answer.report = RunLazyThetaStar(map, map.walk(), query, {}, scratch, recorder);
  const NodeTable& nodes = scratch.nodes();
  NodeIndex node = nodes.Find(answer.report.nearest);
  answer.g = CostToDouble(nodes[node].g);
  while (nodes[node].parent != node) {
    answer.points.push_back(Unpack(nodes[node].cell));
    node = nodes[node].parent;
  }
  answer.points.push_back(Unpack(nodes[node].cell));
  std::reverse(answer.points.begin(), answer.points.end());
  return answer;
}

// The length of the way that the last run of A* left in a scratch.
double LengthOfSteps(const PathQuery& query, Cell end, Scratch& scratch) {
  double length = 0.0;
  for (Cell cell = end; cell != query.start;) {
    const Direction entered_by = scratch.Find(cell)->entered_by;
    length += IsDiagonal(entered_by) ? kSqrt2 : 1.0;
    cell = Step(cell, Opposite(entered_by));
  }
  return length;
}

// The length of the shortest path that turns at centres of cells only, by Dijkstra over all pairs of cells
// that see each other; infinite if there is none.
double ShortestOfAnyAngle(const GridMap& map, CornerRule rule, Cell start, Cell goal) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  struct Reached {
    Cell cell;
    double length;
    bool is_final = false;
  };
  std::vector<Reached> cells;
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      if (map.IsWalkable({x, y})) {
        cells.push_back({{x, y}, Cell{x, y} == start ? 0.0 : kFar});
      }
    }
  }
  while (true) {
    Reached* next = nullptr;
    for (Reached& candidate : cells) {
      if (!candidate.is_final && (next == nullptr || candidate.length < next->length)) {
        next = &candidate;
      }
    }
    if (next == nullptr || next->length == kFar) {
      return kFar;
    }
    if (next->cell == goal) {
      return next->length;
    }
    next->is_final = true;
    for (Reached& other : cells) {
      const double length =
          next->length + std::hypot(other.cell.x - next->cell.x, other.cell.y - next->cell.y);
      if (length < other.length && HasLineOfSight(map.walk(), rule, next->cell, other.cell)) {
        other.length = length;
      }
    }
  }
}

class LazyThetaPathsTest : public ::testing::TestWithParam<MapAndAgent> {};

TEST_P(LazyThetaPathsTest, AreLegalAndNoLongerThanStepsWouldBe) {
  const CornerRule corner_rule = GetParam().agent.corner_rule;
  const SightRule rule = LineRule(GetParam().connectivity, corner_rule);
  Scratch scratch(std::size_t{1} << 26);
  Scratch steps_scratch(std::size_t{1} << 26);
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    GridMap map =
        generator.Map({.max_side = seed % 5 == 0 ? 140 : 40, .connectivity = GetParam().connectivity});
    const bool is_open = seed % 20 == 0;
    if (is_open) {
      map = *GridMap::Create(map.width(), map.height(), map.settings());
    }
    const PathQuery query = {.start = generator.WalkableCellOf(map),
                             .goal = generator.CellOf(map),
                             .corner_rule = corner_rule,
                             .algorithm = Algorithm::kAStar};
    // With another diagonal cost A* would look for other steps.
    if (!map.IsWalkable(query.start) || map.settings().diagonal_cost != kSqrt2) {
      continue;
    }
    NoRecorder recorder;
    const SearchReport steps = RunAStar(map, map.walk(), query, {}, steps_scratch, recorder);
    const Answer answer = Search(map, query, scratch);
    ASSERT_EQ(answer.report.end, steps.end);
    ASSERT_EQ(answer.report.statistics.algorithm, Algorithm::kLazyThetaStar);
    const Cell end = answer.report.nearest;
    if (steps.end == SearchEnd::kGoalReached) {
      ASSERT_EQ(end, query.goal);
    } else {
      const auto distance = [&](Cell cell) {
        return std::hypot(cell.x - query.goal.x, cell.y - query.goal.y);
      };
      ASSERT_EQ(distance(end), distance(steps.nearest));
    }

    ASSERT_EQ(answer.points.front(), query.start);
    ASSERT_EQ(answer.points.back(), end);
    for (std::size_t i = 1; i < answer.points.size(); ++i) {
      ASSERT_TRUE(HasLineOfSight(map.walk(), rule, answer.points[i - 1], answer.points[i])) << "point " << i;
    }
    if (is_open) {
      ASSERT_LE(answer.points.size(), 2U);
    }
    DearestOnPath costs(map, 1);
    const double length = PolylineCost(costs, answer.points);
    ASSERT_LE(length, answer.g + 1e-6);
    ASSERT_GE(length, std::hypot(end.x - query.start.x, end.y - query.start.y) - 1e-9);
    ASSERT_LE(answer.g, LengthOfSteps(query, end, steps_scratch) + 1e-6);

    Scratch fresh(std::size_t{1} << 26);
    const Answer again = Search(map, query, fresh);
    ASSERT_EQ(again.points, answer.points);
    ASSERT_EQ(again.report.statistics.expanded, answer.report.statistics.expanded);
  }
}

TEST_P(LazyThetaPathsTest, AreNearlyTheShortest) {
  const CornerRule corner_rule = GetParam().agent.corner_rule;
  const SightRule rule = LineRule(GetParam().connectivity, corner_rule);
  Scratch scratch(std::size_t{1} << 26);
  double total = 0.0;
  double smoothed_total = 0.0;
  double shortest_total = 0.0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Generator generator(seed);
    const GridMap map = generator.Map({.max_side = 24, .connectivity = GetParam().connectivity});
    const PathQuery query = {.start = generator.WalkableCellOf(map),
                             .goal = generator.WalkableCellOf(map),
                             .corner_rule = corner_rule};
    if (!map.IsWalkable(query.start)) {
      continue;
    }
    const Answer answer = Search(map, query, scratch);
    if (answer.report.end != SearchEnd::kGoalReached) {
      continue;
    }
    DearestOnPath costs(map, 1);
    const double length = PolylineCost(costs, answer.points);
    std::vector<Cell> points = answer.points;
    Smooth(costs, map.walk(), rule, points);
    const double shortest = ShortestOfAnyAngle(map, rule.corner, query.start, query.goal);
    ASSERT_GE(length, shortest - 1e-9) << "seed " << seed;
    EXPECT_LE(length, shortest * 1.15) << "seed " << seed;
    total += length;
    smoothed_total += PolylineCost(costs, points);
    shortest_total += shortest;
  }
  EXPECT_GT(shortest_total, 500.0);
  EXPECT_LE(total, shortest_total * 1.02);
  EXPECT_LE(smoothed_total, shortest_total * 1.015);
}

std::vector<MapAndAgent> OnUniformSquares() {
  std::vector<MapAndAgent> kinds = SmallAgents();
  std::erase_if(
      kinds, [](const MapAndAgent& one) { return one.weighted || one.connectivity == Connectivity::kSix; });
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(Agents, LazyThetaPathsTest, ::testing::ValuesIn(OnUniformSquares()), NameOf);

}  // namespace
}  // namespace waystar::core
