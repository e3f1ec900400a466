#include "server/core/grid/cells/grid_settings.h"

#include <cmath>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

GridSettings WithTerrain(Terrain terrain) {
  GridSettings settings;
  settings.terrains.push_back(std::move(terrain));
  return settings;
}

TEST(GridSettingsTest, DefaultsAreFine) { EXPECT_THAT(CheckGridSettings(GridSettings{}), IsOk()); }

TEST(GridSettingsTest, RejectsDiagonalCostOutOfRange) {
  for (const double cost : {0.999, 2.001, -1.0, 0.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(CheckGridSettings({.diagonal_cost = cost}),
                IsError(kInvalid, ErrorReason::kBadValue, "squares.diagonal_cost"))
        << cost;
  }
  EXPECT_THAT(CheckGridSettings({.diagonal_cost = 1.0}), IsOk());
  EXPECT_THAT(CheckGridSettings({.diagonal_cost = 2.0}), IsOk());
}

TEST(GridSettingsTest, RejectsBadTerrains) {
  for (const double cost :
       {0.0, -1.0, 0.0009, 1000.1, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(CheckGridSettings(WithTerrain({.symbol = '~', .name = "river", .cost = cost})),
                IsError(kInvalid, ErrorReason::kBadTerrain, "terrains[1].cost"))
        << cost;
  }
  for (const char symbol : {'#', '@', 'O', ' ', '\n', '\0', '\x80'}) {
    EXPECT_THAT(CheckGridSettings(WithTerrain({.symbol = symbol, .name = "river"})),
                IsError(kInvalid, ErrorReason::kBadTerrain, "terrains[1].symbol"))
        << static_cast<int>(symbol);
  }
  for (const std::string& name :
       {std::string(), std::string(64, 'a'), std::string("two words"), std::string("ü")}) {
    EXPECT_THAT(CheckGridSettings(WithTerrain({.symbol = '~', .name = name})),
                IsError(kInvalid, ErrorReason::kBadTerrain, "terrains[1].name"))
        << name;
  }
  EXPECT_THAT(CheckGridSettings(WithTerrain({.symbol = '.', .name = "grass"})),
              IsError(kInvalid, ErrorReason::kBadTerrain, "terrains[1].symbol"));
}

TEST(StepCostsTest, DecimalCostsAreExact) {
  GridSettings settings{.diagonal_cost = 1.4};
  settings.terrains.push_back({.symbol = '=', .name = "road", .cost = 0.5});
  const StepCosts costs(settings);
  EXPECT_EQ(costs.straight[0], 100'000'000);
  EXPECT_EQ(costs.diagonal[0], 140'000'000);
  EXPECT_EQ(costs.straight[1], 50'000'000);
  EXPECT_EQ(costs.diagonal[1], 70'000'000);
  EXPECT_EQ(costs.min_straight, 50'000'000);
  EXPECT_EQ(costs.min_diagonal, 70'000'000);
  EXPECT_FALSE(costs.uniform);
}

TEST(StepCostsTest, ImpassableTerrainDoesNotMakeCostsUneven) {
  GridSettings settings;
  settings.terrains.push_back({.symbol = 'T', .name = "trees", .cost = 0.1, .impassable = true});
  const StepCosts costs(settings);
  EXPECT_TRUE(costs.uniform);
  EXPECT_EQ(costs.min_straight, kCostScale);
}

}  // namespace
}  // namespace waystar::core
