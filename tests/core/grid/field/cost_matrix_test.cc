#include "server/core/grid/field/cost_matrix.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/grid/field/grid_fields.h"
#include "server/core/grid/portal/portal_search.h"
#include "tests/core/grid/agents.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/oracle.h"
#include "tests/testing/portal_world.h"
#include "tests/testing/random.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/world_oracle.h"

namespace waystar::core {
namespace {

using ::testing::DoubleNear;

class CostMatrixTest : public ::testing::Test {
 protected:
  absl::StatusOr<CostMatrix> Compute(const GridMap& map, const std::vector<Cell>& starts,
                                     const std::vector<Cell>& goals, const Agent& agent = {}) {
    NoWorld no_world;
    return Compute(map, no_world, starts, goals, agent);
  }
  absl::StatusOr<CostMatrix> Compute(const GridMap& map, World& world, const std::vector<Cell>& starts,
                                     const std::vector<Cell>& goals, const Agent& agent = {}) {
    return ComputeCostMatrix(map, world, {.starts = starts, .goals = goals, .agent = agent}, {}, scratch_,
                             field_scratch_);
  }

  Scratch scratch_{std::size_t{1} << 26};

 private:
  FieldScratch field_scratch_;
};

TEST_F(CostMatrixTest, RefusesBadLists) {
  const GridMap map = DrawMap({"...", "..."});
  const std::vector<Cell> one = {{0, 0}};
  EXPECT_THAT(Compute(map, {}, one),
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kMissingField, "starts"));
  EXPECT_THAT(Compute(map, one, {}),
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kMissingField, "goals"));
  EXPECT_THAT(Compute(map, std::vector<Cell>(1'000'000), one),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kTooManyItems, "starts"));
  EXPECT_THAT(Compute(map, std::vector<Cell>(1000), std::vector<Cell>(1000)),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kTooManyItems, "goals"));
  EXPECT_THAT(Compute(map, one, {{0, 0}, {0, 2}}),
              IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "goals[1]"));
  EXPECT_THAT(Compute(map, {{-1, 0}}, one),
              IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "starts[0]"));
  EXPECT_THAT(Compute(map, one, one, {.footprint = 0}),
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadValue, "footprint"));
}

TEST_F(CostMatrixTest, PairsPastTheScratchLimitAreRefused) {
  const GridMap map = DrawMap({".....",  //
                               ".###.",  //
                               "....#"});
  const std::vector<Cell> starts = {{0, 0}};
  const std::vector<Cell> goals = {{3, 2}};
  NoWorld no_world;
  Scratch small(0);
  FieldScratch field_scratch;
  EXPECT_THAT(ComputeCostMatrix(map, no_world, {.starts = starts, .goals = goals}, {}, small, field_scratch),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kRegionTooLarge, ""));
}

class GeneratedCostMatrixTest : public CostMatrixTest, public ::testing::WithParamInterface<MapAndAgent> {
 protected:
  // Expects what the oracle says of the maps. The starts and goals are on "home".
  CostMatrix Judge(Maps& world, const std::vector<Cell>& starts, const std::vector<Cell>& goals,
                   const Agent& agent) {
    const auto matrix = Compute(world.maps.at("home"), world, starts, goals, agent);
    EXPECT_THAT(matrix, IsOk());
    for (std::size_t s = 0; s < starts.size() && !HasFailure(); ++s) {
      const WorldOracle oracle(world.maps, WalkerOf(agent), "home", starts[s]);
      for (std::size_t t = 0; t < goals.size(); ++t) {
        const double cost = oracle.CostTo("home", goals[t]).value_or(CostMatrix::kUnreachable);
        EXPECT_THAT(matrix->costs[s * goals.size() + t], DoubleNear(cost, 1e-6 * (1.0 + cost)))
            << "from " << starts[s].x << "," << starts[s].y << " to " << goals[t].x << "," << goals[t].y;
      }
    }
    return matrix.value_or(CostMatrix{});
  }
  // Returns some cells, few of which are blocked.
  std::vector<Cell> CellsOf(const GridMap& map, int most, Generator& generator) const {
    std::vector<Cell> cells;
    for (int i = generator.Between(1, most); i > 0; --i) {
      cells.push_back(generator.Chance(0.1) ? generator.CellOf(map)
                                            : generator.WalkableCellOf(map, GetParam().agent.footprint));
    }
    return cells;
  }
};

TEST_P(GeneratedCostMatrixTest, AgreesWithTheOracle) {
  for (std::uint64_t seed = 1; seed <= Rounds(60); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    Maps world = GetParam().MakeWorld(generator, {"home"}, seed % 3 == 0 ? 140 : 32, 0);
    GridMap& map = world.maps.at("home");
    if (seed % 4 == 0) {
      // As where indexes do not fit into memory.
      map.Prepare({.max_bytes = 0});
    }
    for (int round = 0; round < 2; ++round) {
      const std::vector<Cell> starts = CellsOf(map, 8, generator);
      std::vector<Cell> goals = CellsOf(map, 8, generator);
      goals.push_back(starts.front());
      Judge(world, starts, goals, GetParam().agent);
      ASSERT_FALSE(HasFailure());
      auto edited = ApplyEdits(map, generator.Edits(map, generator.Between(1, 5)));
      ASSERT_TRUE(edited.ok()) << edited.status();
      map = std::move(edited->map);
    }
  }
}

TEST_P(GeneratedCostMatrixTest, SaysWhatPathQueriesThroughPortalsSay) {
  const std::vector<std::string> wide = {"wide"};
  int through_portals = 0;
  for (std::uint64_t seed = 1; seed <= Rounds(30); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    Agent agent = GetParam().agent;
    if (generator.Chance(0.3)) {
      agent.required_tags = wide;
    }
    std::vector<std::string> names = {"home", "attic", "cellar"};
    names.resize(static_cast<std::size_t>(generator.Between(1, 3)));
    Maps world = GetParam().MakeWorld(generator, names, seed % 3 == 0 ? 140 : 32, generator.Between(1, 20));
    const GridMap& home = world.maps.at("home");
    const std::vector<Cell> starts = CellsOf(home, 6, generator);
    const std::vector<Cell> goals = CellsOf(home, 6, generator);
    const CostMatrix matrix = Judge(world, starts, goals, agent);
    ASSERT_FALSE(HasFailure());
    for (std::size_t i = 0; i < matrix.costs.size(); ++i) {
      const double cost = matrix.costs[i];
      if (cost == CostMatrix::kUnreachable) {
        continue;
      }
      const auto found = FindPathThroughPortals(home, world,
                                                {.path = {.start = starts[i / goals.size()],
                                                          .goal = goals[i % goals.size()],
                                                          .corner_rule = agent.corner_rule,
                                                          .footprint = agent.footprint},
                                                 .required_tags = agent.required_tags},
                                                {}, scratch_);
      ASSERT_THAT(found, IsOk());
      ASSERT_NEAR(cost, found->path.cost, 1e-7 * (1.0 + cost));
      through_portals += found->crossings.empty() ? 0 : 1;
    }
  }
  // Few rounds, as under a sanitizer, may meet none.
  if (Rounds(30) == 30) {
    EXPECT_GT(through_portals, 5);
  }
}

TEST_P(GeneratedCostMatrixTest, APortalOfHugeCostChangesNothing) {
  const Agent& agent = GetParam().agent;
  FieldScratch scratch;
  for (std::uint64_t seed = 100; seed < 120; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    const GridMap plain = GetParam().Make(generator, 60);
    const Cell from = generator.WalkableCellOf(plain, agent.footprint);
    const Cell to = generator.WalkableCellOf(plain, agent.footprint);
    if (from == to || !CanStand(plain, from, agent.footprint)) {
      continue;
    }
    const GridMap map = With(plain, {Between("dear", from, to, kMaxPortalCost)});
    const FlowFieldQuery query{
        .goals = {&from, 1}, .agent = agent, .max_cost = kMaxPortalCost - 1, .want_costs = true};
    const auto field = ComputeFlowField(map, query, {}, scratch);
    const auto field_without = ComputeFlowField(plain, query, {}, scratch);
    ASSERT_THAT(field, IsOk());
    EXPECT_EQ(field->directions, field_without->directions);
    EXPECT_EQ(field->costs, field_without->costs);
    EXPECT_TRUE(field->portals.empty());

    const std::vector<Cell> starts = CellsOf(plain, 4, generator);
    const auto matrix = Compute(map, starts, starts, agent);
    const auto matrix_without = Compute(plain, starts, starts, agent);
    ASSERT_THAT(matrix, IsOk());
    for (std::size_t i = 0; i < matrix->costs.size(); ++i) {
      if (matrix_without->costs[i] != CostMatrix::kUnreachable) {
        ASSERT_EQ(matrix->costs[i], matrix_without->costs[i]);
      }
    }
  }
}

// So many that all maps are flooded as one. They differ in size, and some in what their cells cost.
TEST_P(GeneratedCostMatrixTest, ManyPortalsToOtherMapsChangeNoAnswer) {
  const Agent& agent = GetParam().agent;
  for (std::uint64_t seed = 1; seed <= Rounds(6); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    Maps world;
    world.maps.emplace("home", GetParam().Make(generator, 32));
    world.maps.emplace("below", GetParam().Make(generator, 48));
    world.maps.emplace("beside", generator.Map({.max_side = 40, .weighted = generator.Chance(0.5)}));
    world.AddPortals(generator, 250, agent.footprint);
    const auto four_or_five = [&] {
      std::vector<Cell> cells;
      for (int i = generator.Between(4, 5); i > 0; --i) {
        cells.push_back(generator.WalkableCellOf(world.maps.at("home"), agent.footprint));
      }
      return cells;
    };
    const std::vector<Cell> starts = four_or_five();
    Judge(world, starts, four_or_five(), agent);
    ASSERT_FALSE(HasFailure());
  }
}

INSTANTIATE_TEST_SUITE_P(Agents, GeneratedCostMatrixTest, ::testing::ValuesIn(EveryMapAndAgent()), NameOf);

}  // namespace
}  // namespace waystar::core
