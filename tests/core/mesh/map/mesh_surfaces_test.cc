#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/error.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/edit.h"
#include "server/core/mesh/map/mesh_views.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/mesh_ray.h"
#include "tests/core/mesh/map/drawn_mesh.h"
#include "tests/core/mesh/search/sight_graph.h"
#include "tests/testing/random.h"
#include "tests/testing/seeds.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kSurfaceScratchBytes = std::size_t{1} << 28;

// A square of this side, for agents of this radius.
NavMesh Floor(double side, double radius) {
  return MeshOf(DrawMesh({{0, 0, 0}, {side, 0, 0}, {side, side, 0}, {0, side, 0}}, {{0, 1, 2, 3}}))
      .WithAgentRadius(radius);
}

NavMesh Edited(const NavMesh& mesh, absl::Span<const Edit> edits) {
  MeshBatchEditor editor(mesh);
  EXPECT_THAT(editor.Apply(edits, absl::UnixEpoch()), IsOk());
  return std::move(editor).Finish();
}

Edit PutCrate(const std::string& id, double x, double y, double radius) {
  return PutMeshObstacle{
      .put = {.obstacle = {.id = id, .shape = {.discs = {{{x, y}, radius}}}}, .replace = true}};
}

TEST(MeshSurfacesTest, ChoosesTheSmallestSurfaceForAgentsAsLarge) {
  const NavMesh mesh = Floor(8, 0.3).WithLarger({Floor(8, 0.7), Floor(8, 2)});
  const absl::Span<const NavMesh> larger = mesh.larger();
  EXPECT_EQ(mesh.SurfaceFor(0.0), &mesh);
  EXPECT_EQ(mesh.SurfaceFor(0.3), &mesh);
  EXPECT_EQ(mesh.SurfaceFor(0.31), &larger[0]);
  EXPECT_EQ(mesh.SurfaceFor(2.0), &larger[1]);
  EXPECT_EQ(mesh.SurfaceFor(2.1), nullptr);
  EXPECT_EQ(mesh.SurfaceFor(std::numeric_limits<double>::infinity()), nullptr);
  EXPECT_EQ(mesh.widest_radius(), 2.0);
  const NavMesh unknown = Floor(8, 0.0);
  EXPECT_EQ(unknown.SurfaceFor(0.0), &unknown);
  EXPECT_EQ(unknown.SurfaceFor(0.1), nullptr);
  // Files have radii in single precision.
  const NavMesh rounded = Floor(8, static_cast<double>(0.7F));
  EXPECT_EQ(rounded.SurfaceFor(0.7), &rounded);
}

TEST(MeshSurfacesTest, DigestsAndMemoryCountAllSurfaces) {
  const NavMesh alone = Floor(8, 0.3);
  const NavMesh mesh = alone.WithLarger({Floor(8, 0.7)});
  EXPECT_NE(mesh.digest(), alone.digest());
  EXPECT_NE(mesh.digest(), alone.WithLarger({Floor(8, 0.8)}).digest());
  EXPECT_NE(mesh.digest(), alone.WithLarger({Floor(7, 0.7)}).digest());
  EXPECT_EQ(mesh.digest(), alone.WithLarger({Floor(8, 0.7)}).digest());
  EXPECT_EQ(alone.WithLarger({}).digest(), alone.digest());
  EXPECT_GT(mesh.memory_bytes(), alone.memory_bytes());
  EXPECT_EQ(mesh.BytesBeyond(mesh), 0U);
  const NavMesh edited = Edited(mesh, {{PutCrate("crate", 4, 4, 1)}});
  EXPECT_GT(edited.BytesBeyond(mesh), Edited(alone, {{PutCrate("crate", 4, 4, 1)}}).BytesBeyond(alone));
  EXPECT_LT(edited.BytesBeyond(mesh), edited.memory_bytes());
}

TEST(MeshSurfacesTest, ChangesAreThoseOfTheLargestAgents) {
  MeshBatchEditor editor(Floor(20, 0.3).WithLarger({Floor(20, 2)}));
  ASSERT_THAT(editor.Apply({{PutCrate("crate", 10, 10, 1)}}, absl::UnixEpoch()), IsOk());
  EXPECT_TRUE(editor.changes().mesh.blocked.Overlaps({12.9, 9.9, 12.95, 10.1}));
}

TEST(MeshSurfacesTest, EditsThatASurfaceRefusesAreRefused) {
  const NavMesh mesh =
      MeshOf(DrawRooms(std::vector<std::string>(40, std::string(40, '.')))).WithAgentRadius(0.1);
  std::vector<Edit> edits;
  for (int i = 0; i < 1100; ++i) {
    edits.push_back(PutCrate(absl::StrCat("crate-", i), 0.5 + i % 34, 0.5 + i / 34, 0.1));
  }
  MeshBatchEditor editor(mesh.WithLarger({Floor(40, 0.2)}));
  const std::uint64_t before = editor.digest();
  const absl::Status refused = editor.Apply(edits, absl::UnixEpoch()).status();
  EXPECT_THAT(refused, IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kRegionTooLarge, "edits"));
  EXPECT_THAT(refused.message(), HasSubstr("radius 0.2"));
  EXPECT_EQ(editor.digest(), before);
  EXPECT_THAT(MeshBatchEditor(mesh).Apply(edits, absl::UnixEpoch()), IsOk());
}

TEST(MeshSurfacesTest, ViewsOfSurfacesFollowEdits) {
  MeshSpec spec = DrawRooms({"..."});
  spec.polygons[1].area = 1;
  const NavMesh mesh = Floor(8, 0.1).WithLarger({MeshOf(spec).WithAgentRadius(0.2)});
  AreaCosts costs = mesh.costs();
  costs[1] = 0.0;
  EXPECT_EQ(ViewUnder(mesh.larger()[0], costs)->Polygons().size(), 2U);
  const NavMesh edited = Edited(mesh, {{PutCrate("crate", 0.5, 0.5, 1)}});
  EXPECT_EQ(ViewUnder(edited.larger()[0], costs)->Polygons().size(), 1U);
  EXPECT_EQ(ViewUnder(mesh.larger()[0], costs)->Polygons().size(), 2U);
  edited.DropViews(/*used_too=*/true);
  EXPECT_FALSE(edited.larger()[0].views().Has(costs));
}

// Returns an edit of a few obstacles and portals. Some edits are refused.
Edit RandomEdit(const NavMesh& mesh, Random& random) {
  const std::string id = absl::StrCat("e", random.Between(0, 3));
  const auto coordinate = [&] { return random.Between(-500, 7500) / 1000.0; };
  switch (random.Between(0, 6)) {
    case 0:
      return MoveObstacle{.id = id, .dx = random.Between(-9, 9) / 8.0, .dy = random.Between(-9, 9) / 8.0};
    case 1:
      return RemoveObstacle{.id = id};
    case 2:
      return RemovePortal{.id = id};
    case 3:
      return PutMeshPortal{.portal = {.id = id,
                                      .from = RandomPlace(mesh, random).point,
                                      .to = RandomPlace(mesh, random).point,
                                      .cost = 1.0,
                                      .width = random.Between(0, 1) * 0.5},
                           .replace = true};
    default:
      return PutCrate(id, coordinate(), coordinate(), random.Between(100, 1500) / 1000.0);
  }
}

void ExpectSame(const NavMesh& surface, const NavMesh& alone, Random& random) {
  EXPECT_EQ(surface.obstacles().digest(), alone.obstacles().digest());
  EXPECT_EQ(surface.portals().digest(), alone.portals().digest());
  alone.portals().VisitAfter("", [&](const PlacedPortal& portal) {
    EXPECT_EQ(surface.portals().Find(portal.id)->lanes, portal.lanes);
    return true;
  });
  ASSERT_EQ(surface.Polygons(), alone.Polygons());
  if (alone.Polygons().empty()) {
    return;
  }
  MeshScratch scratch(kSurfaceScratchBytes);
  for (int i = 0; i < 5; ++i) {
    const MeshPlace start = RandomPlace(alone, random);
    const MeshPlace goal = RandomPlace(alone, random);
    const MeshReach near{.position = {start.point.x + 0.3, start.point.y, start.point.z}, .radius = 2.0};
    EXPECT_EQ(surface.FindNearest(near), alone.FindNearest(near));
    EXPECT_EQ(CastMeshRay(surface, start, goal), CastMeshRay(alone, start, goal));
    EXPECT_EQ(LengthOf(surface, start, goal, scratch), LengthOf(alone, start, goal, scratch));
  }
}

TEST(MeshSurfacesPropertyTest, SurfacesAreLikeMapsForOneSize) {
  int applied = 0;
  ForSeeds(100, [&](Random& random) {
    std::vector<NavMesh> alone;
    for (const double radius : {0.1, 0.4, 0.9}) {
      alone.push_back(MeshOf(DrawRooms(RandomRooms(random), &random)).WithAgentRadius(radius));
    }
    NavMesh mesh = alone.front().WithLarger({alone.begin() + 1, alone.end()});
    for (int step = 0; step < 8; ++step) {
      const Edit edit =
          RandomEdit(alone[static_cast<std::size_t>(random.Between(0, 2))].WithCuts(nullptr), random);
      std::vector<NavMesh> edited;
      for (const NavMesh& surface : alone) {
        MeshBatchEditor editor(surface);
        if (editor.Apply({&edit, 1}, absl::UnixEpoch()).ok()) {
          edited.push_back(std::move(editor).Finish());
        }
      }
      // Portals must be on all of them, since alone, a map refuses a portal off its ground.
      if (edited.size() < alone.size()) {
        continue;
      }
      ++applied;
      alone = std::move(edited);
      mesh = Edited(mesh, {&edit, 1});
      ASSERT_EQ(mesh.larger().size(), 2U);
      ExpectSame(mesh, alone[0], random);
      ExpectSame(mesh.larger()[0], alone[1], random);
      ExpectSame(mesh.larger()[1], alone[2], random);
    }
  });
  EXPECT_GT(applied, 20);
}

TEST(MeshSurfacesTest, PortalsOffASurfaceAreClosedThere) {
  const NavMesh mesh = Floor(8, 0.1).WithLarger({Floor(4, 0.2)});
  const Edit put = PutMeshPortal{.portal = {.id = "door", .from = {1, 1, 0}, .to = {6, 6, 0}, .cost = 1.0}};
  const NavMesh edited = Edited(mesh, {&put, 1});
  EXPECT_TRUE(edited.portals().Find("door")->lanes.front().is_open());
  EXPECT_FALSE(edited.larger()[0].portals().Find("door")->lanes.front().is_open());
  const Edit remove = RemovePortal{.id = "door"};
  EXPECT_TRUE(Edited(edited, {&remove, 1}).larger()[0].portals().empty());
}

}  // namespace
}  // namespace waystar::core
