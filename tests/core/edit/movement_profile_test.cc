#include "server/core/grid/map/movement_profile.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::waystar::testing::DrawMap;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::kInvalid;

GridSettings TwoTerrains() {
  GridSettings settings;
  settings.terrains.push_back({.symbol = '~', .name = "water", .impassable = true});
  return settings;
}

void ExpectBad(const MovementProfile& profile, ErrorReason reason, const std::string& field) {
  EXPECT_THAT(absl::StatusOr<int>(CheckProfile(profile, TwoTerrains())), IsError(kInvalid, reason, field));
}

TEST(MovementProfileTest, NamesWhatIsWrong) {
  ExpectBad({.footprint = 0}, ErrorReason::kBadValue, "footprint");
  ExpectBad({.footprint = 33}, ErrorReason::kBadValue, "footprint");
  ExpectBad({.terrain_costs = {{'.', 1.0}, {'?', 1.0}}}, ErrorReason::kUnknownTerrain,
            "terrain_costs[1].terrain");
  for (const double cost : {0.0, -1.0, 1001.0, std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()}) {
    ExpectBad({.terrain_costs = {{'~', cost}}}, ErrorReason::kBadValue, "terrain_costs[0].cost");
  }
  ExpectBad({.terrain_costs = {{'~', 1.0}, {'~', 2.0}}}, ErrorReason::kBadProfile,
            "terrain_costs[1].terrain");
  ExpectBad({.terrain_costs = {{'~', 1.0}}, .forbidden_terrains = {'~'}}, ErrorReason::kBadProfile,
            "forbidden_terrains[0]");
  ExpectBad({.forbidden_terrains = {'#'}}, ErrorReason::kUnknownTerrain, "forbidden_terrains[0]");
  ExpectBad({.forbidden_terrains = {'.'}}, ErrorReason::kBadProfile, "forbidden_terrains");
  ExpectBad({.required_tags = std::vector<std::string>(17, "a")}, ErrorReason::kBadProfile, "required_tags");
  ExpectBad({.required_tags = {"a", ""}}, ErrorReason::kBadProfile, "required_tags[1]");
  ExpectBad({.required_tags = {std::string(64, 'a')}}, ErrorReason::kBadProfile, "required_tags[0]");
  ExpectBad({.required_tags = {"a b"}}, ErrorReason::kBadProfile, "required_tags[0]");
  ExpectBad({.required_tags = {"a", "b", "a"}}, ErrorReason::kBadProfile, "required_tags[2]");
  EXPECT_TRUE(CheckProfile({.terrain_costs = {{'~', 1.0}}, .forbidden_terrains = {'.'}}, TwoTerrains()).ok());
}

TEST(MovementProfileTest, EditsPutAndRemoveProfiles) {
  const GridMap map = DrawMap({".~."}, TwoTerrains());
  const NamedProfile boat{"boat", {.terrain_costs = {{'~', 1.0}}, .forbidden_terrains = {'.'}}};
  const NamedProfile tank{"Tank:1", {.footprint = 2}};
  const auto put = ApplyEdits(map, {PutProfile{tank}, PutProfile{boat}});
  ASSERT_THAT(put, IsOk());
  EXPECT_EQ(put->summary.changed_cells, 0);
  EXPECT_THAT(put->map.profiles(), ::testing::ElementsAre(tank, boat));
  EXPECT_TRUE(map.profiles().empty());
  NamedProfile faster = boat;
  faster.profile.terrain_costs.front().cost = 0.5;
  const auto replaced = ApplyEdits(put->map, {PutProfile{faster}, RemoveProfile{"Tank:1"}});
  ASSERT_THAT(replaced, IsOk());
  EXPECT_THAT(replaced->map.profiles(), ::testing::ElementsAre(faster));
  EXPECT_EQ(FindProfile(replaced->map.profiles(), "Tank:1"), nullptr);
}

TEST(MovementProfileTest, BadEditsAreNamedAndChangeNothing) {
  const GridMap map = DrawMap({".~."}, TwoTerrains());
  EXPECT_THAT(ApplyEdits(map, {BlockCells{{.cells = {{0, 0}}}}, RemoveProfile{"tank"}}),
              IsError(absl::StatusCode::kNotFound, ErrorReason::kProfileNotFound, "edits[1].remove_profile"));
  EXPECT_THAT(ApplyEdits(map, {PutProfile{{"a b", {}}}}),
              IsError(kInvalid, ErrorReason::kBadProfile, "edits[0].put_profile.name"));
  EXPECT_THAT(ApplyEdits(map, {PutProfile{{"tank", {.footprint = 99}}}}),
              IsError(kInvalid, ErrorReason::kBadValue, "edits[0].put_profile.profile.footprint"));
  std::vector<Edit> many;
  for (std::size_t i = 0; i <= kMaxProfiles; ++i) {
    many.push_back(PutProfile{{absl::StrCat("p", i), {}}});
  }
  EXPECT_THAT(ApplyEdits(map, many),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kTooManyProfiles,
                      absl::StrCat("edits[", kMaxProfiles, "].put_profile.name")));
}

}  // namespace
}  // namespace waystar::core
