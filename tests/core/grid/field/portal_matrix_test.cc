// Cost matrices on maps with portals.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/field/cost_matrix.h"
#include "server/core/grid/portal/portal_search.h"
#include "tests/core/grid/field/agents.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/portal_world.h"
#include "tests/testing/random.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/world_oracle.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::waystar::testing::Between;
using ::waystar::testing::DrawMap;
using ::waystar::testing::FourConnected;
using ::waystar::testing::Generator;
using ::waystar::testing::IsOk;
using ::waystar::testing::Maps;
using ::waystar::testing::Rounds;
using ::waystar::testing::With;
using ::waystar::testing::WorldOracle;

class PortalMatrixTest : public ::testing::Test {
 protected:
  absl::StatusOr<CostMatrix> Compute(const GridMap& map, World& world, const std::vector<Cell>& starts,
                                     const std::vector<Cell>& goals, const Agent& agent = {}) {
    return ComputeCostMatrix(map, world, {.starts = starts, .goals = goals, .agent = agent}, {}, scratch_,
                             field_scratch_);
  }

  Scratch scratch_{std::size_t{1} << 26};
  FieldScratch field_scratch_;
};

TEST_F(PortalMatrixTest, GoesThroughPortals) {
  NoWorld no_world;
  const GridMap map = With(DrawMap({"...#...",  //
                                    "...#..."},
                                   FourConnected()),
                           {Between("there", {2, 0}, {4, 0}, 2.0), Between("back", {6, 1}, {0, 1}, 0.5)});
  const auto matrix = Compute(map, no_world, {{0, 0}, {2, 0}, {4, 0}}, {{4, 0}, {0, 0}, {3, 0}});
  ASSERT_THAT(matrix, IsOk());
  EXPECT_THAT(matrix->costs, ElementsAre(4.0, 0.0, CostMatrix::kUnreachable,  //
                                         2.0, 2.0, CostMatrix::kUnreachable,  //
                                         0.0, 4.5, CostMatrix::kUnreachable));
  const auto few = Compute(map, no_world, {{0, 0}, {4, 0}}, {{4, 0}, {0, 0}});
  ASSERT_THAT(few, IsOk());
  EXPECT_THAT(few->costs, ElementsAre(4.0, 0.0, 0.0, 4.5));
}

TEST_F(PortalMatrixTest, GoesOutAndComesBack) {
  Maps world;
  Portal down = Between("down", {1, 0}, {0, 0}, 3.0);
  down.to_map = "cellar";
  Portal up = Between("up", {3, 0}, {3, 0}, 1.0);
  up.to_map = "home";
  world.maps.emplace("home", With(DrawMap({"..#..."}, FourConnected()), {down}));
  world.maps.emplace("cellar", With(DrawMap({"...."}, FourConnected()), {up}));
  const auto matrix = Compute(world.maps.at("home"), world, {{0, 0}, {1, 0}, {3, 0}}, {{5, 0}, {3, 0}});
  ASSERT_THAT(matrix, IsOk());
  EXPECT_THAT(matrix->costs, ElementsAre(10.0, 8.0, 9.0, 7.0, 2.0, 0.0));
}

TEST_F(PortalMatrixTest, APortalOfHugeCostChangesNothing) {
  NoWorld no_world;
  for (std::uint64_t seed = 1; seed <= Rounds(30); ++seed) {
    SCOPED_TRACE(seed);
    Generator generator(seed);
    const GridMap plain = generator.Map({.max_side = 60, .weighted = generator.Chance(0.5)});
    const Cell from = generator.WalkableCellOf(plain);
    const Cell to = generator.WalkableCellOf(plain);
    if (from == to) {
      continue;
    }
    const GridMap map = With(plain, {Between("dear", from, to, kMaxPortalCost)});
    std::vector<Cell> starts;
    for (int i = 0; i < 4; ++i) {
      starts.push_back(generator.WalkableCellOf(plain));
    }
    const auto without = Compute(plain, no_world, starts, starts);
    const auto with = Compute(map, no_world, starts, starts);
    ASSERT_THAT(with, IsOk());
    for (std::size_t i = 0; i < with->costs.size(); ++i) {
      if (without->costs[i] != CostMatrix::kUnreachable) {
        ASSERT_EQ(with->costs[i], without->costs[i]);
      }
    }
  }
}

class GeneratedPortalMatrixTest : public PortalMatrixTest,
                                  public ::testing::WithParamInterface<MapAndAgent> {};

TEST_P(GeneratedPortalMatrixTest, SaysWhatPathQueriesSay) {
  const std::vector<std::string> wide = {"wide"};
  int through_portals = 0;
  for (std::uint64_t seed = 1; seed <= Rounds(30); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    Agent agent = GetParam().agent;
    if (generator.Chance(0.3)) {
      agent.required_tags = wide;
    }
    Maps world;
    const int map_count = generator.Between(1, 3);
    for (int i = 0; i < map_count; ++i) {
      world.maps.emplace(i == 0 ? "home" : absl::StrCat("floor", i),
                         GetParam().Make(generator, seed % 3 == 0 ? 140 : 32));
    }
    world.AddPortals(generator, generator.Between(1, 20), agent.footprint);
    const GridMap& home = world.maps.at("home");
    std::vector<Cell> starts;
    std::vector<Cell> goals;
    for (std::vector<Cell>* cells : {&starts, &goals}) {
      for (int i = generator.Between(2, 6); i > 0; --i) {
        cells->push_back(generator.Chance(0.1) ? generator.CellOf(home)
                                               : generator.WalkableCellOf(home, agent.footprint));
      }
    }
    const auto matrix = Compute(home, world, starts, goals, agent);
    ASSERT_THAT(matrix, IsOk());
    for (std::size_t s = 0; s < starts.size(); ++s) {
      const WorldOracle oracle(world.maps, WalkerOf(agent), "home", starts[s]);
      for (std::size_t t = 0; t < goals.size(); ++t) {
        const double cost = oracle.CostTo("home", goals[t]).value_or(CostMatrix::kUnreachable);
        const double said = matrix->costs[s * goals.size() + t];
        ASSERT_NEAR(said, cost, 1e-6 * (1.0 + cost)) << s << "," << t;
        if (cost == CostMatrix::kUnreachable) {
          continue;
        }
        const auto found = FindPathThroughPortals(home, world,
                                                  {.path = {.start = starts[s],
                                                            .goal = goals[t],
                                                            .corner_rule = agent.corner_rule,
                                                            .footprint = agent.footprint},
                                                   .required_tags = agent.required_tags},
                                                  {}, scratch_);
        ASSERT_THAT(found, IsOk());
        ASSERT_NEAR(said, found->path.cost, 1e-7 * (1.0 + cost));
        through_portals += found->crossings.empty() ? 0 : 1;
      }
    }
  }
  EXPECT_GT(through_portals, 5);
}

// So many that all maps are flooded as one. They differ in size, and some in what their cells cost.
TEST_P(GeneratedPortalMatrixTest, ManyPortalsToOtherMapsChangeNoAnswer) {
  const Agent& agent = GetParam().agent;
  for (std::uint64_t seed = 1; seed <= Rounds(6); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    Maps world;
    world.maps.emplace("home", GetParam().Make(generator, 32));
    world.maps.emplace("below", GetParam().Make(generator, 48));
    world.maps.emplace("beside", generator.Map({.max_side = 40, .weighted = generator.Chance(0.5)}));
    world.AddPortals(generator, 250, agent.footprint);
    const GridMap& home = world.maps.at("home");
    std::vector<Cell> starts;
    std::vector<Cell> goals;
    for (int i = 0; i < 5; ++i) {
      starts.push_back(generator.WalkableCellOf(home, agent.footprint));
      goals.push_back(generator.WalkableCellOf(home, agent.footprint));
    }
    starts.resize(generator.Chance(0.5) ? 5 : 4);
    goals.resize(generator.Chance(0.5) ? 5 : 4);
    const auto matrix = Compute(home, world, starts, goals, agent);
    ASSERT_THAT(matrix, IsOk());
    for (std::size_t s = 0; s < starts.size(); ++s) {
      const WorldOracle oracle(world.maps, WalkerOf(agent), "home", starts[s]);
      for (std::size_t t = 0; t < goals.size(); ++t) {
        const double cost = oracle.CostTo("home", goals[t]).value_or(CostMatrix::kUnreachable);
        ASSERT_NEAR(matrix->costs[s * goals.size() + t], cost, 1e-6 * (1.0 + cost)) << s << "," << t;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Agents, GeneratedPortalMatrixTest, ::testing::ValuesIn(EveryMapAndAgent()), NameOf);

}  // namespace
}  // namespace waystar::core
