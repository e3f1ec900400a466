// Obstacles of navigation meshes: edits, and the ground that they leave.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/edit.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "tests/core/mesh/map/drawn_mesh.h"
#include "tests/testing/seeds.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

NavMesh SquareMesh(double side) {
  return MeshOf(DrawMesh({{0, 0, 0}, {side, 0, 0}, {side, side, 0}, {0, side, 0}}, {{0, 1, 2, 3}}));
}

PutMeshObstacle PutOn(std::string id, Shape shape, const HeightRange& heights = {}) {
  return {{.obstacle = {.id = std::move(id), .shape = std::move(shape)}}, heights};
}

NavMesh MeshAfter(const NavMesh& mesh, const std::vector<Edit>& edits) {
  MeshBatchEditor editor(mesh);
  EXPECT_THAT(editor.Apply(edits, absl::UnixEpoch()), IsOk());
  return std::move(editor).Finish();
}

TEST(MeshObstaclesTest, BlockUntilTheyAreRemoved) {
  const NavMesh mesh = SquareMesh(10);
  const NavMesh blocked = MeshAfter(mesh, {PutOn("crate", {.rectangles = {{2, 2, 4, 4}}})});
  EXPECT_EQ(AreaOf(blocked), 84.0);
  EXPECT_EQ(blocked.obstacles().size(), 1U);
  EXPECT_NE(blocked.digest(), mesh.digest());
  const NavMesh moved = MeshAfter(blocked, {MoveObstacle{.id = "crate", .dx = 6, .dy = 6}});
  EXPECT_EQ(AreaOf(moved), 96.0);
  const NavMesh resized = MeshAfter(moved, {ResizeObstacle{.id = "crate", .shape = {.cells = {{0, 0}}}}});
  EXPECT_EQ(AreaOf(resized), 99.0);
  const NavMesh free = MeshAfter(resized, {RemoveObstacle{.id = "crate"}});
  EXPECT_FALSE(free.is_cut());
  EXPECT_EQ(free.digest(), mesh.digest());
  EXPECT_EQ(AreaOf(blocked), 84.0);
}

TEST(MeshObstaclesTest, AreWidenedByTheRadiusOfTheAgents) {
  const NavMesh mesh = SquareMesh(10).WithAgentRadius(0.5);
  const NavMesh blocked = MeshAfter(mesh, {PutOn("crate", {.rectangles = {{4, 4, 2, 2}}})});
  const auto is_free = [&](double x, double y) {
    return blocked.FindNearest({.position = {x, y, 0}, .radius = 0.0, .height = 1.0}).has_value();
  };
  EXPECT_FALSE(is_free(3.51, 5.0));
  EXPECT_TRUE(is_free(3.48, 5.0));
  EXPECT_FALSE(is_free(3.66, 3.66)) << "at a round corner";
  EXPECT_TRUE(is_free(3.6, 3.6));
  const NavMesh free = MeshAfter(blocked, {RemoveObstacle{.id = "crate"}});
  EXPECT_FALSE(free.is_cut());
  EXPECT_EQ(free.digest(), mesh.digest());
}

TEST(MeshObstaclesTest, StandOnTheirFloorAlone) {
  const NavMesh mesh = MeshOf(
      DrawMesh({{0, 0, 0}, {9, 0, 0}, {9, 9, 0}, {0, 9, 0}, {0, 0, 3}, {9, 0, 3}, {9, 9, 3}, {0, 9, 3}},
               {{0, 1, 2, 3}, {4, 5, 6, 7}}));
  const NavMesh blocked =
      MeshAfter(mesh, {PutOn("crate", {.rectangles = {{3, 3, 3, 3}}}, HeightRange{2.0, 5.0})});
  EXPECT_TRUE(blocked.FindNearest({.position = {4, 4, 0}, .radius = 0.0, .height = 1.0}).has_value());
  EXPECT_FALSE(blocked.FindNearest({.position = {4, 4, 3}, .radius = 0.0, .height = 1.0}).has_value());
}

TEST(MeshObstaclesTest, ABatchIsAppliedWhollyOrNot) {
  const NavMesh mesh = MeshAfter(SquareMesh(10), {PutOn("crate", {.cells = {{1, 1}}})});
  MeshBatchEditor editor(mesh);
  const auto error_of = [&](const Edit& edit) {
    const absl::Status status =
        editor.Apply(std::vector<Edit>{PutOn("other", {.cells = {{5, 5}}}), edit}, absl::UnixEpoch())
            .status();
    return absl::StrCat(ErrorReasonOf(status), " ", ErrorFieldOf(status));
  };
  EXPECT_EQ(error_of(PutOn("crate", {.cells = {{2, 2}}})), "OBSTACLE_EXISTS edits[1].add_obstacle.id");
  EXPECT_EQ(error_of(RemoveObstacle{.id = "gate"}), "OBSTACLE_NOT_FOUND edits[1].remove_obstacle");
  EXPECT_EQ(error_of(MoveObstacle{.id = "gate"}), "OBSTACLE_NOT_FOUND edits[1].move_obstacle.id");
  EXPECT_EQ(error_of(PutOn("a", {})), "EMPTY_SHAPE edits[1].add_obstacle.shape");
  EXPECT_EQ(error_of(PutOn("a", {.polygons = {{{{0, 0}, {4, 4}, {4, 0}, {0, 3}}}}})),
            "BAD_POLYGON edits[1].add_obstacle.shape.polygons[0]");
  PutMeshObstacle mud = PutOn("a", {.cells = {{1, 1}}});
  mud.put.obstacle.effect = {.kind = ObstacleEffect::Kind::kAddCost, .amount = 1.0};
  EXPECT_EQ(error_of(mud), "BAD_EFFECT edits[1].add_obstacle.cost_addition");
  EXPECT_EQ(error_of(BlockCells{.shape = {.cells = {{1, 1}}}}), "WRONG_MAP_KIND edits[1].block");
  EXPECT_EQ(std::move(editor).Finish().digest(), mesh.digest());
}

TEST(MeshObstaclesTest, AnEndOfAPortalUnderAnObstacleCannotBeUsed) {
  const MeshPortal gate{.id = "gate", .from = {1, 1, 0}, .to = {9, 9, 0}, .cost = 0.5};
  const Edit crate = PutOn("crate", {.rectangles = {{0, 0, 2, 2}}});
  for (const std::vector<Edit>& edits :
       {std::vector<Edit>{PutMeshPortal{.portal = gate}, crate}, {crate, PutMeshPortal{.portal = gate}}}) {
    NavMesh mesh = SquareMesh(10);
    for (const Edit& edit : edits) {
      mesh = MeshAfter(mesh, {edit});
    }
    EXPECT_EQ(mesh.portals().Find("gate")->lanes[0].from.polygon, kNoPolygon);
    EXPECT_NE(mesh.portals().Find("gate")->lanes[0].to.polygon, kNoPolygon);
    mesh = MeshAfter(mesh, {RemoveObstacle{.id = "crate"}});
    EXPECT_EQ(mesh.portals().Find("gate")->lanes[0].from, (MeshPlace{0, {1, 1, 0}}));
  }
}

Shape AnyHole(Random& random) {
  const auto point = [&] {
    return random.Chance(0.3)
               ? Point{1.0 * random.Between(-1, 8), 1.0 * random.Between(-1, 8)}
               : Point{random.Between(-1000, 8000) / 1000.0, random.Between(-1000, 8000) / 1000.0};
  };
  switch (random.Between(0, 3)) {
    case 0:
      return {.discs = {{point(), random.Between(0, 1500) / 1000.0}}};
    case 1:
      return {.lines = {{point(), point(), random.Between(0, 500) / 1000.0}}};
    case 2:
      return {.rectangles = {{random.Between(-1, 7), random.Between(-1, 7), random.Between(1, 3), 1}}};
    default: {
      const Point a = point();
      return {.polygons = {{{a, {a.x + 2, a.y + random.Between(0, 8) / 8.0}, {a.x + 1, a.y + 2}}}}};
    }
  }
}

// Expects that all that searches see of the two is the same.
void ExpectSameMesh(const NavMesh& mesh, const NavMesh& other) {
  ASSERT_EQ(mesh.Polygons(), other.Polygons());
  EXPECT_EQ(mesh.digest(), other.digest());
  // Numbers of parts depend on the order of changes.
  std::map<std::uint32_t, std::uint32_t> other_parts;
  std::map<std::uint32_t, std::uint32_t> parts;
  for (const PolygonNumber polygon : mesh.Polygons()) {
    ASSERT_EQ(mesh.VerticesOf(polygon), other.VerticesOf(polygon));
    EXPECT_EQ(other_parts.try_emplace(mesh.PartOf(polygon), other.PartOf(polygon)).first->second,
              other.PartOf(polygon));
    EXPECT_EQ(parts.try_emplace(other.PartOf(polygon), mesh.PartOf(polygon)).first->second,
              mesh.PartOf(polygon));
    for (std::size_t k = 0; k < mesh.VerticesOf(polygon).size(); ++k) {
      const std::uint32_t vertex = mesh.VerticesOf(polygon)[k];
      EXPECT_EQ(mesh.VertexAt(vertex), other.VertexAt(vertex));
      EXPECT_EQ(mesh.WallsAt(vertex), other.WallsAt(vertex));
      EXPECT_EQ(mesh.Across(polygon, k), other.Across(polygon, k));
    }
  }
  EXPECT_EQ(mesh.opened_rooms(), other.opened_rooms());
  mesh.portals().VisitAfter("", [&](const PlacedPortal& portal) {
    EXPECT_EQ(portal.lanes, other.portals().Find(portal.id)->lanes);
    return true;
  });
}

// Puts portals with and without a width at random places.
NavMesh WithPortals(const NavMesh& mesh, int count, Random& random) {
  MeshBatchEditor editor(mesh);
  for (int i = 0; i < count; ++i) {
    const auto place = [&] {
      return MiddleOf(
          mesh, static_cast<PolygonNumber>(random.Between(0, static_cast<int>(mesh.polygon_count()) - 1)));
    };
    const PutMeshPortal put{.portal = {.id = absl::StrCat("p", i),
                                       .from = place(),
                                       .to = place(),
                                       .both_ways = random.Chance(0.5),
                                       .width = random.Between(0, 3) * 0.75}};
    // One from a place to the same place is refused.
    editor.Apply({{put}}, absl::UnixEpoch()).IgnoreError();
  }
  return std::move(editor).Finish();
}

// Returns the mesh, made afresh, with the obstacles of another.
NavMesh MeshWithObstaclesOf(const NavMesh& mesh, const NavMesh& edited) {
  std::vector<std::shared_ptr<const Obstacle>> obstacles;
  edited.obstacles().VisitAfter("", [&](const Obstacle& obstacle) {
    obstacles.push_back(std::make_shared<const Obstacle>(obstacle));
    return true;
  });
  MeshBatchEditor editor(mesh);
  EXPECT_EQ(editor.PutAll({}, std::move(obstacles), nullptr), absl::OkStatus());
  return std::move(editor).Finish();
}

TEST(MeshObstaclesPropertyTest, AnySequenceOfEditsGivesWhatAMeshMadeAfreshHas) {
  ForSeeds(400, [](Random& random) {
    const NavMesh mesh =
        WithPortals(MeshOf(BentFloors(random, random.Between(1, 2), 1, 7))
                        .WithAgentRadius(random.Chance(0.3) ? random.Between(1, 6) / 8.0 : 0.0),
                    random.Between(0, 4), random);
    NavMesh edited = mesh;
    for (int i = random.Between(1, 12); i > 0; --i) {
      std::vector<Edit> batch;
      for (int j = random.Between(1, 3); j > 0; --j) {
        const std::string id = absl::StrCat("o", random.Between(0, 5));
        const bool may_be_unknown = !batch.empty() || edited.obstacles().Find(id) == nullptr;
        if (may_be_unknown || random.Chance(0.3)) {
          PutMeshObstacle put = PutOn(id, AnyHole(random));
          if (random.Chance(0.4)) {
            const double low = random.Between(-10, 40) / 10.0;
            put.heights = HeightRange{low, low + random.Between(0, 20) / 10.0};
          }
          put.put.replace = true;
          batch.push_back(put);
        } else if (random.Chance(0.4)) {
          batch.push_back(MoveObstacle{.id = id, .dx = 1.0 * random.Between(-2, 2), .dy = 1.0});
        } else if (random.Chance(0.5)) {
          batch.push_back(ResizeObstacle{.id = id, .shape = AnyHole(random)});
        } else {
          batch.push_back(RemoveObstacle{.id = id});
        }
      }
      MeshBatchEditor editor(edited);
      if (editor.Apply(batch, absl::UnixEpoch()).ok()) {
        edited = std::move(editor).Finish();
      }
    }
    ExpectSameMesh(edited, MeshWithObstaclesOf(mesh, edited));
  });
}

// More polygons than are labelled one by one.
TEST(MeshObstaclesTest, LargePartsAreSeparatedAndJoined) {
  constexpr int kSide = 110;
  MeshSpec spec;
  const auto vertex_at = [&](int x, int y) { return static_cast<std::uint32_t>(y * (kSide + 1) + x); };
  for (int y = 0; y <= kSide; ++y) {
    for (int x = 0; x <= kSide; ++x) {
      spec.vertices.push_back({1.0 * x, 1.0 * y, 0.0});
    }
  }
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      spec.AddPolygon({vertex_at(x, y), vertex_at(x + 1, y), vertex_at(x + 1, y + 1), vertex_at(x, y + 1)});
    }
  }
  const NavMesh mesh = MeshOf(std::move(spec));
  const NavMesh split = MeshAfter(mesh, {PutOn("wall", {.rectangles = {{kSide / 2, 0, 1, kSide}}})});
  EXPECT_NE(split.PartOf(0), split.PartOf(kSide - 1));
  ExpectSameMesh(split, MeshWithObstaclesOf(mesh, split));
  const NavMesh joined =
      MeshAfter(split, {ResizeObstacle{.id = "wall", .shape = {.rectangles = {{kSide / 2, 1, 1, kSide}}}}});
  EXPECT_EQ(joined.PartOf(0), joined.PartOf(kSide - 1));
  ExpectSameMesh(joined, MeshWithObstaclesOf(mesh, joined));
  // Yards, each of which becomes a part of 81 polygons.
  NavMesh yards = mesh;
  for (int x = 0; x + 11 <= kSide; x += 11) {
    for (int y = 0; y + 11 <= kSide; y += 11) {
      yards = MeshAfter(
          yards,
          {PutOn(absl::StrCat("fence-", x, "-", y),
                 {.rectangles = {{x, y, 11, 1}, {x, y + 10, 11, 1}, {x, y, 1, 11}, {x + 10, y, 1, 11}}})});
    }
  }
  ExpectSameMesh(yards, MeshWithObstaclesOf(mesh, yards));
  yards = MeshAfter(yards, {RemoveObstacle{.id = "fence-0-0"}, RemoveObstacle{.id = "fence-11-0"}});
  ExpectSameMesh(yards, MeshWithObstaclesOf(mesh, yards));
}

}  // namespace
}  // namespace waystar::core
