// Paths to the nearest of many goals, or to the cell nearest to a goal that cannot be reached, cost about a
// flood and a path.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/engines/goal_search.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/portal/portal_search.h"
#include "tests/core/cliffs/cliff_maps.h"
#include "tests/testing/generator.h"
#include "tests/testing/oracle.h"
#include "tests/testing/rules.h"

namespace waystar::core {
namespace {

// Free cells of a rectangle.
std::vector<Cell> CellsOf(const GridMap& map, const Rectangle& area, int count, Random& random) {
  std::vector<Cell> cells;
  while (std::ssize(cells) < count) {
    const Cell cell{random.Between(area.x, area.x + area.width - 1),
                    random.Between(area.y, area.y + area.height - 1)};
    if (map.IsWalkable(cell)) {
      cells.push_back(cell);
    }
  }
  return cells;
}

class GoalCliffTest : public ::testing::Test {
 protected:
  absl::StatusOr<PathResult> Find(const GridMap& map, const PathQuery& query, const Budget& budget = {}) {
    return FindPath(map, query, budget, scratch_);
  }
  NearestGoalResult Nearest(const GridMap& map, const PathQuery& query, const std::vector<Cell>& goals) {
    return FindPathToNearest(map, query, goals, {}, scratch_).value();
  }
  std::uint64_t ExpandedForNearest(const GridMap& map, const PathQuery& query,
                                   const std::vector<Cell>& goals) {
    return Nearest(map, query, goals).path.statistics.expanded;
  }
  std::uint64_t ExpandedFor(const GridMap& map, PathQuery query, Cell goal) {
    query.goal = goal;
    return Find(map, query)->statistics.expanded;
  }

  Scratch scratch_{std::size_t{1} << 28};
};

// One cost or two, and layouts with free cells in every corner.
MapRange PlainMaps(int side) {
  return {.sides = {side},
          .prices = {CellPrices::kOne, CellPrices::kMud},
          .layouts = {Layout::kOpen, Layout::kRooms, Layout::kNoise, Layout::kMaze}};
}

TEST_F(GoalCliffTest, NoneCostsMoreThanOneByOneOrOneFlood) {
  ForEachMap(PlainMaps(72), [&](const GridMap& map) {
    for (const CornerRule rule : kRules) {
      SCOPED_TRACE(absl::StrCat("rule ", static_cast<int>(rule)));
      Random random(3);
      PathQuery query{.start = CellsOf(map, {31, 31, 10, 10}, 1, random)[0],
                      .corner_rule = rule,
                      .algorithm = map.HasUniformCost() ? Algorithm::kAuto : Algorithm::kAStar};
      // On all sides, so that no heuristic helps; and on one.
      for (const Rectangle& area : {Rectangle{0, 0, 72, 72}, Rectangle{50, 50, 22, 22}}) {
        std::vector<Cell> goals = CellsOf(map, area, 150, random);
        std::erase_if(goals, [&](Cell cell) {
          const PathQuery alone{.start = query.start, .goal = cell, .corner_rule = rule};
          return std::max(std::abs(cell.x - 36), std::abs(cell.y - 36)) < 18 ||
                 Find(map, alone)->outcome != Outcome::kFound;
        });
        goals.resize(std::min<std::size_t>(goals.size(), 34));
        const NearestGoalResult nearest = Nearest(map, query, goals);
        std::uint64_t one_by_one = 0;
        for (const Cell goal : goals) {
          one_by_one += ExpandedFor(map, query, goal);
        }
        EXPECT_LE(nearest.path.statistics.expanded, one_by_one);
        PathQuery flooding = query;
        flooding.algorithm = Algorithm::kDijkstra;
        // The flood finds which it is and the way to it; the path of a nearest goal is searched for again.
        const std::uint64_t flood = ExpandedFor(map, flooding, goals[nearest.goal_index]);
        EXPECT_LE(ExpandedForNearest(map, flooding, goals), 2 * flood + 2);
        EXPECT_LE(nearest.path.statistics.expanded, 2 * flood + 2);
      }
    }
  });
}

// Makes a round lake, whose shore has many cells that are equally near to its middle.
GridMap WithLake(const GridMap& map, Cell middle, int radius) {
  const Lattice lattice = LatticeOf(map.settings().connectivity);
  GridMapEditor editor(map);
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      if (SquaredDistance(lattice, {x, y}, middle) <= std::int64_t{radius} * radius) {
        editor.SetObstacle({x, y}, true);
      }
    }
  }
  return std::move(editor).Finish();
}

TEST_F(GoalCliffTest, NoLakeCostsMoreThanOneFloodAndOnePath) {
  const MapRange range{
      .sides = {64, 128, 256}, .prices = {CellPrices::kOne, CellPrices::kMud}, .layouts = {Layout::kOpen}};
  ForEachMap(range, [&](const GridMap& blank) {
    const int side = blank.width();
    for (const int radius : {5, 25, side / 3}) {
      if (2 * radius >= side - 4) {
        continue;
      }
      SCOPED_TRACE(absl::StrCat("radius ", radius));
      const GridMap map = WithLake(blank, {side / 2, side / 2}, radius);
      PathQuery query{.start = {1, 1},
                      .goal = {side / 2, side / 2},
                      .algorithm = Algorithm::kAStar,
                      .unreachable_policy = UnreachablePolicy::kNearestByDistance};
      const PathResult near = *Find(map, query);
      const std::uint64_t path = ExpandedFor(map, query, near.end);
      PathQuery flooding = query;
      flooding.algorithm = Algorithm::kDijkstra;
      const std::uint64_t flood = ExpandedFor(map, flooding, near.end);
      EXPECT_LE(near.statistics.expanded, flood + path + 2);
      query.algorithm = Algorithm::kAuto;
      EXPECT_LE(Find(map, query)->statistics.expanded, flood + path + 2);
    }
  });
}

TEST_F(GoalCliffTest, AgreesWithTheOracleAroundLakes) {
  for (std::uint64_t seed = 1; seed <= Rounds(150); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    GridMap map = generator.Map(
        {.max_side = 60, .weighted = seed % 2 == 0, .connectivity = AnyConnectivity(generator)});
    if (seed % 3 == 0) {
      map = generator.WithStepCostsChanged(map);
    }
    const Cell goal = generator.CellOf(map);
    constexpr int kRadii[] = {1, 2, 5, 10, 13, 25};
    map = WithLake(map, goal, kRadii[generator.Between(0, 5)]);
    const int footprint = seed % 7 == 0 ? 2 : 1;
    const auto rule = static_cast<CornerRule>(generator.Between(0, 2));
    const Cell start = generator.WalkableCellOf(map, footprint);
    if (!CanStand(map, start, footprint)) {
      continue;
    }
    const Oracle oracle(map, rule, start, footprint);
    const Cell nearest = oracle.NearestTo(goal);
    for (const Algorithm algorithm : {Algorithm::kAuto, Algorithm::kAStar, Algorithm::kDijkstra}) {
      const PathQuery query{.start = start,
                            .goal = goal,
                            .corner_rule = rule,
                            .algorithm = algorithm,
                            .unreachable_policy = UnreachablePolicy::kNearestByDistance,
                            .footprint = footprint};
      const auto result = Find(map, query);
      ASSERT_TRUE(result.ok()) << result.status();
      ASSERT_EQ(PathFault(map, rule, start, nearest, result->points, result->cost, footprint), "");
      ASSERT_NEAR(result->cost, *oracle.CostTo(nearest), 1e-6 * (1.0 + result->cost));

      // With less of a budget it leads as far as it came.
      const Budget budget{.max_expansions = result->statistics.expanded / 3};
      const auto part = Find(map, query, budget);
      ASSERT_TRUE(part.ok()) << part.status();
      ASSERT_LE(part->statistics.expanded, budget.max_expansions);
      ASSERT_EQ(PathFault(map, rule, start, part->end, part->points, part->cost, footprint), "");
    }
  }
}

// As PortalRace::kHeadStart allows, both ways.
constexpr std::uint64_t kFree = 2048;

// The map with a square wall around a cell; what is within is free.
GridMap WithEnclosure(const GridMap& map, Cell middle, int radius) {
  GridMapEditor editor(map);
  for (int y = middle.y - radius; y <= middle.y + radius; ++y) {
    for (int x = middle.x - radius; x <= middle.x + radius; ++x) {
      if (map.Contains({x, y})) {
        editor.SetObstacle({x, y}, std::max(std::abs(x - middle.x), std::abs(y - middle.y)) == radius);
      }
    }
  }
  return std::move(editor).Finish();
}

TEST_F(GoalCliffTest, EnclosedGoalsCostAboutAFloodAndAPath) {
  NoWorld world;
  ForEachMap({.sides = {96}}, [&](const GridMap& map) {
    const Cell goal{map.width() - 30, map.height() - 30};
    for (const int radius : {2, 8, 24}) {
      const GridMap enclosed = WithEnclosure(map, goal, radius);
      const std::vector<Cell> part = LargestPart(enclosed);
      ASSERT_EQ(std::find(part.begin(), part.end(), goal), part.end());
      for (const int portals : {0, 100, 1000}) {
        SCOPED_TRACE(absl::StrCat("radius ", radius, ", ", portals, " portals"));
        const GridMap linked = WithPortalsAmong(enclosed, part, portals, 20.0);
        const PathQuery query{
            .start = part[0], .goal = goal, .unreachable_policy = UnreachablePolicy::kNearestByDistance};
        const PortalPath found = FindPathThroughPortals(linked, world, {.path = query}, {}, scratch_).value();
        EXPECT_EQ(found.path.outcome, Outcome::kPartial);
        EXPECT_LE(found.path.statistics.expanded, 3 * part.size() + kFree);
      }
    }
  });
}

}  // namespace
}  // namespace waystar::core
