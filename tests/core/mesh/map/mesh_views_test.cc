#include "server/core/mesh/map/mesh_views.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/error.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/edit.h"
#include "server/core/mesh/search/interval_search.h"
#include "tests/core/mesh/map/drawn_mesh.h"
#include "tests/core/mesh/search/sight_graph.h"
#include "tests/testing/random.h"
#include "tests/testing/seeds.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;

constexpr int kAreas = 4;
constexpr std::size_t kScratchBytes = std::size_t{1} << 28;

// Three squares in a row: ground, water and ground.
NavMesh River(MeshTerrain water = {.name = "water", .tags = {"wet"}}) {
  MeshSpec spec = DrawRooms({"..."});
  spec.polygons[1].area = 1;
  spec.terrains = {DefaultMeshTerrain(0), std::move(water)};
  return MeshOf(std::move(spec));
}

std::optional<MeshPlace> At(const NavMesh& mesh, double x, double y) {
  return mesh.FindNearest({.position = {x, y, 0.0}, .radius = 0.0, .height = 100.0});
}

AreaCosts Under(const NavMesh& mesh, const GroundRules& rules) {
  absl::StatusOr<AreaCosts> costs = CostsUnder(rules, mesh.terrains());
  EXPECT_THAT(costs, IsOk());
  return *costs;
}

TEST(MeshViewsTest, ForbiddenGroundIsNotThere) {
  const NavMesh mesh = River();
  const auto view = ViewUnder(mesh, Under(mesh, {.forbidden = {"water"}}));
  EXPECT_FALSE(At(*view, 1.5, 0.5));
  EXPECT_THAT(view->Polygons(), ElementsAre(0, 2));
  EXPECT_NE(view->PartOf(0), view->PartOf(2));
  EXPECT_EQ(view->AreaOf(1), 1);
  EXPECT_EQ(mesh.PartOf(0), mesh.PartOf(2));
}

TEST(MeshViewsTest, TagsDecideToo) {
  const NavMesh mesh = River();
  EXPECT_THAT(ViewUnder(mesh, Under(mesh, {.forbidden_tags = {"wet"}}))->Polygons(), ElementsAre(0, 2));
  EXPECT_THAT(ViewUnder(mesh, Under(mesh, {.allowed_tags = {"dry", "wet"}}))->Polygons(), ElementsAre(1));
}

TEST(MeshViewsTest, ImpassableGroundIsOpenForThoseWhoPayForIt) {
  const NavMesh mesh = River({.name = "lava", .is_impassable = true});
  EXPECT_FALSE(mesh.has_plain_terrains());
  EXPECT_THAT(ViewUnder(mesh, Under(mesh, {}))->Polygons(), ElementsAre(0, 2));
  EXPECT_EQ(Under(mesh, {.costs = {{"lava", 1.0}}}), mesh.costs());
}

TEST(MeshViewsTest, ClosedGroundIsNotReplacedByAnotherFloor) {
  MeshSpec spec = DrawStoreys({{"..", ".."}, {"..", ".."}});
  const NavMesh whole = MeshOf(spec);
  const MeshPlace upper = *MeshPlaceAt(whole, {0.5, 0.5, 4.0});
  spec.polygons[upper.polygon].area = 1;
  const NavMesh mesh = MeshOf(spec);
  const auto view = ViewUnder(mesh, Under(mesh, {.forbidden = {"area-1"}}));
  EXPECT_FALSE(MeshPlaceAt(*view, {0.5, 0.5, 4.0}));
  EXPECT_TRUE(MeshPlaceAt(*view, {0.5, 0.5, 0.0}));
}

TEST(MeshViewsTest, RefusesRulesThatDoNotFit) {
  const NavMesh mesh = River();
  const auto expect = [&](const GroundRules& rules, ErrorReason reason, const std::string& field) {
    EXPECT_THAT(CostsUnder(rules, mesh.terrains()).status(),
                IsError(absl::StatusCode::kInvalidArgument, reason, field));
  };
  expect({.forbidden = {"lava"}}, ErrorReason::kUnknownTerrain, "forbidden_terrains[0]");
  expect({.costs = {{"lava", 1.0}}}, ErrorReason::kUnknownTerrain, "terrain_costs[0].terrain");
  expect({.costs = {{"water", 0.0}}}, ErrorReason::kBadValue, "terrain_costs[0].cost");
  expect({.costs = {{"water", std::nan("")}}}, ErrorReason::kBadValue, "terrain_costs[0].cost");
  expect({.costs = {{"water", 2.0}}, .forbidden = {"water"}}, ErrorReason::kBadProfile,
         "forbidden_terrains[0]");
  expect({.forbidden = {"water", "ground"}}, ErrorReason::kBadProfile, "forbidden_terrains");
  expect({.allowed_tags = {"two words"}}, ErrorReason::kBadProfile, "ground_tags[0]");
  expect({.forbidden_tags = {""}}, ErrorReason::kBadProfile, "forbidden_ground_tags[0]");
}

TEST(MeshViewsTest, TerrainsDoNotHaveNamesOfDefaults) {
  MeshSpec spec = DrawRooms({".."});
  spec.polygons[1].area = 1;
  spec.terrains = {{.name = "area-1"}};
  EXPECT_THAT(NavMesh::Create(spec),
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadTerrain, "terrains[1].name"));
}

TEST(MeshViewsTest, ViewsAreSharedAndFollowEdits) {
  const NavMesh mesh = River();
  const AreaCosts costs = Under(mesh, {.forbidden = {"water"}});
  const auto view = ViewUnder(mesh, costs);
  EXPECT_EQ(ViewUnder(mesh, costs), view);
  MeshBatchEditor editor(mesh);
  const PutObstacle put{.obstacle = {.id = "crate", .shape = {.rectangles = {{0, 0, 1, 1}}}}};
  ASSERT_THAT(editor.Apply({{PutMeshObstacle{.put = put}}}, absl::UnixEpoch()), IsOk());
  const NavMesh edited = std::move(editor).Finish();
  EXPECT_EQ(WorkOfView(edited, costs), 1U);
  EXPECT_THAT(ViewUnder(edited, costs)->Polygons(), ElementsAre(2));
  EXPECT_THAT(view->Polygons(), ElementsAre(0, 2));
}

// Returns the spec without the polygons of closed areas.
MeshSpec Without(const MeshSpec& spec, const AreaCosts& costs) {
  MeshSpec left;
  left.vertices = spec.vertices;
  std::size_t first = 0;
  for (const MeshPolygon& polygon : spec.polygons) {
    if (costs[polygon.area] > 0.0) {
      left.AddPolygon(absl::MakeConstSpan(spec.corners).subspan(first, polygon.corner_count), polygon.area);
    }
    first += polygon.corner_count;
  }
  return left;
}

Edit RandomEdit(int id, Random& random) {
  const auto coordinate = [&] { return random.Between(-500, 7500) / 1000.0; };
  Obstacle obstacle{.id = absl::StrCat("o", id)};
  obstacle.shape.discs.push_back({{coordinate(), coordinate()}, random.Between(100, 1500) / 1000.0});
  return PutMeshObstacle{.put = {.obstacle = obstacle, .replace = true}};
}

TEST(MeshViewsPropertyTest, ViewsAreMeshesWithoutTheClosedGround) {
  int found = 0;
  ForSeeds(150, [&](Random& random) {
    MeshSpec spec = random.Between(0, 1) == 0 ? BentFloors(random, random.Between(1, 2))
                                              : DrawRooms(RandomRooms(random), &random);
    for (MeshPolygon& polygon : spec.polygons) {
      polygon.area = static_cast<std::uint8_t>(random.Between(0, kAreas - 1));
    }
    NavMesh mesh = MeshOf(spec);
    AreaCosts costs = mesh.costs();
    costs[static_cast<std::size_t>(random.Between(0, kAreas - 1))] = 0.0;
    costs[static_cast<std::size_t>(random.Between(0, kAreas - 1))] = 0.0;
    const MeshSpec left = Without(spec, costs);
    if (left.polygons.empty() || left.polygons.size() == spec.polygons.size()) {
      return;
    }
    NavMesh expected = MeshOf(left);
    MeshScratch scratch(kScratchBytes);
    for (int step = 0; step < 3; ++step) {
      const auto view = ViewUnder(mesh, costs);
      if (!view->Polygons().empty()) {
        for (int i = 0; i < 8; ++i) {
          const MeshPlace start = RandomPlace(*view, random);
          const MeshPlace goal = RandomPlace(*view, random);
          const auto same = [&](const MeshPlace& place) {
            const MeshReach reach{
                .position = place.point, .radius = kMeshTolerance, .height = kMeshTolerance};
            return expected.FindNearest(reach);
          };
          const std::optional<MeshPlace> from = same(start);
          const std::optional<MeshPlace> to = same(goal);
          ASSERT_TRUE(from && to) << Between(start, goal.point);
          const double length = LengthOf(*view, start, goal, scratch);
          const double wanted = LengthOf(expected, *from, *to, scratch);
          ASSERT_EQ(std::isfinite(length), std::isfinite(wanted)) << Between(start, goal.point);
          if (std::isfinite(wanted)) {
            EXPECT_NEAR(length, wanted, 1e-9) << Between(start, goal.point);
            ++found;
          }
        }
      }
      const Edit edit = RandomEdit(random.Between(0, 2), random);
      MeshBatchEditor edits(mesh);
      MeshBatchEditor same_edits(expected);
      ASSERT_THAT(edits.Apply({&edit, 1}, absl::UnixEpoch()), IsOk());
      ASSERT_THAT(same_edits.Apply({&edit, 1}, absl::UnixEpoch()), IsOk());
      mesh = std::move(edits).Finish();
      expected = std::move(same_edits).Finish();
    }
  });
  EXPECT_GT(found, 50);
}

}  // namespace
}  // namespace waystar::core
