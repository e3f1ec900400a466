// Which cells can be reached, on maps with portals.

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/grid/field/reachable_pairs.h"
#include "server/core/grid/field/sample_cells.h"
#include "server/core/grid/search/agent.h"
#include "tests/core/grid/field/agents.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/oracle.h"
#include "tests/testing/portal_world.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/world_oracle.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;
using ::waystar::testing::Between;
using ::waystar::testing::CanStand;
using ::waystar::testing::DrawMap;
using ::waystar::testing::Generator;
using ::waystar::testing::IsOk;
using ::waystar::testing::Maps;
using ::waystar::testing::With;
using ::waystar::testing::WorldOracle;

// Cells 0, 2 and 4 are islands.
GridMap Islands(const std::vector<Portal>& portals) { return With(DrawMap({".#.#."}), portals); }

TEST(PortalReachTest, GoesThePortalsWay) {
  NoWorld no_world;
  const GridMap map = Islands({Between("there", {0, 0}, {2, 0}), Between("on", {2, 0}, {4, 0})});
  const auto reachable = CheckReachability(
      map, no_world, {},
      {{{0, 0}, {2, 0}}, {{0, 0}, {4, 0}}, {{2, 0}, {0, 0}}, {{4, 0}, {4, 0}}, {{0, 0}, {1, 0}}});
  ASSERT_THAT(reachable, IsOk());
  EXPECT_THAT(*reachable, ElementsAre(true, true, false, true, false));
}

TEST(PortalReachTest, GoesOutAndComesBack) {
  Maps world;
  Portal down = Between("down", {0, 0}, {1, 0});
  down.to_map = "cellar";
  Portal up = Between("up", {3, 0}, {4, 0});
  up.to_map = "home";
  world.maps.emplace("home", Islands({down}));
  world.maps.emplace("cellar", With(DrawMap({"...."}), {up}));
  const GridMap& home = world.maps.at("home");
  EXPECT_THAT(*CheckReachability(home, world, {}, {{{0, 0}, {4, 0}}, {{0, 0}, {2, 0}}}),
              ElementsAre(true, false));
  const auto sampled =
      SampleCells(home, world, {.count = 9, .reachable_from = Cell{0, 0}, .distinct = true}, {});
  ASSERT_THAT(sampled, IsOk());
  EXPECT_THAT(sampled->cells, UnorderedElementsAre(Cell{0, 0}, Cell{4, 0}));
}

TEST(PortalReachTest, ClosedAndForbiddenPortalsLeadNowhere) {
  NoWorld no_world;
  Portal closed = Between("closed", {0, 0}, {2, 0});
  closed.closed = true;
  Portal tagged = Between("tagged", {0, 0}, {4, 0});
  tagged.tags = {"dry"};
  const GridMap map = Islands({closed, tagged});
  const std::vector<std::string> dry = {"dry"};
  const std::vector<std::string> wide = {"wide"};
  const std::vector<CellPair> pairs = {{{0, 0}, {2, 0}}, {{0, 0}, {4, 0}}};
  EXPECT_THAT(*CheckReachability(map, no_world, {.required_tags = dry}, pairs), ElementsAre(false, true));
  EXPECT_THAT(*CheckReachability(map, no_world, {.required_tags = wide}, pairs), ElementsAre(false, false));
}

class GeneratedPortalReachTest : public ::testing::TestWithParam<MapAndAgent> {};

TEST_P(GeneratedPortalReachTest, KnowsWhatPathsLeadTo) {
  const std::vector<std::string> wide = {"wide"};
  int through_portals = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    Agent agent = GetParam().agent;
    if (generator.Chance(0.5)) {
      agent.required_tags = wide;
    }
    Maps world;
    for (const char* id : {"home", "attic", "cellar"}) {
      world.maps.emplace(id, GetParam().Make(generator, 24));
    }
    world.AddPortals(generator, generator.Between(1, 25), agent.footprint);
    const GridMap& home = world.maps.at("home");
    const Cell start = generator.WalkableCellOf(home, agent.footprint);
    std::vector<CellPair> pairs;
    for (int i = 0; i < 60; ++i) {
      pairs.push_back({start, generator.CellOf(home)});
    }
    const auto reachable = CheckReachability(home, world, agent, pairs);
    ASSERT_THAT(reachable, IsOk());
    const WorldOracle oracle(world.maps, WalkerOf(agent), "home", start);
    const auto& components = home.walk(agent.footprint)->components(AdjacencyOf(home, agent.corner_rule));
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      ASSERT_EQ((*reachable)[i], oracle.CostTo("home", pairs[i].goal).has_value()) << i;
      through_portals += (*reachable)[i] && !components.AreConnected(start, pairs[i].goal) ? 1 : 0;
    }
    if (!CanStand(home, start, agent.footprint)) {
      continue;
    }
    const SampleQuery query{.count = 100'000, .agent = agent, .reachable_from = start, .distinct = true};
    const auto sampled = SampleCells(home, world, query, {});
    ASSERT_THAT(sampled, IsOk());
    std::set<std::pair<int, int>> drawn;
    for (const Cell cell : sampled->cells) {
      drawn.insert({cell.x, cell.y});
    }
    for (int y = 0; y < home.height(); ++y) {
      for (int x = 0; x < home.width(); ++x) {
        ASSERT_EQ(drawn.count({x, y}) > 0, oracle.CostTo("home", {x, y}).has_value()) << x << "," << y;
      }
    }
  }
  EXPECT_GT(through_portals, 0);
}

INSTANTIATE_TEST_SUITE_P(Agents, GeneratedPortalReachTest, ::testing::ValuesIn(EveryMapAndAgent()), NameOf);

}  // namespace
}  // namespace waystar::core
