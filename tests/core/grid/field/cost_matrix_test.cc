#include "server/core/grid/field/cost_matrix.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "tests/core/grid/field/agents.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/oracle.h"
#include "tests/testing/random.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::waystar::testing::CanStand;
using ::waystar::testing::DrawMap;
using ::waystar::testing::Generator;
using ::waystar::testing::IsError;
using ::waystar::testing::Oracle;
using ::waystar::testing::Rounds;

class CostMatrixTest : public ::testing::Test {
 protected:
  absl::StatusOr<CostMatrix> Compute(const GridMap& map, const std::vector<Cell>& starts,
                                     const std::vector<Cell>& goals, const Agent& agent = {}) {
    return ComputeCostMatrix(map, no_world_, {.starts = starts, .goals = goals, .agent = agent}, {}, scratch_,
                             field_scratch_);
  }

 private:
  NoWorld no_world_;
  Scratch scratch_{std::size_t{1} << 26};
  FieldScratch field_scratch_;
};

TEST_F(CostMatrixTest, HasARowForEachSource) {
  const GridMap map = DrawMap({".....",  //
                               ".###.",  //
                               "....#"});
  const auto matrix = Compute(map, {{0, 0}, {4, 0}}, {{4, 0}, {0, 2}, {3, 2}, {4, 2}});
  ASSERT_TRUE(matrix.ok()) << matrix.status();
  EXPECT_THAT(matrix->costs, ElementsAre(4.0, 2.0, 5.0, CostMatrix::kUnreachable,  //
                                         0.0, 6.0, 9.0, CostMatrix::kUnreachable));
}

TEST_F(CostMatrixTest, PaysForTheCellsThatAreEntered) {
  GridSettings settings;
  settings.terrains.push_back({.symbol = '~', .name = "swamp", .cost = 5.0});
  const GridMap map = DrawMap({".~.~."}, settings);
  const auto matrix = Compute(map, {{0, 0}, {1, 0}, {2, 0}}, {{0, 0}, {1, 0}});
  ASSERT_TRUE(matrix.ok()) << matrix.status();
  EXPECT_THAT(matrix->costs, ElementsAre(0.0, 5.0, 1.0, 0.0, 6.0, 5.0));
}

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

class GeneratedCostMatrixTest : public CostMatrixTest, public ::testing::WithParamInterface<MapAndAgent> {
 protected:
  void Judge(const GridMap& map, const std::vector<Cell>& starts, const std::vector<Cell>& goals) {
    const Agent& agent = GetParam().agent;
    const auto matrix = Compute(map, starts, goals, agent);
    ASSERT_TRUE(matrix.ok()) << matrix.status();
    for (std::size_t s = 0; s < starts.size(); ++s) {
      std::optional<Oracle> oracle;
      if (CanStand(map, starts[s], agent.footprint)) {
        oracle.emplace(map, agent.corner_rule, starts[s], agent.footprint);
      }
      for (std::size_t t = 0; t < goals.size(); ++t) {
        const double cost =
            (oracle ? oracle->CostTo(goals[t]) : std::nullopt).value_or(CostMatrix::kUnreachable);
        ASSERT_THAT(matrix->costs[s * goals.size() + t], DoubleNear(cost, 1e-6 * (1.0 + cost)))
            << "from " << starts[s].x << "," << starts[s].y << " to " << goals[t].x << "," << goals[t].y;
      }
    }
  }
};

TEST_P(GeneratedCostMatrixTest, AgreesWithTheOracle) {
  for (std::uint64_t seed = 1; seed <= Rounds(60); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    GridMap map = GetParam().Make(generator, seed % 3 == 0 ? 140 : 32);
    if (seed % 4 == 0) {
      // As where indexes do not fit into memory.
      map.Prepare({.max_bytes = 0});
    }
    for (int round = 0; round < 2; ++round) {
      std::vector<Cell> starts;
      std::vector<Cell> goals;
      const auto fill = [&](std::vector<Cell>& cells) {
        for (int i = generator.Between(1, 8); i > 0; --i) {
          cells.push_back(generator.Chance(0.1) ? generator.CellOf(map)
                                                : generator.WalkableCellOf(map, GetParam().agent.footprint));
        }
      };
      fill(starts);
      fill(goals);
      goals.push_back(starts.front());
      Judge(map, starts, goals);
      ASSERT_FALSE(HasFatalFailure());
      auto edited = ApplyEdits(map, generator.Edits(map, generator.Between(1, 5)));
      ASSERT_TRUE(edited.ok()) << edited.status();
      map = std::move(edited->map);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Agents, GeneratedCostMatrixTest, ::testing::ValuesIn(EveryMapAndAgent()), NameOf);

}  // namespace
}  // namespace waystar::core
