// Paths through portals, and A* over cells with portals as edges, against a slow, obvious oracle on generated
// worlds.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/edit/edit.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/portal/portal_astar.h"
#include "server/core/grid/portal/portal_graph.h"
#include "server/core/grid/portal/portal_search.h"
#include "tests/testing/generator.h"
#include "tests/testing/oracle.h"
#include "tests/testing/portal_world.h"
#include "tests/testing/rules.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/world_oracle.h"

namespace waystar::core {
namespace {

// Returns the fault of a path of every cell; empty if it has none.
std::string Fault(const std::map<std::string, GridMap>& maps, const PortalQuery& query,
                  const PortalPath& found) {
  const PathResult& path = found.path;
  std::string map = "home";
  std::size_t begin = 0;
  double cost = 0.0;
  for (std::size_t leg = 0; leg <= found.crossings.size(); ++leg) {
    const bool is_last = leg == found.crossings.size();
    const std::size_t end = is_last ? path.points.size() : found.crossings[leg].index;
    if (begin >= end) {
      return absl::StrCat("leg ", leg, " is empty");
    }
    const auto points = path.points.subspan(begin, end - begin);
    double leg_cost = 0.0;
    for (std::size_t i = 1; i < points.size(); ++i) {
      leg_cost += StepCost(maps.at(map), points[i - 1], points[i], query.path.footprint);
    }
    const std::string fault = PathFault(maps.at(map), query.path.corner_rule, points.front(), points.back(),
                                        points, leg_cost, query.path.footprint);
    if (!fault.empty()) {
      return absl::StrCat("leg ", leg, ": ", fault);
    }
    cost += leg_cost;
    if (!is_last) {
      const PortalCrossing& crossing = found.crossings[leg];
      const Portal& portal = *crossing.portal;
      const Cell from = crossing.is_reversed ? portal.to : portal.from;
      const Cell to = crossing.is_reversed ? portal.from : portal.to;
      if (points.back() != from || path.points[end] != to || crossing.arrival != to) {
        return absl::StrCat("leg ", leg, " does not end at its portal");
      }
      cost += CostToDouble(portal.cost);
      if (!portal.to_map.empty()) {
        map = portal.to_map;
      }
    }
    begin = end;
  }
  if (std::abs(cost - path.cost) > 1e-6 * (1 + cost)) {
    return absl::StrCat("costs ", cost, " and says ", path.cost);
  }
  return "";
}

// One to three maps with portals, and an agent on them.
struct AnyWorld {
  AnyWorld(Generator& generator, int max_side, int fewest_portals, int most_portals)
      : walker{.corner_rule = kRules[generator.Between(0, 2)], .footprint = generator.Chance(0.8) ? 1 : 2} {
    const bool weighted = generator.Chance(0.4);
    ids.resize(static_cast<std::size_t>(generator.Between(1, 3)));
    for (const std::string& id : ids) {
      maps.maps.emplace(
          id, generator.Map(
                  {.max_side = max_side, .weighted = weighted, .connectivity = AnyConnectivity(generator)}));
    }
    maps.AddPortals(generator, generator.Between(fewest_portals, most_portals));
  }

  const GridMap& home() const { return maps.maps.at("home"); }
  const std::string& AnyId(Generator& generator) const {
    return ids[static_cast<std::size_t>(generator.Between(0, static_cast<int>(ids.size()) - 1))];
  }
  std::vector<Cell> CellsOf(const std::string& id, int count, Generator& generator) const {
    std::vector<Cell> cells;
    while (std::ssize(cells) < count) {
      cells.push_back(generator.WalkableCellOf(maps.maps.at(id), walker.footprint));
    }
    return cells;
  }

  std::vector<std::string> ids = {"home", "cellar", "attic"};
  Walker walker;
  Maps maps;
};

// The first of the goals that are cheapest to reach, if any can be.
struct Cheapest {
  Cheapest(const WorldOracle& oracle, const std::string& map, const std::vector<Cell>& goals) {
    for (std::size_t i = 0; i < goals.size(); ++i) {
      const std::optional<double> other = oracle.CostTo(map, goals[i]);
      if (other && (!cost || *other < *cost - 1e-6)) {
        cost = other;
        index = i;
        ties = 0;
      } else if (other && *other < *cost + 1e-6) {
        ++ties;
      }
    }
  }

  std::optional<double> cost;
  std::size_t index = 0;
  int ties = 0;
};

class PortalOracleTest : public ::testing::Test {
 protected:
  // Searches generated worlds with so many portals each, for one goal or for the nearest of several.
  void Compare(std::uint64_t worlds, int fewest_portals, int most_portals) {
    for (std::uint64_t seed = 0; seed < worlds; ++seed) {
      SCOPED_TRACE(seed);
      Generator generator(seed);
      AnyWorld world(generator, 30, fewest_portals, most_portals);
      for (int i = 0; i < 6; ++i) {
        const std::string& goal_map = world.AnyId(generator);
        const std::vector<Cell> goals =
            world.CellsOf(goal_map, generator.Chance(0.6) ? 1 : generator.Between(2, 12), generator);
        PortalQuery query{.path = {.start = world.CellsOf("home", 1, generator)[0],
                                   .goal = goals[0],
                                   .corner_rule = world.walker.corner_rule,
                                   .algorithm = generator.Chance(0.5) ? Algorithm::kAuto : Algorithm::kAStar,
                                   .footprint = world.walker.footprint}};
        query.goal_map = goal_map == "home" && generator.Chance(0.5) ? kSameMap : absl::string_view(goal_map);
        if (goals.size() > 1) {
          query.goals = goals;
        }
        const auto can_stand = [&](Cell goal) {
          return CanStand(world.maps.maps.at(goal_map), goal, world.walker.footprint);
        };
        if (!CanStand(world.home(), query.path.start, world.walker.footprint) ||
            std::ranges::none_of(goals, can_stand)) {
          continue;
        }
        const WorldOracle oracle(world.maps.maps, world.walker, "home", query.path.start);
        const Cheapest cheapest(oracle, goal_map, goals);
        const auto found = FindPathThroughPortals(world.home(), world.maps, query, {}, scratch_);
        ASSERT_THAT(found, IsOk());
        ASSERT_EQ(found->path.outcome == Outcome::kFound, cheapest.cost.has_value());
        if (cheapest.cost) {
          EXPECT_EQ(found->path.end, goals[cheapest.index]);
          EXPECT_EQ(goals.size() > 1 ? found->goal_index : 0, cheapest.index);
          EXPECT_NEAR(found->path.cost, *cheapest.cost, 1e-6 * (1 + *cheapest.cost));
          EXPECT_EQ(Fault(world.maps.maps, query, *found), "");
          crossed_ += found->crossings.empty() ? 0 : 1;
          ties_ += cheapest.ties;
        }
      }
    }
  }

  Scratch scratch_{std::size_t{1} << 26};
  // The paths that go through portals, and the goals that are as cheap as an earlier one.
  int crossed_ = 0;
  int ties_ = 0;
};

TEST_F(PortalOracleTest, CostsTheLeastOnGeneratedWorlds) {
  Compare(250, 1, 14);
  EXPECT_GT(crossed_, 200);
  EXPECT_GT(ties_, 20);
}

// Most of these are found by cells, not by doors.
TEST_F(PortalOracleTest, CostsTheLeastThroughManyPortals) {
  Compare(40, 100, 1000);
  EXPECT_GT(crossed_, 50);
}

TEST_F(PortalOracleTest, APortalOfHugeCostChangesNothing) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Generator generator(seed);
    const GridMap plain = generator.Map({.max_side = 40, .weighted = generator.Chance(0.5)});
    Portal dear =
        Between("dear", generator.WalkableCellOf(plain), generator.WalkableCellOf(plain), kMaxPortalCost);
    if (dear.from == dear.to) {
      continue;
    }
    Maps world;
    world.maps.emplace("home", With(plain, {dear}));
    const PathQuery path{.start = generator.WalkableCellOf(plain), .goal = generator.WalkableCellOf(plain)};
    const auto without = FindPath(plain, path, {}, scratch_);
    if (!without.ok() || without->outcome != Outcome::kFound) {
      continue;
    }
    const std::vector<Cell> points(without->points.begin(), without->points.end());
    const auto with = FindPathThroughPortals(world.maps.at("home"), world, {.path = path}, {}, scratch_);
    ASSERT_THAT(with, IsOk());
    EXPECT_EQ(with->path.cost, without->cost);
    EXPECT_THAT(with->path.points, ::testing::ElementsAreArray(points));
  }
}

// Returns what the walks and portals of a way cost together.
double CostOf(PortalGraph& graph, const PathQuery& query, const PortalEntry& last, Scratch& scratch) {
  double cost = 0.0;
  std::uint32_t to = last.to;
  std::uint32_t from = last.from;
  while (true) {
    PathQuery leg = query;
    leg.start = graph.CellBehind(from);
    leg.goal = graph.CellAt(to);
    const auto walk = FindPath(*graph.MapBehind(from).map, leg, {}, scratch);
    EXPECT_THAT(walk, IsOk());
    cost += walk->cost + CostToDouble(graph.CostOf(to));
    if (from == kNoDoor) {
      return cost;
    }
    to = from;
    from = graph.door(to).parent;
  }
}

TEST_F(PortalOracleTest, AStarInPartsCostsTheLeast) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Generator generator(seed);
    AnyWorld world(generator, 24, 1, 60);
    const std::string& goal_map = world.AnyId(generator);
    const std::vector<Cell> goals = world.CellsOf(goal_map, generator.Between(1, 20), generator);
    const PortalQuery query{
        .path = {.start = world.CellsOf("home", 1, generator)[0],
                 .corner_rule = world.walker.corner_rule,
                 .algorithm = generator.Chance(0.7) ? Algorithm::kAStar : Algorithm::kDijkstra,
                 .footprint = world.walker.footprint},
        .goal_map = goal_map == "home" ? kSameMap : absl::string_view(goal_map),
        .goals = goals};
    PortalGraph graph(world.home(), world.maps, query, scratch_);
    if (!graph.Build().ok() || graph.goals().empty()) {
      continue;
    }
    PortalAStar search(graph, query.path, scratch_.beside(), nullptr);
    std::optional<SearchEnd> end;
    for (std::uint64_t most = 0; !end; most += static_cast<std::uint64_t>(generator.Between(1, 30))) {
      end = search.Run(most, {});
      ASSERT_LE(search.statistics().expanded, most);
    }
    ASSERT_EQ(*end, SearchEnd::kGoalReached);
    const PortalEntry last = search.FindWay();
    const WorldOracle oracle(world.maps.maps, world.walker, "home", query.path.start);
    const Cheapest cheapest(oracle, goal_map, goals);
    ASSERT_TRUE(cheapest.cost.has_value());
    EXPECT_NEAR(CostToDouble(last.g), *cheapest.cost, 1e-6 * (1 + *cheapest.cost));
    EXPECT_EQ(graph.CellAt(last.to), goals[cheapest.index]);
    EXPECT_NEAR(CostOf(graph, query.path, last, scratch_), *cheapest.cost, 1e-6 * (1 + *cheapest.cost));
    crossed_ += last.from == kNoDoor ? 0 : 1;
  }
  EXPECT_GT(crossed_, 60);
}

}  // namespace
}  // namespace waystar::core
