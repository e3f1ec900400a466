// Paths through portals against a slow, obvious oracle, on generated worlds.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/edit/edit.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/portal/portal_search.h"
#include "tests/testing/generator.h"
#include "tests/testing/oracle.h"
#include "tests/testing/portal_world.h"
#include "tests/testing/rules.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/world_oracle.h"

namespace waystar::core {
namespace {

using ::waystar::testing::AnyConnectivity;
using ::waystar::testing::Between;
using ::waystar::testing::CanStand;
using ::waystar::testing::Generator;
using ::waystar::testing::IsOk;
using ::waystar::testing::kRules;
using ::waystar::testing::Maps;
using ::waystar::testing::PathFault;
using ::waystar::testing::StepCost;
using ::waystar::testing::With;
using ::waystar::testing::WorldOracle;

// What is wrong with a path of every cell; empty if nothing.
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

// Searches generated worlds with so many portals each. Returns how many paths go through portals.
int CompareWithOracle(std::uint64_t worlds, int fewest_portals, int most_portals) {
  constexpr std::array<const char*, 3> kIds = {"home", "cellar", "attic"};
  Scratch scratch(std::size_t{1} << 26);
  int crossed = 0;
  for (std::uint64_t seed = 0; seed < worlds; ++seed) {
    SCOPED_TRACE(seed);
    Generator generator(seed);
    const int map_count = generator.Between(1, 3);
    const bool weighted = generator.Chance(0.4);
    const CornerRule rule = kRules[generator.Between(0, 2)];
    const int footprint = generator.Chance(0.8) ? 1 : 2;
    Maps world;
    for (int i = 0; i < map_count; ++i) {
      world.maps.emplace(
          kIds[static_cast<std::size_t>(i)],
          generator.Map({.max_side = 30, .weighted = weighted, .connectivity = AnyConnectivity(generator)}));
    }
    world.AddPortals(generator, generator.Between(fewest_portals, most_portals));
    const GridMap& home = world.maps.at("home");
    for (int i = 0; i < 6; ++i) {
      PortalQuery query{.path = {.start = generator.WalkableCellOf(home, footprint),
                                 .corner_rule = rule,
                                 .algorithm = generator.Chance(0.5) ? Algorithm::kAuto : Algorithm::kAStar,
                                 .footprint = footprint}};
      const std::string goal_map = kIds[static_cast<std::size_t>(generator.Between(0, map_count - 1))];
      query.goal_map = goal_map == "home" && generator.Chance(0.5) ? kSameMap : absl::string_view(goal_map);
      query.path.goal = generator.WalkableCellOf(world.maps.at(goal_map), footprint);
      if (!CanStand(home, query.path.start, footprint) ||
          !CanStand(world.maps.at(goal_map), query.path.goal, footprint)) {
        continue;
      }
      const WorldOracle oracle(world.maps, {.corner_rule = rule, .footprint = footprint}, "home",
                               query.path.start);
      const std::optional<double> least = oracle.CostTo(goal_map, query.path.goal);
      const auto found = FindPathThroughPortals(home, world, query, {}, scratch);
      EXPECT_THAT(found, IsOk());
      EXPECT_EQ(found->path.outcome == Outcome::kFound, least.has_value());
      if (least) {
        EXPECT_NEAR(found->path.cost, *least, 1e-6 * (1 + *least));
        EXPECT_EQ(Fault(world.maps, query, *found), "");
        crossed += found->crossings.empty() ? 0 : 1;
      }
    }
  }
  return crossed;
}

TEST(PortalSearchOracleTest, CostsTheLeastOnGeneratedWorlds) {
  EXPECT_GT(CompareWithOracle(250, 1, 14), 200);
}

// Most of these are found by cells, not by doors.
TEST(PortalSearchOracleTest, CostsTheLeastThroughManyPortals) {
  EXPECT_GT(CompareWithOracle(40, 100, 1000), 50);
}

TEST(PortalSearchOracleTest, APortalOfHugeCostChangesNothing) {
  Scratch scratch(std::size_t{1} << 26);
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
    const auto without = FindPath(plain, path, {}, scratch);
    if (!without.ok() || without->outcome != Outcome::kFound) {
      continue;
    }
    const std::vector<Cell> points(without->points.begin(), without->points.end());
    const auto with = FindPathThroughPortals(world.maps.at("home"), world, {.path = path}, {}, scratch);
    ASSERT_THAT(with, IsOk());
    EXPECT_EQ(with->path.cost, without->cost);
    EXPECT_THAT(with->path.points, ::testing::ElementsAreArray(points));
  }
}

}  // namespace
}  // namespace waystar::core
