// Movement profiles over the wire.

#include <string>

#include "gmock/gmock.h"
#include "tests/rpc/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::PathRequest;
using ::waystar::testing::TestServer;
using ::waystar::testing::Update;

v1::GridOptions Sea() {
  v1::GridOptions grid;
  v1::Terrain& water = *grid.add_terrains();
  water.set_symbol("~");
  water.set_name("water");
  water.set_impassable(true);
  v1::Terrain& swamp = *grid.add_terrains();
  swamp.set_symbol("s");
  swamp.set_cost(3);
  return grid;
}

void SetCost(v1::MovementProfile& profile, const std::string& terrain, double cost) {
  v1::TerrainCost& added = *profile.add_terrain_costs();
  added.set_terrain(terrain);
  added.set_cost(cost);
}

v1::UpdateObstaclesRequest PutRequest(const std::string& map, const std::string& name,
                                      const v1::MovementProfile& profile) {
  v1::UpdateObstaclesRequest request;
  request.set_map(map);
  v1::NamedProfile& named = *request.add_edits()->mutable_put_profile()->mutable_named();
  named.set_name(name);
  *named.mutable_profile() = profile;
  return request;
}

class ProfileTest : public ::testing::Test {
 protected:
  TestServer server_;
};

TEST_F(ProfileTest, FootprintAndCornerRuleAreTheAgents) {
  server_.Create("gate", {".....",  //
                          "..#..",  //
                          "#...#",  //
                          "#####"});
  v1::FindPathRequest query = PathRequest("gate", CellAt(1, 1), CellAt(2, 2));
  query.mutable_profile()->set_corner_rule(v1::CORNER_RULE_ONE_SIDE_FREE);
  EXPECT_NEAR(server_.Find(query).cost(), 1.4142135, 1e-6);
  query.mutable_profile()->set_footprint(2);
  EXPECT_THAT(server_.client().FindPath(query),
              IsRefused(absl::StatusCode::kFailedPrecondition, "START_BLOCKED", "start"));
}

TEST_F(ProfileTest, ValidationGoesByTheSameProfile) {
  server_.Create("gate", {"...", ".#.", "..."});
  v1::ValidatePathRequest request;
  request.set_map("gate");
  *request.add_points() = CellAt(0, 0);
  *request.add_points() = CellAt(1, 0);
  EXPECT_TRUE(server_.client().ValidatePath(request)->walkable());
  request.mutable_profile()->set_footprint(2);
  EXPECT_FALSE(server_.client().ValidatePath(request)->walkable());
}

TEST_F(ProfileTest, MapsTellTheirProfiles) {
  v1::GridOptions grid = Sea();
  v1::NamedProfile& hovercraft = *grid.add_profiles();
  hovercraft.set_name("hovercraft");
  SetCost(*hovercraft.mutable_profile(), "~", 1);
  hovercraft.mutable_profile()->add_forbidden_terrains("s");
  v1::NamedProfile& tank = *grid.add_profiles();
  tank.set_name("tank");
  tank.mutable_profile()->set_footprint(2);
  tank.mutable_profile()->set_no_diagonals(true);
  server_.Create("coast", {"..~..", "....."}, grid);
  v1::FindPathRequest query = PathRequest("coast", CellAt(0, 0), CellAt(4, 0));
  query.set_profile_name("hovercraft");
  EXPECT_DOUBLE_EQ(server_.Find(query).cost(), 4.0);

  v1::GetMapRequest get;
  get.set_map("coast");
  const auto info = server_.client().GetMap(get);
  ASSERT_TRUE(info.ok());
  ASSERT_EQ(info->info().grid().profiles_size(), 2);
  EXPECT_EQ(info->info().grid().profiles(0).name(), "hovercraft");
  EXPECT_EQ(info->info().grid().profiles(0).profile().forbidden_terrains(0), "s");
  EXPECT_EQ(info->info().grid().profiles(1).profile().footprint(), 2);
  EXPECT_TRUE(info->info().grid().profiles(1).profile().no_diagonals());
}

TEST_F(ProfileTest, EditsPutReplaceAndRemoveProfiles) {
  server_.Create("coast", {"..~..", "....."}, Sea());
  v1::FindPathRequest query = PathRequest("coast", CellAt(0, 0), CellAt(4, 0));
  query.set_profile_name("boat");
  EXPECT_THAT(server_.client().FindPath(query),
              IsRefused(absl::StatusCode::kNotFound, "PROFILE_NOT_FOUND", "profile_name"));
  v1::MovementProfile boat;
  SetCost(boat, "~", 1);
  Update(server_, PutRequest("coast", "boat", boat));
  EXPECT_DOUBLE_EQ(server_.Find(query).cost(), 4.0);
  boat.mutable_terrain_costs(0)->set_cost(1.5);
  Update(server_, PutRequest("coast", "boat", boat));
  EXPECT_DOUBLE_EQ(server_.Find(query).cost(), 4.5);
  v1::UpdateObstaclesRequest remove;
  remove.set_map("coast");
  remove.add_edits()->mutable_remove_profile()->set_name("boat");
  Update(server_, remove);
  EXPECT_THAT(server_.client().FindPath(query),
              IsRefused(absl::StatusCode::kNotFound, "PROFILE_NOT_FOUND", "profile_name"));
  EXPECT_THAT(server_.client().UpdateObstacles(remove),
              IsRefused(absl::StatusCode::kNotFound, "PROFILE_NOT_FOUND", "edits[0].remove_profile.name"));
}

TEST_F(ProfileTest, ProfilesTravelWithTheMapsFile) {
  v1::GridOptions grid = Sea();
  grid.add_profiles()->set_name("boat");
  SetCost(*grid.mutable_profiles(0)->mutable_profile(), "~", 1.25);
  server_.Create("coast", {"..~.."}, grid);
  v1::ExportMapRequest request;
  request.set_map("coast");
  const auto file = server_.client().ExportMap(request);
  ASSERT_TRUE(file.ok());
  EXPECT_THAT(file->bytes, ::testing::HasSubstr("profile boat ~ 1.25\n"));
  v1::CreateMapRequest create;
  create.set_map("copy");
  create.set_data(file->bytes);
  const auto copy = server_.client().CreateMap(create);
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(copy->info().grid().profiles(0).profile().terrain_costs(0).cost(), 1.25);
}

TEST_F(ProfileTest, BadProfilesNameTheFieldAndChangeNothing) {
  server_.Create("coast", {"..~.."}, Sea());
  v1::FindPathRequest query = PathRequest("coast", CellAt(0, 0), CellAt(4, 0));
  const auto expect = [&](const v1::MovementProfile& profile, const std::string& reason,
                          const std::string& field) {
    *query.mutable_profile() = profile;
    EXPECT_THAT(server_.client().FindPath(query), IsRefused(kInvalid, reason, "profile." + field));
    EXPECT_THAT(server_.client().UpdateObstacles(PutRequest("coast", "p", profile)),
                IsRefused(kInvalid, reason, "edits[0].put_profile.named.profile." + field));
    v1::CreateMapRequest create;
    create.set_map("other");
    create.add_rows("..");
    *create.mutable_grid() = Sea();
    v1::NamedProfile& named = *create.mutable_grid()->add_profiles();
    named.set_name("p");
    *named.mutable_profile() = profile;
    EXPECT_THAT(server_.client().CreateMap(create),
                IsRefused(kInvalid, reason, "grid.profiles[0].profile." + field));
  };
  v1::MovementProfile profile;
  SetCost(profile, "?", 1);
  expect(profile, "UNKNOWN_TERRAIN", "terrain_costs[0].terrain");
  profile.mutable_terrain_costs(0)->set_terrain("");
  expect(profile, "UNKNOWN_TERRAIN", "terrain_costs[0].terrain");
  profile.Clear();
  profile.add_forbidden_terrains(".");
  profile.add_forbidden_terrains("s");
  expect(profile, "BAD_PROFILE", "forbidden_terrains");
  profile.Clear();
  profile.set_footprint(-1);
  expect(profile, "BAD_VALUE", "footprint");

  query.set_profile_name("no such name");
  EXPECT_THAT(server_.client().FindPath(query), IsRefused(kInvalid, "BAD_PROFILE", "profile_name"));
  v1::UpdateObstaclesRequest nameless;
  nameless.set_map("coast");
  nameless.add_edits()->mutable_put_profile();
  EXPECT_THAT(server_.client().UpdateObstacles(nameless),
              IsRefused(kInvalid, "MISSING_FIELD", "edits[0].put_profile.named"));
  EXPECT_EQ(server_.Find(PathRequest("coast", CellAt(0, 0), CellAt(1, 0))).revision(), 1U);
}

}  // namespace
}  // namespace waystar
