// Paths of agents that move in different ways on one map.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/overlay.h"
#include "server/core/grid/engines/find_path.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/oracle.h"
#include "tests/testing/profiles.h"

namespace waystar::core {
namespace {

using ::waystar::testing::AnyConnectivity;
using ::waystar::testing::AnyProfile;
using ::waystar::testing::DrawQuery;
using ::waystar::testing::Generator;
using ::waystar::testing::Oracle;
using ::waystar::testing::PathFault;
using ::waystar::testing::Rebuilt;
using ::waystar::testing::ViewOf;

// Three ways from the upper half to the lower one: each has one of its own.
TEST(ProfileSearchTest, HovercraftTankAndMouse) {
  GridSettings settings;
  settings.terrains.push_back({.symbol = '~', .name = "water", .impassable = true});
  settings.terrains.push_back({.symbol = '^', .name = "rubble", .cost = 8.0});
  const auto drawn = DrawQuery({".s........",  //
                                "..........",  //
                                "###~##^^#.",  //
                                "###~##^^#.",  //
                                "###~##^^#.",  //
                                "..........",  //
                                ".g........",  //
                                ".........."},
                               settings);
  Scratch scratch(std::size_t{16} << 20);
  // The column where the path passes the wall.
  const auto gap_of = [&](const MovementProfile& profile) {
    std::shared_ptr<const GridMap> holder;
    const GridMap& map = ViewOf(drawn.map, profile, holder);
    PathQuery query = drawn.query();
    query.footprint = profile.footprint;
    query.corner_rule = profile.corner_rule;
    const auto result = FindPath(map, query, {}, scratch);
    EXPECT_TRUE(result.ok() && result->outcome == Outcome::kFound) << result.status();
    EXPECT_EQ(PathFault(Rebuilt(drawn.map, TerrainRules(profile, settings)), profile.corner_rule, drawn.start,
                        drawn.goal, result->points, result->cost, profile.footprint),
              "");
    for (const Cell cell : result->points) {
      if (cell.y == 3) {
        return cell.x;
      }
    }
    return -1;
  };
  const MovementProfile hovercraft{.terrain_costs = {{'~', 1.0}}, .forbidden_terrains = {'^'}};
  const MovementProfile tank{.footprint = 2, .terrain_costs = {{'^', 1.5}}};
  const MovementProfile mouse{.corner_rule = CornerRule::kAlways};
  EXPECT_EQ(gap_of(hovercraft), 3);
  EXPECT_EQ(gap_of(tank), 6);
  EXPECT_EQ(gap_of(mouse), 9);
}

class GeneratedProfiles : public ::testing::TestWithParam<int> {};

TEST_P(GeneratedProfiles, PathsAreOptimalOnTheMapBuiltAnew) {
  constexpr Algorithm kExact[] = {Algorithm::kAuto, Algorithm::kAStar, Algorithm::kDijkstra};
  Generator generator(static_cast<std::uint64_t>(GetParam()));
  Scratch scratch(std::size_t{64} << 20);
  int found = 0;
  for (int i = 0; i < 12; ++i) {
    GridMap map = generator.Map(
        {.max_side = 100, .max_cells = 2000, .weighted = true, .connectivity = AnyConnectivity(generator)});
    const MovementProfile profiles[] = {AnyProfile(generator, map.settings()),
                                        AnyProfile(generator, map.settings())};
    for (int round = 0; round < 8; ++round) {
      const MovementProfile& profile = profiles[generator.Between(0, 1)];
      std::shared_ptr<const GridMap> holder;
      GridMap view = ViewOf(map, profile, holder);
      GridMap judge = Rebuilt(map, TerrainRules(profile, map.settings()));
      if (generator.Chance(0.3)) {
        const Overlay overlay{.blocked = {.rectangles = {{map.width() / 3, map.height() / 3, 3, 3}}},
                              .ignored_obstacles = {"o1"}};
        view = *WithOverlay(view, overlay);
        judge = *WithOverlay(judge, overlay);
      }
      const Cell start = generator.WalkableCellOf(judge, profile.footprint);
      if (testing::CanStand(judge, start, profile.footprint)) {
        const Oracle oracle(judge, profile.corner_rule, start, profile.footprint);
        for (int goals = 0; goals < 4; ++goals) {
          const Cell goal = generator.WalkableCellOf(judge, profile.footprint);
          if (!testing::CanStand(judge, goal, profile.footprint)) {
            continue;
          }
          const auto result = FindPath(view,
                                       {.start = start,
                                        .goal = goal,
                                        .corner_rule = profile.corner_rule,
                                        .algorithm = kExact[generator.Between(0, 2)],
                                        .footprint = profile.footprint},
                                       {}, scratch);
          ASSERT_TRUE(result.ok()) << result.status();
          const auto cost = oracle.CostTo(goal);
          ASSERT_EQ(result->outcome == Outcome::kFound, cost.has_value());
          if (cost) {
            ++found;
            ASSERT_NEAR(result->cost, *cost, 1e-6 * (1 + *cost));
            ASSERT_EQ(PathFault(judge, profile.corner_rule, start, goal, result->points, result->cost,
                                profile.footprint),
                      "");
          }
        }
      }
      map = ApplyEdits(map, generator.AnyEdits(map, generator.Between(1, 3)))->map;
    }
  }
  EXPECT_GT(found, 50);
}

INSTANTIATE_TEST_SUITE_P(Seeds, GeneratedProfiles, ::testing::Range(1, 9));

}  // namespace
}  // namespace waystar::core
