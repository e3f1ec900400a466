#include "server/core/mesh/map/mesh_ground.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/error.h"
#include "server/core/codec/map_image.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/edit.h"
#include "server/core/mesh/map/mesh_views.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/core/mesh/search/landmarks.h"
#include "tests/core/mesh/map/drawn_mesh.h"
#include "tests/core/mesh/search/sight_graph.h"
#include "tests/testing/random.h"
#include "tests/testing/seeds.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;

constexpr std::size_t kSearchBytes = std::size_t{1} << 28;

NavMesh WithEdits(const NavMesh& mesh, std::vector<Edit> edits) {
  MeshBatchEditor editor(mesh);
  EXPECT_THAT(editor.Apply(edits, absl::UnixEpoch()), IsOk());
  return std::move(editor).Finish();
}

GroundPolygon GroundSquare(double x, double y, double side = 1.0, double z = 0.0) {
  return {.corners = {{x, y, z}, {x + side, y, z}, {x + side, y + side, z}, {x, y + side, z}}};
}

std::optional<MeshPlace> GroundAt(const NavMesh& mesh, double x, double y, double z = 0.0) {
  return MeshPlaceAt(mesh, {x, y, z});
}

double LengthBetween(const NavMesh& mesh, const WorldPoint& from, const WorldPoint& to) {
  MeshScratch scratch(kSearchBytes);
  const std::optional<MeshPlace> start = MeshPlaceAt(mesh, from);
  const std::optional<MeshPlace> goal = MeshPlaceAt(mesh, to);
  return start && goal ? LengthOf(mesh, *start, *goal, scratch) : std::numeric_limits<double>::infinity();
}

// Two squares with a gap between them, one unit wide.
NavMesh TwoBanks() { return MeshOf(DrawRooms({".#."})); }

TEST(MeshGroundTest, ABridgeComesAndGoes) {
  const NavMesh banks = TwoBanks();
  EXPECT_FALSE(std::isfinite(LengthBetween(banks, {0.5, 0.5}, {2.5, 0.5})));
  const NavMesh bridged = WithEdits(banks, {PutGround{{.id = "bridge", .polygons = {GroundSquare(1, 0)}}}});
  EXPECT_EQ(LengthBetween(bridged, {0.5, 0.5}, {2.5, 0.5}), 2.0);
  EXPECT_THAT(bridged.Polygons(), ElementsAre(0, 1, 2));
  EXPECT_NE(bridged.digest(), banks.digest());
  const NavMesh back = WithEdits(bridged, {RemoveGround{"bridge"}});
  EXPECT_EQ(EncodeImage(back), EncodeImage(banks));
  EXPECT_EQ(back.memory_bytes(), banks.memory_bytes());
}

TEST(MeshGroundTest, ARegionTakesGroundAwayUntilItsGroundIsRemoved) {
  const NavMesh floor = MeshOf(DrawRooms({"..."}));
  const Shape middle{.discs = {{{1.5, 0.5}, 0.25}}};
  const NavMesh broken = WithEdits(floor, {PutGround{{.id = "gone", .region = middle}}});
  EXPECT_THAT(broken.Polygons(), ElementsAre(0, 2));
  EXPECT_FALSE(GroundAt(broken, 1.5, 0.5));
  EXPECT_FALSE(std::isfinite(LengthBetween(broken, {0.5, 0.5}, {2.5, 0.5})));
  const NavMesh back = WithEdits(broken, {RemoveGround{"gone"}});
  EXPECT_EQ(EncodeImage(back), EncodeImage(floor));
}

TEST(MeshGroundTest, OnlyPolygonsAtTheHeightsOfARegionGo) {
  const NavMesh storeys = MeshOf(DrawStoreys({{"..", ".."}, {"..", ".."}}));
  const Shape all{.rectangles = {{0, 0, 2, 2}}};
  const NavMesh lower =
      WithEdits(storeys, {PutGround{{.id = "gone", .region = all, .heights = {.low = 2.0}}}});
  EXPECT_TRUE(GroundAt(lower, 0.5, 0.5, 0.0));
  // Where ground has gone, what lies below is the ground.
  EXPECT_EQ(GroundAt(lower, 0.5, 0.5, 4.0)->point.z, 0.0);
}

TEST(MeshGroundTest, GroundTakesThePlaceOfGround) {
  const NavMesh floor = MeshOf(DrawRooms({"..."}));
  GroundPolygon bump{.corners = {{1, 0, 0}, {1.5, 0, 1}, {1.5, 1, 1}, {1, 1, 0}}};
  GroundPolygon down{.corners = {{1.5, 0, 1}, {2, 0, 0}, {2, 1, 0}, {1.5, 1, 1}}};
  const NavMesh bumpy = WithEdits(
      floor,
      {PutGround{{.id = "bump", .region = Shape{.discs = {{{1.5, 0.5}, 0.25}}}, .polygons = {bump, down}}}});
  EXPECT_EQ(GroundAt(bumpy, 1.5, 0.5)->point.z, 1.0);
  EXPECT_EQ(LengthBetween(bumpy, {0.5, 0.5}, {2.5, 0.5}), 2.0);
}

TEST(MeshGroundTest, EdgesThatRunAlongEachOtherAreJoined) {
  // The file's edge at x = 2 has two polygons of ground beside it, whose outer edge has two of the file.
  const NavMesh file = MeshOf(DrawMesh({{0, 0, 0},
                                        {2, 0, 0},
                                        {2, 2, 0},
                                        {0, 2, 0},
                                        {4, 0, 0},
                                        {6, 0, 0},
                                        {6, 1, 0},
                                        {4, 1, 0},
                                        {6, 2, 0},
                                        {4, 2, 0}},
                                       {{0, 1, 2, 3}, {4, 5, 6, 7}, {7, 6, 8, 9}}));
  const GroundPolygon low{.corners = {{2, 0, 0}, {3, 0, 0}, {3, 1.25, 0}, {2, 1.25, 0}}};
  const GroundPolygon high{.corners = {{2, 1.25, 0}, {3, 1.25, 0}, {3, 2, 0}, {2, 2, 0}}};
  const GroundPolygon wide{.corners = {{3, 0, 0}, {4, 0, 0}, {4, 2, 0}, {3, 2, 0}}};
  const NavMesh made = WithEdits(file, {PutGround{{.id = "pier", .polygons = {low, high, wide}}}});
  for (const double y : {0.5, 1.5}) {
    EXPECT_EQ(LengthBetween(made, {1, y}, {5, y}), 4.0) << y;
  }
  EXPECT_EQ(made.VerticesOf(0).size(), 5U);
}

TEST(MeshGroundTest, CornersMoveWithinTheTolerance) {
  GroundPolygon bridge = GroundSquare(1.002, 0.001, 0.996, 0.05);
  EXPECT_EQ(LengthBetween(WithEdits(TwoBanks(), {PutGround{{.id = "b", .polygons = {bridge}}}}), {0.5, 0.5},
                          {2.5, 0.5}),
            2.0);
  EXPECT_FALSE(std::isfinite(
      LengthBetween(WithEdits(TwoBanks(), {PutGround{{.id = "b", .polygons = {bridge}, .weld = 0.001}}}),
                    {0.5, 0.5}, {2.5, 0.5})));
}

TEST(MeshGroundTest, EachGroundHasItsOwnTolerance) {
  // Two floors, one above the other, and a ground far away that is joined generously.
  const MeshGround tower{
      .id = "tower", .polygons = {GroundSquare(10, 0), GroundSquare(11, 0), GroundSquare(10, 0, 1.0, 3.0)}};
  const MeshGround far{.id = "far", .polygons = {GroundSquare(50, 0)}, .weld = 1.0};
  for (const std::vector<Edit>& edits :
       {std::vector<Edit>{PutGround{tower}, PutGround{far}}, {PutGround{far}, PutGround{tower}}}) {
    const NavMesh made = WithEdits(TwoBanks(), edits);
    EXPECT_EQ(GroundAt(made, 10.5, 0.5, 3.0)->point.z, 3.0);
    EXPECT_EQ(LengthBetween(made, {10.5, 0.5}, {11.5, 0.5}), 1.0);
    EXPECT_NE(made.PartOf(GroundAt(made, 10.5, 0.5, 3.0)->polygon),
              made.PartOf(GroundAt(made, 10.5, 0.5)->polygon));
  }
}

TEST(MeshGroundTest, VerticesOfTheFileThatAreNearEachOtherStayApart) {
  MeshSpec spec;
  // The bank has vertices 0.25 apart along x = 1.
  for (const double y : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    spec.vertices.push_back({1, y, 0});
  }
  spec.vertices.insert(spec.vertices.end(),
                       {{0, 1, 0}, {0, 0, 0}, {2, 0, 0}, {3, 0, 0}, {3, 1, 0}, {2, 1, 0}});
  spec.AddPolygon({0, 1, 2, 3, 4, 5, 6});
  spec.AddPolygon({7, 8, 9, 10});
  const NavMesh made = WithEdits(
      MeshOf(spec), {PutGround{{.id = "bridge", .polygons = {GroundSquare(1.01, 0)}, .weld = 0.4}}});
  EXPECT_EQ(LengthBetween(made, {0.5, 0.5}, {2.5, 0.5}), 2.0);
}

TEST(MeshGroundTest, IsJoinedToTheStoreyThatIsNearest) {
  // The upper floor has a long edge, and the lower one a vertex below its middle.
  const NavMesh file =
      MeshOf(DrawMesh({{0, 0, 3}, {1, 0, 3}, {1, 4, 3}, {0, 4, 3}, {0, 2.125, 0}, {1.0625, 2, 0}, {0, 3, 0}},
                      {{0, 1, 2, 3}, {4, 5, 6}}));
  GroundPolygon pier{.corners = {{1, 2, 3}, {3, 2, 3}, {3, 3, 3}, {1, 3, 3}}};
  const NavMesh made = WithEdits(file, {PutGround{{.id = "pier", .polygons = {pier}, .weld = 0.2}}});
  EXPECT_EQ(LengthBetween(made, {0.5, 2.5, 3}, {2.5, 2.5, 3}), 2.0);
  EXPECT_NE(made.PartOf(GroundAt(made, 2.5, 2.5, 3)->polygon), made.PartOf(1));
}

TEST(MeshGroundTest, GroundsAreJoinedToEachOther) {
  std::vector<Edit> edits;
  for (const int x : {3, 1, 2}) {
    // The one in the middle is shorter, so that edges overlap in part.
    edits.push_back(
        PutGround{{.id = absl::StrCat("g", x), .polygons = {GroundSquare(x, x == 2 ? 0.25 : 0, 1.0)}}});
  }
  const NavMesh made = WithEdits(MeshOf(DrawRooms({"."})), edits);
  EXPECT_EQ(LengthBetween(made, {0.5, 0.5}, {3.5, 0.5}), 3.0);
}

TEST(MeshGroundTest, ProfilesStay) {
  const Edit put = PutMeshProfile{.profile = {.name = "boat"}};
  const NavMesh made = WithEdits(WithEdits(TwoBanks(), {put}),
                                 {PutGround{{.id = "bridge", .polygons = {GroundSquare(1, 0)}}}});
  EXPECT_EQ(made.profiles().size(), 1U);
  const absl::StatusOr<AnyMap> read = DecodeImage(EncodeImage(made));
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(std::get<NavMesh>(*read).digest(), made.digest());
}

TEST(MeshGroundTest, AFaultOfTheWholeGroundIsNotThatOfAPortal) {
  // Each part of the region touches every polygon.
  MeshSpec spec;
  spec.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  MeshGround ground{.id = "gone", .region = Shape()};
  for (std::uint32_t i = 0; i < 4096; ++i) {
    const double z = i;
    const auto first = static_cast<std::uint32_t>(spec.vertices.size());
    spec.vertices.insert(spec.vertices.end(), {{0, 0, z}, {1, 0, z}, {0, 1, z}});
    spec.AddPolygon({first, first + 1, first + 2});
  }
  for (int i = 0; i < 600; ++i) {
    ground.region->discs.push_back({{0.25, 0.25}, 0.5});
  }
  MeshBatchEditor editor(MeshOf(spec));
  const std::vector<Edit> edits = {
      PutGround{ground},
      PutMeshPortal{.portal = {.id = "lift", .from = {0.25, 0.25, 0}, .to = {0.25, 0.25, 9}, .cost = 1}}};
  EXPECT_THAT(editor.Apply(edits, absl::UnixEpoch()),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kRegionTooLarge, "edits"));
}

TEST(MeshGroundTest, HasTerrainsOfTheMesh) {
  MeshSpec spec = DrawRooms({".#."});
  spec.terrains = {DefaultMeshTerrain(0), {.name = "water"}};
  GroundPolygon ford = GroundSquare(1, 0);
  ford.terrain = "water";
  const NavMesh made = WithEdits(MeshOf(spec), {PutGround{{.id = "ford", .polygons = {ford}}}});
  EXPECT_EQ(made.AreaOf(2), 1);
  AreaCosts costs = made.costs();
  costs[1] = 0.0;
  EXPECT_THAT(ViewUnder(made, costs)->Polygons(), ElementsAre(0, 1));
}

TEST(MeshGroundTest, PortalsAndObstaclesStay) {
  const NavMesh floor = MeshOf(DrawRooms({"..."}));
  PutMeshPortal lift{.portal = {.id = "lift", .from = {1.5, 0.5, 0}, .to = {2.5, 0.5, 0}, .cost = 3}};
  PutMeshObstacle crate{.put = {.obstacle = {.id = "crate", .shape = {.rectangles = {{0, 0, 1, 1}}}}}};
  const NavMesh made = WithEdits(floor, {lift, crate});
  const NavMesh broken =
      WithEdits(made, {PutGround{{.id = "gone", .region = Shape{.discs = {{{1.5, 0.5}, 0.25}}}}}});
  EXPECT_FALSE(broken.portals().Find("lift")->lanes.front().is_open());
  EXPECT_THAT(broken.Polygons(), ElementsAre(2));
  const absl::StatusOr<AnyMap> read = DecodeImage(EncodeImage(broken));
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(EncodeImage(*read), EncodeImage(broken));
  const NavMesh back = WithEdits(broken, {RemoveGround{"gone"}});
  EXPECT_TRUE(back.portals().Find("lift")->lanes.front().is_open());
  EXPECT_EQ(EncodeImage(back), EncodeImage(made));
}

TEST(MeshGroundTest, APortalMayEndOnGroundOfItsBatch) {
  PutMeshPortal lift{.portal = {.id = "lift", .from = {0.5, 0.5, 0}, .to = {5.5, 0.5, 0}, .cost = 7}};
  const NavMesh made =
      WithEdits(TwoBanks(), {PutGround{{.id = "isle", .polygons = {GroundSquare(5, 0)}}}, lift});
  EXPECT_TRUE(made.portals().Find("lift")->lanes.front().is_open());
}

TEST(MeshGroundTest, EachSurfaceHasItsOwnPolygons) {
  const NavMesh small = TwoBanks().WithAgentRadius(0.5);
  const NavMesh mesh = small.WithLarger({TwoBanks().WithAgentRadius(1.0)});
  GroundPolygon large = GroundSquare(1, 0);
  large.agent_radius = 1.0;
  const NavMesh made = WithEdits(mesh, {PutGround{{.id = "bridge", .polygons = {large}}}});
  EXPECT_FALSE(std::isfinite(LengthBetween(made, {0.5, 0.5}, {2.5, 0.5})));
  EXPECT_EQ(LengthBetween(*made.SurfaceFor(1.0), {0.5, 0.5}, {2.5, 0.5}), 2.0);
  const absl::StatusOr<AnyMap> read = DecodeImage(EncodeImage(made));
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(LengthBetween(*std::get<NavMesh>(*read).SurfaceFor(1.0), {0.5, 0.5}, {2.5, 0.5}), 2.0);
}

TEST(MeshGroundTest, RefusesBadGround) {
  const auto expect = [](const Edit& edit, absl::StatusCode code, ErrorReason reason,
                         const std::string& field) {
    MeshBatchEditor editor(TwoBanks());
    EXPECT_THAT(editor.Apply({&edit, 1}, absl::UnixEpoch()), IsError(code, reason, "edits[0]." + field));
  };
  const auto refuses = [&](const MeshGround& ground, ErrorReason reason, const std::string& field) {
    expect(PutGround{ground}, absl::StatusCode::kInvalidArgument, reason,
           absl::StrCat("put_ground", field.empty() ? "" : ".", field));
  };
  const auto refuses_polygon = [&](const GroundPolygon& polygon, ErrorReason reason,
                                   const std::string& field) {
    refuses({.id = "a", .polygons = {GroundSquare(1, 0), polygon}}, reason, "polygons[1]." + field);
  };
  GroundPolygon other = GroundSquare(1, 0);
  refuses({.id = "", .polygons = {other}}, ErrorReason::kBadGround, "id");
  refuses({.id = "a"}, ErrorReason::kBadGround, "");
  refuses({.id = "a", .region = Shape()}, ErrorReason::kEmptyShape, "region");
  refuses({.id = "a", .region = Shape{.discs = {{{0, 0}, -1}}}}, ErrorReason::kBadDisc,
          "region.discs[0].radius");
  refuses({.id = "a", .heights = {2, 1}, .polygons = {other}}, ErrorReason::kBadGround, "heights.low");
  refuses({.id = "a", .polygons = {other}, .weld = std::nan("")}, ErrorReason::kBadGround, "weld");
  other.corners.pop_back();
  other.corners.pop_back();
  refuses_polygon(other, ErrorReason::kBadGround, "corners");
  other.corners.push_back({3, 0, 0});
  refuses_polygon(other, ErrorReason::kBadGround, "corners");
  other = GroundSquare(1, 0);
  other.corners[2].z = std::numeric_limits<double>::infinity();
  refuses_polygon(other, ErrorReason::kBadValue, "corners[2].z");
  other = GroundSquare(1, 0);
  other.terrain = "lava";
  refuses_polygon(other, ErrorReason::kUnknownTerrain, "terrain");
  other = GroundSquare(1, 0);
  other.agent_radius = 2.0;
  refuses_polygon(other, ErrorReason::kBadGround, "agent_radius");
  other = GroundSquare(1, 0);
  std::swap(other.corners[1], other.corners[2]);
  other.corners[3].y = 0.5;
  refuses_polygon(other, ErrorReason::kBadGround, "corners");
  other = GroundSquare(1, 0);
  other.agent_radius = 1e300;
  refuses_polygon(other, ErrorReason::kBadGround, "agent_radius");
  MeshGround many{.id = "a", .region = Shape()};
  many.region->cells.resize(kMaxRegionParts + 1);
  refuses(many, ErrorReason::kBadGround, "region");
  expect(RemoveGround{"a"}, absl::StatusCode::kNotFound, ErrorReason::kGroundNotFound, "remove_ground");
}

// A mesh in parts: a file, and grounds that add the rest and take away what is too much.
struct Divided {
  // The mesh that the parts make together.
  MeshSpec whole;
  MeshSpec file;
  std::vector<MeshGround> grounds;
};

constexpr double kWeld = 0.01;

// Corners of grounds are at most `jitter` off, seen from above.
Divided Divide(const MeshSpec& spec, double jitter, Random& random) {
  Divided divided{.whole = {.vertices = spec.vertices}, .file = {.vertices = spec.vertices}};
  for (const char* const id : {"a", "b", "c", "gone"}) {
    divided.grounds.push_back({.id = id, .weld = kWeld});
  }
  MeshGround& gone = divided.grounds.back();
  gone.region = Shape{.discs = {{{-50.0, -50.0}, 1.0}}};
  gone.heights = {.low = -100.0};
  std::size_t first = 0;
  for (const MeshPolygon& polygon : spec.polygons) {
    const auto loop = absl::MakeConstSpan(spec.corners).subspan(first, polygon.corner_count);
    first += polygon.corner_count;
    const int part = random.Between(-3, 4);
    if (part == 4) {
      WorldPoint middle;
      for (const std::uint32_t vertex : loop) {
        middle.x += spec.vertices[vertex].x / polygon.corner_count;
        middle.y += spec.vertices[vertex].y / polygon.corner_count;
        middle.z += spec.vertices[vertex].z / polygon.corner_count;
      }
      // The ground above and below stays.
      divided.grounds.push_back({.id = absl::StrCat("gone-", first),
                                 .region = Shape{.discs = {{{middle.x, middle.y}, 0.02}}},
                                 .heights = {middle.z - 0.5, middle.z + 0.5}});
      divided.file.AddPolygon(loop);
      continue;
    }
    divided.whole.AddPolygon(loop);
    if (part < 1) {
      divided.file.AddPolygon(loop);
      continue;
    }
    GroundPolygon added;
    for (std::size_t k = 0; k < loop.size(); ++k) {
      const WorldPoint& from = spec.vertices[loop[k]];
      const WorldPoint& to = spec.vertices[loop[(k + 1) % loop.size()]];
      added.corners.push_back(from);
      if (random.Between(0, 3) == 0) {
        added.corners.push_back({(from.x + to.x) / 2, (from.y + to.y) / 2, (from.z + to.z) / 2});
      }
    }
    if (random.Between(0, 1) == 0) {
      std::ranges::reverse(added.corners);
    }
    for (WorldPoint& corner : added.corners) {
      const auto off = [&] { return jitter * random.Between(-100, 100) / 150.0; };
      corner = {corner.x + off(), corner.y + off(), corner.z + 10.0 * off()};
    }
    divided.grounds[static_cast<std::size_t>(part) - 1].polygons.push_back(std::move(added));
  }
  return divided;
}

// Puts the grounds in a random order, some more than once or with a removal between.
NavMesh PutAll(NavMesh mesh, const std::vector<MeshGround>& grounds, Random& random) {
  std::vector<MeshGround> left;
  for (const MeshGround& ground : grounds) {
    if (ground.region || !ground.polygons.empty()) {
      left.push_back(ground);
    }
  }
  while (!left.empty()) {
    const auto i = static_cast<std::size_t>(random.Between(0, static_cast<int>(left.size()) - 1));
    std::vector<Edit> edits = {PutGround{left[i]}};
    switch (random.Between(0, 3)) {
      case 0:
        edits.emplace_back(RemoveGround{left[i].id});
        break;
      case 1:
        edits.insert(edits.begin(), PutGround{{.id = left[i].id, .polygons = {GroundSquare(30, 30)}}});
        [[fallthrough]];
      default:
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
    }
    mesh = WithEdits(mesh, std::move(edits));
  }
  return mesh;
}

// Returns a place on the mesh, far from the edges of its polygon if `is_middle`.
MeshPlace PlaceOn(const NavMesh& mesh, bool is_middle, Random& random) {
  const MeshPlace place = RandomPlace(mesh, random);
  return is_middle ? MeshPlace{place.polygon, Rounded(MiddleOf(mesh, place.polygon))} : place;
}

TEST(MeshGroundPropertyTest, AMeshInPartsIsTheWholeMesh) {
  int found = 0;
  ForSeeds(120, [&](Random& random) {
    const MeshSpec spec = random.Between(0, 1) == 0 ? BentFloors(random, random.Between(1, 2))
                                                    : DrawRooms(RandomRooms(random), &random);
    // A third of the tolerance, since corners that meet may be off in opposite directions.
    const double jitter = random.Between(0, 1) == 0 ? 0.0 : kWeld / 3.0;
    const Divided divided = Divide(spec, jitter, random);
    if (divided.file.polygons.empty() || divided.whole.polygons.empty()) {
      return;
    }
    NavMesh expected = MeshOf(divided.whole);
    const NavMesh file = MeshOf(divided.file);
    NavMesh mesh = PutAll(*WithLandmarks(file), divided.grounds, random);
    EXPECT_EQ(EncodeImage(mesh), EncodeImage(PutAll(file, divided.grounds, random)));
    EXPECT_NEAR(AreaOf(mesh), AreaOf(expected), 1e-3 + 30.0 * jitter);
    const absl::StatusOr<AnyMap> read = DecodeImage(EncodeImage(mesh));
    ASSERT_THAT(read, IsOk());
    EXPECT_EQ(std::get<NavMesh>(*read).digest(), mesh.digest());
    MeshScratch scratch(kSearchBytes);
    // An obstacle beside a wall that is off may leave a gap.
    for (int step = 0; step < (jitter > 0.0 ? 1 : 2); ++step) {
      for (int i = 0; i < 8 && !mesh.Polygons().empty(); ++i) {
        const MeshPlace start = PlaceOn(mesh, jitter > 0.0, random);
        const MeshPlace goal = PlaceOn(mesh, jitter > 0.0, random);
        // A polygon with corners that are off is divided, and its divided surface has other heights.
        const auto same = [&](const MeshPlace& place) {
          return expected.FindNearest(
              {.position = place.point, .radius = kMeshTolerance + 2.0 * jitter, .height = 0.75});
        };
        const std::optional<MeshPlace> from = same(start);
        const std::optional<MeshPlace> to = same(goal);
        ASSERT_TRUE(from && to) << Between(start, goal.point);
        const double length = LengthOf(mesh, start, goal, scratch);
        const double wanted = LengthOf(expected, *from, *to, scratch);
        ASSERT_EQ(std::isfinite(length), std::isfinite(wanted)) << Between(start, goal.point);
        if (std::isfinite(wanted)) {
          EXPECT_NEAR(length, wanted, 1e-4 + 20.0 * jitter) << Between(start, goal.point);
          ++found;
        }
      }
      const Shape disc{
          .discs = {{{random.Between(0, 7000) / 1000.0, random.Between(0, 7000) / 1000.0}, 0.7}}};
      const Edit crate =
          PutMeshObstacle{.put = {.obstacle = {.id = "crate", .shape = disc}, .replace = true}};
      mesh = WithEdits(mesh, {crate});
      expected = WithEdits(expected, {crate});
    }
  });
  EXPECT_GT(found, 100);
}

}  // namespace
}  // namespace waystar::core
