#include "server/formats/build/build_settings.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "tests/testing/status_matchers.h"

namespace waystar::level {
namespace {

using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;

TEST(BuildSettingsTest, HasTheDefaultsOfTheContract) {
  const auto settings = MakeSettings({});
  ASSERT_THAT(settings, IsOk());
  EXPECT_EQ(settings->cell_size, 0.3);
  EXPECT_DOUBLE_EQ(settings->cell_height, 0.2);
  EXPECT_EQ(settings->radius_cells, 2);
  EXPECT_EQ(settings->height_cells, 10);
  EXPECT_EQ(settings->climb_cells, 4);
  EXPECT_EQ(settings->tile_cells, 64);
  EXPECT_EQ(settings->min_region_cells, 64);
}

TEST(BuildSettingsTest, MakesCellsHalfOfTheRadius) {
  const auto settings = MakeSettings({.agent_radius = 0.4});
  ASSERT_THAT(settings, IsOk());
  EXPECT_EQ(settings->cell_size, 0.2);
  EXPECT_EQ(settings->radius_cells, 2);
  const auto point = MakeSettings({.agent_radius = 0.0});
  ASSERT_THAT(point, IsOk());
  EXPECT_EQ(point->cell_size, 0.3);
  EXPECT_EQ(point->radius_cells, 0);
}

TEST(BuildSettingsTest, RoundsToWholeVoxelsOnTheSafeSide) {
  const auto settings = MakeSettings({.agent_radius = 0.61,
                                      .agent_height = 1.01,
                                      .agent_climb = 0.59,
                                      .cell_size = 0.3,
                                      .cell_height = 0.2});
  ASSERT_THAT(settings, IsOk());
  EXPECT_EQ(settings->radius_cells, 3);
  EXPECT_EQ(settings->height_cells, 6);
  EXPECT_EQ(settings->climb_cells, 2);
  const auto whole = MakeSettings({.agent_climb = 0.3, .cell_height = 0.1});
  ASSERT_THAT(whole, IsOk());
  EXPECT_EQ(whole->climb_cells, 3) << "though 0.3 / 0.1 is less than 3";
}

TEST(BuildSettingsTest, RefusesWhatIsOutOfRange) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<std::string, BuildOptions>> bad = {
      {"agent_radius", {.agent_radius = -0.1}}, {"agent_radius", {.agent_radius = 1001.0}},
      {"agent_radius", {.agent_radius = kNan}}, {"agent_radius", {.agent_radius = 40.0, .cell_size = 0.3}},
      {"agent_height", {.agent_height = 0.0}},  {"agent_height", {.agent_height = 60.0, .cell_height = 0.2}},
      {"agent_climb", {.agent_climb = -1.0}},   {"agent_climb", {.agent_climb = 1e30}},
      {"max_slope", {.max_slope = 90.0}},       {"max_slope", {.max_slope = -1.0}},
      {"cell_size", {.cell_size = 0.0}},        {"cell_size", {.cell_size = kNan}},
      {"cell_height", {.cell_height = -1.0}},   {"tile_cells", {.tile_cells = 15}},
      {"tile_cells", {.tile_cells = 257}},      {"min_region_area", {.min_region_area = -1.0}},
  };
  for (const auto& [field, options] : bad) {
    EXPECT_THAT(MakeSettings(options),
                IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadValue, field));
  }
}

}  // namespace
}  // namespace waystar::level
