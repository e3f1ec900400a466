#include "server/core/grid/map/canonical_steps.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/grid_map.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/oracle.h"
#include "tests/testing/plainness.h"
#include "tests/testing/rules.h"

namespace waystar::core {
namespace {

constexpr Cell kCentre = {1, 1};

// Cost, steps, diagonal steps, and for each step whether it is straight.
using Rank = std::tuple<Cost, int, int, std::string>;

// Goes through all paths of a map of nine cells that visit no cell twice.
class AllPaths {
 public:
  AllPaths(const GridMap& map, CornerRule rule) : map_(map), rule_(rule) {}

  // Whether no path from `from` to `to` comes before the one over the centre.
  bool IsCanonicalOverCentre(Cell from, Cell to) {
    to_ = to;
    limit_ = Extended(Extended({}, from, kCentre), kCentre, to);
    visited_ = {from};
    return !FindsEarlier({});
  }

 private:
  Rank Extended(Rank rank, Cell from, Cell to) const {
    const bool is_straight = from.x == to.x || from.y == to.y;
    std::get<0>(rank) += is_straight ? map_.StraightCost(to) : map_.DiagonalCost(to);
    std::get<1>(rank) += 1;
    std::get<2>(rank) += is_straight ? 0 : 1;
    std::get<3>(rank) += is_straight ? 's' : 'd';
    return rank;
  }

  bool FindsEarlier(const Rank& rank) {
    const Cell at = visited_.back();
    if (at == to_ || !(rank < limit_)) {
      return at == to_ && rank < limit_;
    }
    for (const Cell offset : kSteps) {
      const Cell next = {at.x + offset.x, at.y + offset.y};
      if (!IsLegalStep(map_, rule_, at, next) ||
          std::find(visited_.begin(), visited_.end(), next) != visited_.end()) {
        continue;
      }
      visited_.push_back(next);
      const bool found = FindsEarlier(Extended(rank, at, next));
      visited_.pop_back();
      if (found) {
        return true;
      }
    }
    return false;
  }

  const GridMap& map_;
  const CornerRule rule_;
  Cell to_;
  Rank limit_;
  std::vector<Cell> visited_;
};

TEST(CanonicalStepsTest, AgreesWithAllPathsThroughNineCells) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    GridSettings settings;
    settings.diagonal_cost = 1.0 + 0.1 * generator.Between(0, 10);
    settings.terrains = {{.symbol = '.', .name = "a", .cost = 1.0},
                         {.symbol = 'b', .name = "b", .cost = 0.1 * generator.Between(1, 20)},
                         {.symbol = 'c', .name = "c", .cost = generator.Chance(0.1) ? 1000.0 : 2.0}};
    std::vector<std::string> rows(3, "...");
    for (std::string& row : rows) {
      for (char& cell : row) {
        cell = ".bc#"[generator.Between(0, 3)];
      }
    }
    rows[1][1] = '.';
    GridMap map = DrawMap(rows, settings);
    const bool has_own_costs = seed % 3 == 0;
    if (has_own_costs) {
      map = generator.WithStepCostsChanged(map);
    }
    const Neighbourhood around(map, kCentre);
    const NearbyCosts costs(map, kCentre);
    for (const CornerRule rule : kRules) {
      AllPaths paths(map, rule);
      for (unsigned d = 0; d < kDirectionCount; ++d) {
        const auto arrival = static_cast<Direction>(d);
        const Cell from = Step(kCentre, Opposite(arrival));
        if (!map.IsWalkable(from) || !IsLegalStep(map, rule, from, kCentre)) {
          continue;
        }
        unsigned expected = 0;
        for (unsigned n = 0; n < kDirectionCount; ++n) {
          const Cell to = Step(kCentre, static_cast<Direction>(n));
          if (to != from && IsLegalStep(map, rule, kCentre, to) && paths.IsCanonicalOverCentre(from, to)) {
            expected |= 1U << n;
          }
        }
        EXPECT_EQ(CanonicalSteps(costs, rule, arrival), expected)
            << "arrival " << d << " rule " << static_cast<int>(rule);
        if (!has_own_costs) {
          EXPECT_EQ(CanonicalSteps(around, map.step_costs(), rule, arrival), expected)
              << "arrival " << d << " rule " << static_cast<int>(rule);
        }
      }
    }
  }
}

TEST(CanonicalStepsTest, AmidOneCostTheyAreTheNaturalSteps) {
  for (const double diagonal_cost : {1.0, 1.4, kSqrt2, 2.0}) {
    const GridMap map = DrawMap({"...", "...", "..."}, {.diagonal_cost = diagonal_cost});
    for (unsigned d = 0; d < kDirectionCount; ++d) {
      const auto arrival = static_cast<Direction>(d);
      EXPECT_EQ(CanonicalSteps({map, kCentre}, map.step_costs(), CornerRule::kNoCornerCutting, arrival),
                NaturalSteps(arrival))
          << d << " at " << diagonal_cost;
    }
  }
}

bool AreNatural(const NearbyCosts& costs, std::initializer_list<Direction> arrivals) {
  return std::ranges::all_of(arrivals, [&](Direction arrival) {
    return costs.around[static_cast<std::size_t>(Opposite(arrival))].straight != 0 &&
           std::ranges::all_of(kRules, [&](CornerRule rule) {
             return CanonicalSteps(costs, rule, arrival) == NaturalSteps(arrival);
           });
  });
}

// By the steps after each arrival; all cells of a tile are judged at once.
TEST(PlainCellsTest, ArePlainWhereTheCanonicalStepsAreTheNaturalOnes) {
  using enum Direction;
  int plain_cells = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Generator generator(seed);
    GridMap map = generator.Map({.max_side = seed % 3 == 0 ? 140 : 20, .max_cells = 4000, .weighted = true});
    if (seed % 2 == 0) {
      map = generator.WithStepCostsChanged(map);
    }
    for (int y = 0; y < map.height(); ++y) {
      for (int x = 0; x < map.width(); ++x) {
        const NearbyCosts costs(map, {x, y});
        const bool may_be = map.IsWalkable({x, y}) && (!costs.has_own || costs.IsUniform());
        const auto are_alike = [&](Direction a, Direction b) {
          return costs.around[static_cast<std::size_t>(a)].straight == costs.centre.straight &&
                 costs.around[static_cast<std::size_t>(b)].straight == costs.centre.straight;
        };
        const Plainness expected{
            .along_row = may_be && are_alike(kEast, kWest) && AreNatural(costs, {kEast, kWest}),
            .along_column = may_be && are_alike(kNorth, kSouth) && AreNatural(costs, {kNorth, kSouth}),
            .diagonally = may_be && AreNatural(costs, {kNorthEast, kSouthEast, kSouthWest, kNorthWest})};
        ASSERT_TRUE(PlainnessAt(map.plain_cells(), map, {x, y}) == expected)
            << "seed " << seed << " at " << x << ", " << y;
        plain_cells += expected.along_row || expected.diagonally ? 1 : 0;
      }
    }
  }
  EXPECT_GT(plain_cells, 1000);
}

}  // namespace
}  // namespace waystar::core
