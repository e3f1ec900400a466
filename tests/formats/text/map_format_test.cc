#include "server/formats/text/map_format.h"

#include "gmock/gmock.h"
#include "server/formats/text/grid_overrides.h"
#include "server/formats/text/rows.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::waystar::testing::IsError;
using ::waystar::testing::kInvalid;

TEST(MapFormatTest, WritesWhatItCanSay) {
  const auto map = ParseRows({"..#"}, {}, {});
  ASSERT_TRUE(map.ok()) << map.status();
  EXPECT_EQ(*FormatMap(MapFormat::kText, *map), "..#\n");
  for (const MapFormat format :
       {MapFormat::kTiled, MapFormat::kLdtk, MapFormat::kImage, MapFormat::kGeoJson}) {
    EXPECT_THAT(FormatMap(format, *map),
                IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kNotExpressible, "format"));
  }
}

TEST(RowsTest, NamesTheRowAtFault) {
  EXPECT_THAT(ParseRows({"...", ".."}, {}, {}), IsError(kInvalid, ErrorReason::kBadRow, "rows[1]"));
  EXPECT_THAT(ParseRows({"...", "...", ".~."}, {}, {}),
              IsError(kInvalid, ErrorReason::kUnknownTerrain, "rows[2]"));
  EXPECT_THAT(ParseRows({}, {}, {}), IsError(kInvalid, ErrorReason::kBadSize, "rows"));
  EXPECT_THAT(ParseRows({""}, {}, {}), IsError(kInvalid, ErrorReason::kBadSize, "rows"));
}

TEST(GridOverridesTest, NamesTheOverrideAtFault) {
  GridOverrides overrides;
  overrides.terrains.push_back({.symbol = '~', .cost = 2.0});
  overrides.terrains.push_back({.symbol = '=', .cost = 0.0});
  EXPECT_THAT(ApplyOverrides({}, overrides), IsError(kInvalid, ErrorReason::kBadTerrain, "terrains[1].cost"));
  overrides.terrains[1] = {.symbol = '~', .cost = 3.0};
  EXPECT_THAT(ApplyOverrides({}, overrides),
              IsError(kInvalid, ErrorReason::kBadTerrain, "terrains[1].symbol"));
  overrides.terrains[1] = {.symbol = '@'};
  EXPECT_THAT(ApplyOverrides({}, overrides),
              IsError(kInvalid, ErrorReason::kBadTerrain, "terrains[1].symbol"));
}

TEST(GridOverridesTest, GroundMayBeRedefined) {
  GridOverrides overrides;
  overrides.terrains.push_back({.symbol = '.', .cost = 2.0});
  const auto settings = ApplyOverrides({}, overrides);
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->terrains, (std::vector<Terrain>{{.symbol = '.', .name = "ground", .cost = 2.0}}));
}

}  // namespace
}  // namespace waystar::core
