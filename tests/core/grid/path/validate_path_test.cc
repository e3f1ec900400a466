#include "server/core/grid/path/validate_path.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/search/scratch.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/oracle.h"
#include "tests/testing/rules.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

Validation Validate(const GridMap& map, const std::vector<Cell>& points, PathForm form = PathForm::kEveryCell,
                    CornerRule rule = CornerRule::kNoCornerCutting, int footprint = 1) {
  const auto result =
      ValidatePath(map, {.points = points, .corner_rule = rule, .path_form = form, .footprint = footprint});
  EXPECT_TRUE(result.ok()) << result.status();
  return result.value_or(Validation{});
}

std::vector<Cell> PointsOf(Cell start, const PathResult& result) {
  std::vector<Cell> points(result.points.begin(), result.points.end());
  if (points.empty()) {
    points.push_back(start);
    for (const Direction direction : result.directions) {
      points.push_back(Step(points.back(), direction));
    }
  }
  return points;
}

TEST(ValidatePathTest, TellsWhereThePathIsBlockedAndWhatTheWayToThereCosts) {
  const GridMap map = DrawMap({".....",  //
                               ".....",  //
                               "...#."});
  const Validation validation = Validate(map, {{0, 0}, {0, 2}, {4, 2}, {4, 0}});
  EXPECT_FALSE(validation.walkable);
  EXPECT_EQ(validation.blocked_index, 2U);
  EXPECT_EQ(validation.blocked_cell, (Cell{3, 2}));
  EXPECT_DOUBLE_EQ(validation.cost, 2.0);
}

TEST(ValidatePathTest, LineOfAnyAngleCostsItsLength) {
  const GridMap map = DrawMap({".....",  //
                               ".....",  //
                               "....#"});
  EXPECT_NEAR(Validate(map, {{0, 0}, {3, 1}}).cost, std::sqrt(10.0), 1e-12);
  const Validation blocked = Validate(map, {{0, 0}, {3, 1}, {4, 2}});
  EXPECT_FALSE(blocked.walkable);
  EXPECT_EQ(blocked.blocked_index, 2U);
}

TEST(ValidatePathTest, RunsCostStepsUnlessThePathIsSmoothed) {
  GridSettings settings;
  settings.diagonal_cost = 1.5;
  const GridMap map = DrawMap({"...",  //
                               "...",  //
                               "..."},
                              settings);
  const std::vector<Cell> points = {{0, 0}, {2, 2}};
  EXPECT_DOUBLE_EQ(Validate(map, points).cost, 3.0);
  EXPECT_NEAR(Validate(map, points, PathForm::kSmoothed).cost, std::sqrt(8.0), 1e-12);
}

TEST(ValidatePathTest, NoDirectionIsDiagonalWhereTheMapIsFourConnected) {
  const GridMap map = DrawMap({"..", ".."}, FourConnected());
  const std::vector<Cell> points = {{0, 0}, {1, 1}};
  const Validation validation = Validate(map, points, PathForm::kDirections);
  EXPECT_FALSE(validation.walkable);
  EXPECT_EQ(validation.blocked_cell, (Cell{1, 1}));
  EXPECT_TRUE(Validate(map, points, PathForm::kSmoothed).walkable);
}

TEST(ValidatePathTest, RefusesWhatIsNoPathOnTheMap) {
  const GridMap map = DrawMap({"..."});
  const std::vector<Cell> off = {{0, 0}, {3, 0}};
  EXPECT_THAT(ValidatePath(map, {.points = off}),
              IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "points[1]"));
  EXPECT_THAT(ValidatePath(map, {}),
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kMissingField, "points"));
  EXPECT_THAT(ValidatePath(map, {.points = off, .footprint = 33}),
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadValue, "footprint"));
  const std::vector<Cell> long_path(kMaxValidatedPoints + 1);
  EXPECT_THAT(ValidatePath(map, {.points = long_path}),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kPathTooLong, "points"));
}

// Every form, rule, size, connectivity and kind of terrain.
class GeneratedPaths : public ::testing::TestWithParam<int> {
 protected:
  GeneratedPaths() : generator_(static_cast<std::uint64_t>(GetParam())) {}

  GridMap Map() {
    return generator_.Map(
        {.max_side = 30, .weighted = generator_.Chance(0.5), .connectivity = AnyConnectivity(generator_)});
  }

  PathQuery Query(const GridMap& map) {
    PathQuery query{.corner_rule = kRules[generator_.Between(0, 2)],
                    .path_form = static_cast<PathForm>(std::max(generator_.Between(-3, 3), 0)),
                    .footprint = generator_.Chance(0.6) ? 1 : generator_.Between(2, 4)};
    query.start = generator_.WalkableCellOf(map, query.footprint);
    query.goal = generator_.WalkableCellOf(map, query.footprint);
    query.unreachable_policy =
        generator_.Chance(0.5) ? UnreachablePolicy::kNearestByDistance : UnreachablePolicy::kReport;
    return query;
  }

  Generator generator_;
};

// Paths that were found are walkable at the same cost; after edits the verdict is that of a judge step by
// step.
TEST_P(GeneratedPaths, AreJudgedAsStepByStep) {
  Scratch scratch(std::size_t{64} << 20);
  for (int i = 0; i < 100; ++i) {
    GridMap map = Map();
    for (int j = 0; j < 8; ++j) {
      PathQuery query = Query(map);
      const auto result = FindPath(map, query, {}, scratch);
      if (!result.ok() || result->outcome == Outcome::kUnreachable) {
        continue;
      }
      const std::vector<Cell> points = PointsOf(query.start, *result);
      Validation validation = Validate(map, points, query.path_form, query.corner_rule, query.footprint);
      ASSERT_TRUE(validation.walkable);
      ASSERT_NEAR(validation.cost, result->cost, 1e-9 * (1.0 + result->cost));
      const auto edited = ApplyEdits(map, generator_.Edits(map, generator_.Between(1, 3)));
      if (!edited.ok() || query.path_form != PathForm::kEveryCell) {
        continue;
      }
      map = edited->map;
      validation = Validate(map, points, PathForm::kEveryCell, query.corner_rule, query.footprint);
      std::optional<std::size_t> fault;
      double cost = 0.0;
      if (!CanStand(map, points.front(), query.footprint)) {
        fault = 0;
      }
      for (std::size_t k = 1; k < points.size() && !fault; ++k) {
        if (IsLegalStep(map, query.corner_rule, points[k - 1], points[k], query.footprint)) {
          cost += StepCost(map, points[k - 1], points[k], query.footprint);
        } else {
          fault = k;
        }
      }
      ASSERT_EQ(validation.walkable, !fault.has_value());
      ASSERT_NEAR(validation.cost, cost, 1e-6);
      if (fault) {
        ASSERT_EQ(validation.blocked_index, *fault);
        ASSERT_EQ(validation.blocked_cell, points[*fault]);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, GeneratedPaths, ::testing::Range(1, 5));

TEST(ValidatePathTest, EndsWhenNobodyWaitsForIt) {
  const GridMap map = DrawMap(std::vector<std::string>(100, std::string(100, '.')));
  std::vector<Cell> points(2000, Cell{0, 0});
  for (std::size_t i = 0; i < points.size(); i += 2) {
    points[i] = {99, 99};
  }
  const std::atomic<bool> cancelled = true;
  EXPECT_TRUE(absl::IsCancelled(ValidatePath(map, {.points = points}, {.cancelled = &cancelled}).status()));
  EXPECT_EQ(WorkOfValidation({.points = points}), 2000U + 1999U * 99);
}

}  // namespace
}  // namespace waystar::core
