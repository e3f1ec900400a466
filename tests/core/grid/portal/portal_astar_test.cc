// A* over cells with portals as edges, against a slow, obvious oracle on generated worlds.
#include "server/core/grid/portal/portal_astar.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/portal/portal_graph.h"
#include "tests/testing/generator.h"
#include "tests/testing/portal_world.h"
#include "tests/testing/rules.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/world_oracle.h"

namespace waystar::core {
namespace {

using ::waystar::testing::AnyConnectivity;
using ::waystar::testing::Generator;
using ::waystar::testing::IsOk;
using ::waystar::testing::kRules;
using ::waystar::testing::Maps;
using ::waystar::testing::WorldOracle;

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

TEST(PortalAStarTest, CostsTheLeastOnGeneratedWorlds) {
  constexpr std::array<const char*, 3> kIds = {"home", "cellar", "attic"};
  Scratch scratch(std::size_t{1} << 26);
  int crossed = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Generator generator(seed);
    const int map_count = generator.Between(1, 3);
    const CornerRule rule = kRules[generator.Between(0, 2)];
    const int footprint = generator.Chance(0.8) ? 1 : 2;
    Maps world;
    for (int i = 0; i < map_count; ++i) {
      world.maps.emplace(kIds[static_cast<std::size_t>(i)],
                         generator.Map({.max_side = 24,
                                        .weighted = generator.Chance(0.4),
                                        .connectivity = AnyConnectivity(generator)}));
    }
    world.AddPortals(generator, generator.Between(1, 60));
    const GridMap& home = world.maps.at("home");
    const std::string goal_map = kIds[static_cast<std::size_t>(generator.Between(0, map_count - 1))];
    PortalQuery query{.path = {.start = generator.WalkableCellOf(home, footprint),
                               .corner_rule = rule,
                               .algorithm = generator.Chance(0.7) ? Algorithm::kAStar : Algorithm::kDijkstra,
                               .footprint = footprint},
                      .goal_map = goal_map == "home" ? kSameMap : absl::string_view(goal_map)};
    std::vector<Cell> goals;
    for (int i = generator.Between(1, 20); i > 0; --i) {
      goals.push_back(generator.WalkableCellOf(world.maps.at(goal_map), footprint));
    }
    query.goals = goals;
    PortalGraph graph(home, world, query, scratch);
    if (!graph.Build().ok() || graph.goals().empty()) {
      continue;
    }
    PortalAStar search(graph, query.path, scratch.beside(), nullptr);
    std::optional<SearchEnd> end;
    for (std::uint64_t most = 0; !end; most += static_cast<std::uint64_t>(generator.Between(1, 30))) {
      end = search.Run(most, {});
      ASSERT_LE(search.statistics().expanded, most);
    }
    ASSERT_EQ(*end, SearchEnd::kGoalReached);
    const PortalEntry last = search.FindWay();

    const WorldOracle oracle(world.maps, {.corner_rule = rule, .footprint = footprint}, "home",
                             query.path.start);
    std::optional<double> least;
    Cell first;
    for (const Cell goal : goals) {
      const std::optional<double> cost = oracle.CostTo(goal_map, goal);
      if (cost && (!least || *cost < *least - 1e-7)) {
        least = cost;
        first = goal;
      }
    }
    ASSERT_TRUE(least.has_value());
    EXPECT_NEAR(CostToDouble(last.g), *least, 1e-6 * (1 + *least));
    EXPECT_EQ(graph.CellAt(last.to), first);
    EXPECT_NEAR(CostOf(graph, query.path, last, scratch), *least, 1e-6 * (1 + *least));
    crossed += last.from == kNoDoor ? 0 : 1;
  }
  EXPECT_GT(crossed, 60);
}

}  // namespace
}  // namespace waystar::core
