// Named profiles of navigation meshes: how they are put, removed and kept, and what queries by name answer.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "server/core/codec/map_image.h"
#include "server/core/elements/profile_table.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "tests/core/mesh/map/drawn_mesh.h"
#include "tests/core/query/route_test.h"
#include "tests/testing/random.h"
#include "tests/testing/seeds.h"
#include "tests/testing/status_codes.h"

namespace waystar::core {
namespace {

class MeshProfilesTest : public RouteTest {
 protected:
  // Creates a mesh, or replaces it.
  void Start(const std::string& id, NavMesh mesh) {
    static_cast<void>(store_.Delete(id));
    ASSERT_THAT(store_.Create(id, std::move(mesh), absl::UnixEpoch()), IsOk());
  }

  absl::Status Put(const std::string& id, const MeshProfile& profile) {
    return store_.UpdateAndWait(id, {.edits = {PutMeshProfile{profile}}}).status();
  }
};

// A square of this side whose right half is water.
NavMesh Shore(double side) {
  MeshSpec spec = DrawMesh(
      {{0, 0, 0}, {side / 2, 0, 0}, {side, 0, 0}, {side, side, 0}, {side / 2, side, 0}, {0, side, 0}},
      {{0, 1, 4, 5}, {1, 2, 3, 4}});
  spec.polygons[1].area = 1;
  spec.terrains = {DefaultMeshTerrain(0), {.name = "water", .tags = {"wet"}}};
  return MeshOf(std::move(spec));
}

RouteQuery Across(const std::string& profile) {
  RouteQuery query = {.start = {.position = WorldPoint{1, 1}}, .goals = {{.position = WorldPoint{7, 1}}}};
  query.agent.profile_name = profile;
  return query;
}

TEST_F(MeshProfilesTest, QueriesNameThoseOfTheRevision) {
  Start("shore", Shore(8));
  EXPECT_EQ(Told("shore", Across("boat")), "PROFILE_NOT_FOUND agent.profile_name");
  ASSERT_THAT(Put("shore", {.name = "boat", .ground = {.costs = {{"water", 2.0}}}}), IsOk());
  EXPECT_EQ(Told("shore", Across("boat")), "9: ");
  ASSERT_THAT(Put("shore", {.name = "boat", .ground = {.forbidden_tags = {"wet"}}}), IsOk());
  EXPECT_EQ(Told("shore", Across("boat")), "GOAL_BLOCKED goals[0]");
  Apply("shore", {RemoveProfile{"boat"}});
  EXPECT_EQ(Told("shore", Across("boat")), "PROFILE_NOT_FOUND agent.profile_name");
  EXPECT_EQ(Told("shore", Across("")), "BAD_PROFILE agent.profile_name");
}

TEST_F(MeshProfilesTest, BadOnesAreRefused) {
  Start("shore", Shore(8));
  const auto expect = [&](const MeshProfile& profile, ErrorReason reason, const std::string& field) {
    EXPECT_THAT(Put("shore", profile), IsError(kInvalid, reason, "edits[0].put_profile." + field));
  };
  expect({.name = "a b"}, ErrorReason::kBadProfile, "name");
  expect({.name = "a", .required_tags = {""}}, ErrorReason::kBadProfile, "profile.required_tags[0]");
  for (std::size_t i = 0; i < kMaxProfiles; ++i) {
    ASSERT_THAT(Put("shore", {.name = absl::StrCat("p", i)}), IsOk());
  }
  EXPECT_THAT(Put("shore", {.name = "q"}),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kTooManyProfiles,
                      "edits[0].put_profile.name"));
}

TEST_F(MeshProfilesTest, ASurfaceMayHaveNoGroundForOne) {
  Start("shore", Shore(8).WithAgentRadius(0.5).WithLarger(
                     {MeshOf(DrawMesh({{0, 0, 0}, {8, 0, 0}, {8, 8, 0}, {0, 8, 0}}, {{0, 1, 2, 3}}))
                          .WithAgentRadius(1)}));
  ASSERT_THAT(Put("shore", {.name = "fish", .ground = {.forbidden = {"ground"}}}), IsOk());
  RouteQuery query = Across("fish");
  EXPECT_EQ(Told("shore", query), "START_BLOCKED start");
  query.agent.radius = 1.0;
  EXPECT_EQ(Told("shore", query), "BAD_PROFILE agent.profile_name");
}

TEST_F(MeshProfilesTest, EachMapHasItsOwn) {
  Start("shore", Shore(8));
  Start("isle", Shore(8));
  const MeshPortal ferry = {
      .id = "ferry", .from = {2, 1, 0}, .to_map = "isle", .to = {2, 1, 0}, .tags = {"dry"}};
  Apply("shore",
        {PutMeshPortal{.portal = ferry}, PutMeshProfile{{.name = "guest", .required_tags = {"dry"}}}});
  RouteQuery query = Across("guest");
  query.goal_map = "isle";
  EXPECT_EQ(Told("shore", query), "MAP_NOT_FOUND goal_map");
  ASSERT_THAT(Put("isle", {.name = "guest"}), IsOk());
  EXPECT_EQ(Told("shore", query), "6: ");
  ASSERT_THAT(Put("shore", {.name = "guest", .required_tags = {"wet"}}), IsOk());
  EXPECT_EQ(Told("shore", query), "no way");
}

// Some leave no ground.
MeshProfile AnyMeshProfile(Random& random) {
  MeshProfile profile{.name = absl::StrCat("p", random.Between(0, 3))};
  for (const char* terrain : {"ground", "area-1", "area-2"}) {
    if (random.Chance(0.3)) {
      profile.ground.forbidden.emplace_back(terrain);
    } else if (random.Chance(0.3)) {
      profile.ground.costs.push_back({terrain, random.Between(1, 4) / 2.0});
    }
  }
  if (random.Chance(0.1)) {
    profile.ground.forbidden.emplace_back("lava");
  }
  if (random.Chance(0.2)) {
    profile.ground.forbidden_tags = {"wet", "deep"};
    profile.required_tags = {"dry"};
  }
  return profile;
}

TEST_F(MeshProfilesTest, AreAsIfSentAndKeptAsIfMadeAtOnce) {
  ForSeeds(60, [&](Random& random) {
    MeshSpec spec = BentFloors(random, 1);
    for (MeshPolygon& polygon : spec.polygons) {
      polygon.area = static_cast<std::uint8_t>(random.Between(0, 2));
    }
    const NavMesh bare = MeshOf(std::move(spec));
    Start("arena", bare);
    const auto place = [&] {
      return MiddleOf(
          bare, static_cast<PolygonNumber>(random.Between(0, static_cast<int>(bare.polygon_count()) - 1)));
    };
    std::map<std::string, MeshProfile> profiles;
    for (int step = 0; step < 8; ++step) {
      const MeshProfile profile = AnyMeshProfile(random);
      RouteQuery sent = {.start = {.position = place()}, .goals = {{.position = place()}}};
      RouteQuery by_name = sent;
      sent.agent.profile = MovementProfile{.required_tags = profile.required_tags};
      sent.agent.ground = profile.ground;
      by_name.agent.profile_name = profile.name;
      if (random.Chance(0.3)) {
        const bool is_there = profiles.erase(profile.name) > 0;
        EXPECT_EQ(store_.UpdateAndWait("arena", {.edits = {RemoveProfile{profile.name}}}).ok(), is_there);
        EXPECT_EQ(Told("arena", by_name), "PROFILE_NOT_FOUND agent.profile_name");
      } else if (const absl::Status status = Put("arena", profile); status.ok()) {
        profiles[profile.name] = profile;
        EXPECT_EQ(Told("arena", by_name), Told("arena", sent));
      } else {
        const std::string field = ErrorFieldOf(status);
        EXPECT_EQ(Told("arena", sent), absl::StrCat(ErrorReasonOf(status), " agent.",
                                                    absl::StripPrefix(field, "edits[0].put_profile.")));
      }
      MeshProfileTable table;
      for (const auto& [name, each] : profiles) {
        table.push_back(each);
      }
      const NavMesh& mesh = (*store_.Pin("arena"))->mesh();
      const NavMesh at_once = bare.WithProfiles(table);
      EXPECT_EQ(mesh.digest(), at_once.digest());
      EXPECT_EQ(mesh.digest() == bare.digest(), table.empty());
      const std::string image = EncodeImage(mesh);
      EXPECT_EQ(image, EncodeImage(at_once));
      EXPECT_EQ(std::get<NavMesh>(*DecodeImage(image)).profiles(), table);
    }
  });
}

}  // namespace
}  // namespace waystar::core
