#include "server/core/mesh/map/nav_mesh.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/mesh/map/cell_layer.h"
#include "tests/core/mesh/map/drawn_mesh.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/stop_after.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::SizeIs;

//  5---4---3
//  |  1| 0 |    and far away a triangle, number 2
//  0---1---2
MeshSpec TwoRoomsAndAnIsland() {
  return DrawMesh(
      {{0, 0, 0}, {2, 0, 0}, {4, 0, 0}, {4, 2, 4}, {2, 2, 0}, {0, 2, 0}, {9, 0, 1}, {10, 0, 1}, {9, 1, 1}},
      {{1, 2, 3, 4}, {0, 1, 4, 5}, {6, 7, 8}});
}

MeshSpec OnePolygon(std::vector<WorldPoint> loop) {
  MeshSpec spec;
  std::vector<std::uint32_t> corners;
  for (std::uint32_t i = 0; i < loop.size(); ++i) {
    corners.push_back(i);
  }
  spec.vertices = std::move(loop);
  spec.AddPolygon(corners);
  return spec;
}

auto IsBadPolygon(const std::string& field) { return IsError(kInvalid, ErrorReason::kBadPolygon, field); }

TEST(NavMeshTest, PolygonsAdjoinAlongCommonEdges) {
  MeshSpec spec = TwoRoomsAndAnIsland();
  spec.polygons[2].area = 63;
  const NavMesh mesh = MeshOf(std::move(spec));
  EXPECT_EQ(mesh.vertex_count(), 9u);
  EXPECT_EQ(mesh.polygon_count(), 3u);
  EXPECT_EQ(mesh.corner_count(), 11u);
  EXPECT_THAT(mesh.VerticesOf(1), ElementsAre(0, 1, 4, 5));
  EXPECT_THAT(mesh.NeighboursOf(0), ElementsAre(kNoPolygon, kNoPolygon, kNoPolygon, 1));
  EXPECT_THAT(mesh.NeighboursOf(1), ElementsAre(kNoPolygon, 0, kNoPolygon, kNoPolygon));
  EXPECT_EQ(mesh.AreaOf(1), 0);
  EXPECT_EQ(mesh.AreaOf(2), 63);
  EXPECT_EQ(mesh.part_count(), 2u);
  EXPECT_EQ(mesh.PartOf(0), 0u);
  EXPECT_EQ(mesh.PartOf(1), 0u);
  EXPECT_EQ(mesh.PartOf(2), 1u);
  EXPECT_EQ(mesh.bounds(), (MeshBounds{{0, 0, 0}, {10, 2, 4}}));
}

TEST(NavMeshTest, KnowsTheWallsAtVertices) {
  //  6---7---8
  //  | 2 | 3 |
  //  3---4---5---9
  //  | 0 | 1 | 4 |    and a triangle, number 5, that touches the vertex at the upper right alone
  //  0---1---2---10
  const NavMesh mesh =
      MeshOf(DrawMesh({{0, 0},
                       {1, 0},
                       {2, 0},
                       {0, 1},
                       {1, 1},
                       {2, 1},
                       {0, 2},
                       {1, 2},
                       {2, 2},
                       {3, 1},
                       {3, 0},
                       {3, 2},
                       {3, 3}},
                      {{0, 1, 4, 3}, {1, 2, 5, 4}, {3, 4, 7, 6}, {4, 5, 8, 7}, {2, 10, 9, 5}, {8, 11, 12}}));
  const auto walls = [](std::uint32_t from, std::uint32_t to) { return VertexWalls{from, to}; };
  EXPECT_EQ(mesh.WallsAt(4), VertexWalls());
  EXPECT_EQ(mesh.WallsAt(0), walls(3, 1));
  EXPECT_EQ(mesh.WallsAt(5), walls(9, 8));
  // The triangle meets the others in a vertex alone, which is its own then.
  ASSERT_EQ(mesh.vertex_count(), 14U);
  EXPECT_EQ(mesh.VertexAt(13), mesh.VertexAt(8));
  EXPECT_THAT(mesh.VerticesOf(5), ElementsAre(13, 11, 12));
  EXPECT_EQ(mesh.WallsAt(8), walls(5, 7));
  EXPECT_EQ(mesh.WallsAt(13), walls(12, 11));
}

// Tries each edge of each cell.
void ExpectRoomsBetweenDoors(const CellLayer& mesh) {
  // Returns the cells that are connected without the edge `without`, that begins in this corner of `side`.
  const auto reached_from = [&](PolygonNumber first, PolygonNumber side, std::size_t without) {
    std::vector<bool> is_reached(mesh.cell_count());
    std::vector<PolygonNumber> open{first};
    is_reached[first] = true;
    const PolygonNumber across = mesh.NeighboursOf(side)[without];
    while (!open.empty()) {
      const PolygonNumber polygon = open.back();
      open.pop_back();
      const auto neighbours = mesh.NeighboursOf(polygon);
      for (std::size_t k = 0; k < neighbours.size(); ++k) {
        const bool is_closed =
            (polygon == side && k == without) || (polygon == across && neighbours[k] == side);
        if (neighbours[k] != kNoPolygon && !is_closed && !is_reached[neighbours[k]]) {
          is_reached[neighbours[k]] = true;
          open.push_back(neighbours[k]);
        }
      }
    }
    return is_reached;
  };
  for (PolygonNumber polygon = 0; polygon < mesh.cell_count(); ++polygon) {
    const auto neighbours = mesh.NeighboursOf(polygon);
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
      if (neighbours[k] == kNoPolygon) {
        continue;
      }
      const std::uint32_t here = mesh.RoomOf(polygon);
      const std::uint32_t there = mesh.RoomOf(neighbours[k]);
      const bool is_door = !reached_from(polygon, polygon, k)[neighbours[k]];
      EXPECT_EQ(here != there, is_door) << polygon << " " << neighbours[k];
      if (is_door) {
        EXPECT_EQ(mesh.OuterRoomOf(std::max(here, there)), std::min(here, there));
      }
    }
  }
}

TEST(NavMeshTest, RoomsEndAtDoors) {
  Random random(18);
  for (int round = 0; round < 20; ++round) {
    MeshSpec spec;
    AddFloor(spec, 6, 4, 0.0, random);
    const NavMesh mesh = MeshOf(spec);
    ExpectRoomsBetweenDoors(CellLayer(mesh));
    EXPECT_GE(mesh.room_count(), mesh.part_count());
  }
}

TEST(NavMeshTest, ASideInTwoPartsIsNoDoor) {
  //  6-----------7
  //  |     1     |
  //  3---4===5---2---8
  //  |     0     | 2 |
  //  0-----------1---9
  MeshSpec spec = DrawMesh({{0, 0}, {3, 0}, {3, 1}, {0, 1}, {1, 1}, {2, 1}, {0, 2}, {3, 2}, {4, 1}, {4, 0}},
                           {{0, 1, 2, 5, 4, 3}, {3, 4, 5, 2, 7, 6}, {1, 9, 8, 2}});
  spec.polygons[2].area = 1;
  spec.neighbours = {kNoPolygon, 2,          1,          kNoPolygon, 1,          kNoPolygon,  //
                     0,          kNoPolygon, 0,          kNoPolygon, kNoPolygon, kNoPolygon,  //
                     kNoPolygon, kNoPolygon, kNoPolygon, 0};
  const NavMesh mesh = MeshOf(std::move(spec));
  EXPECT_EQ(CellLayer(mesh).cell_count(), 3u);
  EXPECT_EQ(mesh.room_count(), 2u);
  EXPECT_EQ(mesh.RoomOf(0), mesh.RoomOf(1));
  EXPECT_EQ(mesh.RoomOf(2), 1u);
  EXPECT_EQ(mesh.OuterRoomOf(1), 0u);
  EXPECT_EQ(mesh.OuterRoomOf(0), 0u);
}

TEST(NavMeshTest, WallsThatAreNamedSeparate) {
  MeshSpec spec = TwoRoomsAndAnIsland();
  spec.neighbours.assign(11, kNoPolygon);
  EXPECT_EQ(MeshOf(spec).part_count(), 3u);
  spec.neighbours[3] = 1;
  EXPECT_THAT(NavMesh::Create(spec), IsBadPolygon("polygons[0].neighbours[3]"));
  spec.neighbours[4 + 1] = 0;
  EXPECT_EQ(MeshOf(spec).part_count(), 2u);
  spec.neighbours[0] = 2;
  EXPECT_THAT(NavMesh::Create(spec), IsBadPolygon("polygons[0].neighbours[0]"));
  spec.neighbours[0] = 1'000;
  EXPECT_THAT(NavMesh::Create(spec), IsBadPolygon("polygons[0].neighbours[0]"));
  spec.neighbours[0] = kNoPolygon;
  spec.neighbours[3] = 2;
  EXPECT_THAT(NavMesh::Create(spec), IsBadPolygon("polygons[0].neighbours[3]"));
}

// Returns the error for the two rooms with a change.
template <typename Change>
absl::Status StatusWith(const Change& change) {
  MeshSpec spec = TwoRoomsAndAnIsland();
  change(spec);
  return NavMesh::Create(std::move(spec)).status();
}

TEST(NavMeshTest, RefusesListsOfWrongLength) {
  const auto is_bad_size = [](const std::string& field) {
    return IsError(kInvalid, ErrorReason::kBadSize, field);
  };
  EXPECT_THAT(NavMesh::Create({}), is_bad_size("vertices"));
  EXPECT_THAT(StatusWith([](MeshSpec& spec) { spec.corners.push_back(0); }), is_bad_size("corners"));
  EXPECT_THAT(StatusWith([](MeshSpec& spec) { spec.polygons.pop_back(); }), is_bad_size("corners"));
  EXPECT_THAT(StatusWith([](MeshSpec& spec) { spec.polygons.clear(); }), is_bad_size("polygons"));
  EXPECT_THAT(StatusWith([](MeshSpec& spec) { spec.neighbours = {kNoPolygon}; }), is_bad_size("neighbours"));
  EXPECT_THAT(StatusWith([](MeshSpec& spec) { spec.detail.Add({}); }), is_bad_size("detail"));
  EXPECT_THAT(StatusWith([](MeshSpec& spec) { spec.vertices.resize(kMaxMeshVertices + 1); }),
              is_bad_size("vertices"));
  // Together they would have as many corners as there are, but for overflow.
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  EXPECT_THAT(StatusWith([](MeshSpec& spec) { spec.polygons[0].corner_count = kMost; }),
              IsBadPolygon("polygons[0]"));
}

TEST(NavMeshTest, RefusesNumbersOutOfRange) {
  const auto is_bad_value = [](const std::string& field) {
    return IsError(kInvalid, ErrorReason::kBadValue, field);
  };
  for (const double value : {std::numeric_limits<double>::quiet_NaN(),
                             -std::numeric_limits<double>::infinity(), 1e30, kMaxReach + 1}) {
    EXPECT_THAT(StatusWith([&](MeshSpec& spec) { spec.vertices[3].x = value; }),
                is_bad_value("vertices[3].x"));
    EXPECT_THAT(StatusWith([&](MeshSpec& spec) { spec.vertices[0].z = value; }),
                is_bad_value("vertices[0].z"));
  }
  for (const std::uint32_t vertex : {9U, std::numeric_limits<std::uint32_t>::max()}) {
    EXPECT_THAT(StatusWith([&](MeshSpec& spec) { spec.corners[5] = vertex; }),
                is_bad_value("polygons[1].vertices[1]"));
  }
  EXPECT_THAT(StatusWith([](MeshSpec& spec) {
                const std::vector<DetailPoint> points = {{0, 0, 0}, {1, 0, 1e30F}, {1, 1, 0}};
                for (std::size_t i = 0; i < spec.polygons.size(); ++i) {
                  spec.detail.Add(points, std::vector<DetailTriangle>{{0, 1, 2}});
                }
              }),
              is_bad_value("detail[0].z"));
  EXPECT_THAT(StatusWith([](MeshSpec& spec) { spec.polygons[1].area = 64; }),
              is_bad_value("polygons[1].area"));
}

TEST(NavMeshTest, RefusesDegeneratePolygons) {
  EXPECT_THAT(StatusWith([](MeshSpec& spec) { spec.polygons[2].corner_count = 2; }),
              IsBadPolygon("polygons[2]"));
  EXPECT_THAT(NavMesh::Create(DrawMesh({{0, 0}, {1, 0}, {1, 1}}, {{0, 1, 2, 2}})),
              IsBadPolygon("polygons[0]"))
      << "a vertex twice";
  EXPECT_THAT(NavMesh::Create(DrawMesh({{0, 0}, {1, 0}, {1, 1}}, {{0, 1, 2, 0, 1, 2}})),
              IsBadPolygon("polygons[0]"))
      << "twice around";
}

TEST(NavMeshTest, RefusesLoopsThatAreNoConvexPolygon) {
  const std::vector<std::pair<std::string, std::vector<WorldPoint>>> loops = {
      {"clockwise", {{0, 0}, {0, 1}, {1, 0}}},
      {"flat", {{0, 0}, {1, 1}, {2, 2}}},
      {"upright", {{0, 0, 0}, {1, 1, 0}, {1, 1, 5}, {0, 0, 5}}},
      {"a point, once it is rounded", {{0, 0}, {1e-7, 0}, {0, 1e-7}}},
      {"dented", {{0, 0}, {4, 0}, {4, 4}, {3, 1}}},
      {"crosses itself", {{0, 0}, {4, 0}, {0, 4}, {4, 4.5}}},
      {"a star, which turns left in all corners, but twice around",
       {{0, -3}, {1, 3}, {-3, -1}, {3, -1}, {-1, 3}}},
      {"runs back along a side", {{0, 0}, {3, 0}, {2, 0}, {4, 0}, {4, 4}, {0, 4}}},
      {"has a spike", {{0, 0}, {4, 0}, {6, 0}, {4, 0}, {4, 4}, {0, 4}}}};
  for (const auto& [kind, loop] : loops) {
    EXPECT_THAT(NavMesh::Create(OnePolygon(loop)), IsBadPolygon("polygons[0]")) << kind;
  }
}

TEST(NavMeshTest, TakesCornersInTheMiddleOfASide) {
  EXPECT_THAT(NavMesh::Create(OnePolygon({{0, 0}, {1, 0}, {2, 0}, {4, 0}, {4, 4}, {0, 4}, {0, 3}})), IsOk());
  // Coordinates in single precision, around 5,000: steps of 0.0005.
  EXPECT_THAT(NavMesh::Create(OnePolygon({{5000, 5000}, {5001, 5000.0005}, {5002, 5000}, {5000, 5004}})),
              IsOk());
  EXPECT_THAT(NavMesh::Create(OnePolygon({{5000, 5000}, {5001, 5000.01}, {5002, 5000}, {5000, 5004}})),
              IsBadPolygon("polygons[0]"));
  EXPECT_THAT(NavMesh::Create(OnePolygon({{0, 0}, {1, 0.0005}, {2, 0}, {0, 4}})),
              IsBadPolygon("polygons[0]"));
}

TEST(NavMeshTest, TakesAsManyCornersAsThereMayBe) {
  for (const std::size_t count : {kMaxPolygonCorners, kMaxPolygonCorners + 1}) {
    std::vector<WorldPoint> loop;
    for (std::size_t i = 0; i < count; ++i) {
      const double angle = 2 * M_PI * static_cast<double>(i) / static_cast<double>(count);
      loop.push_back({100 * std::cos(angle), 100 * std::sin(angle)});
    }
    EXPECT_EQ(NavMesh::Create(OnePolygon(loop)).ok(), count == kMaxPolygonCorners);
  }
}

TEST(NavMeshTest, RefusesEdgesWithThreePolygons) {
  EXPECT_THAT(NavMesh::Create(
                  DrawMesh({{0, 0}, {2, 0}, {1, 1}, {1, -1}, {1, 2, 5}}, {{0, 1, 2}, {1, 0, 3}, {0, 1, 4}})),
              IsBadPolygon("polygons[2].vertices[0]"));
  EXPECT_THAT(NavMesh::Create(DrawMesh({{0, 0}, {2, 0}, {1, 1}}, {{0, 1, 2}, {1, 2, 0}})),
              IsBadPolygon("polygons[1].vertices[2]"))
      << "the same polygon again";
}

// A ramp winds around a pole for two and a half turns: polygons above each other, connected only in a row.
TEST(NavMeshTest, RampsMayWindAboveThemselves) {
  MeshSpec spec;
  const std::vector<std::pair<double, double>> directions = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  for (std::uint32_t i = 0; i <= 10; ++i) {
    const auto& [x, y] = directions[i % 4];
    spec.vertices.push_back({x, y, 1.0 * i});
    spec.vertices.push_back({3 * x, 3 * y, 1.0 * i});
    if (i > 0) {
      spec.AddPolygon({2 * i - 2, 2 * i - 1, 2 * i + 1, 2 * i});
    }
  }
  const NavMesh mesh = MeshOf(std::move(spec));
  EXPECT_EQ(mesh.part_count(), 1u);
  EXPECT_THAT(mesh.NeighboursOf(4), ElementsAre(3, kNoPolygon, 5, kNoPolygon));
  for (int turn = 0; turn < 2; ++turn) {
    const auto place = mesh.FindNearest({{1, 1, 0.5 + 4 * turn}, 0.0, 0.25});
    ASSERT_TRUE(place.has_value());
    EXPECT_EQ(place->polygon, 4u * turn);
    EXPECT_EQ(place->point.z, 0.5 + 4 * turn);
  }
}

TEST(NavMeshTest, CopiesShareWhatTheyHold) {
  const NavMesh mesh = MeshOf(TwoRoomsAndAnIsland());
  const NavMesh copy = mesh;
  EXPECT_EQ(&copy.VertexAt(0), &mesh.VertexAt(0));
  EXPECT_GT(mesh.memory_bytes(), 9 * sizeof(WorldPoint));
}

TEST(NavMeshTest, StopsWhenAsked) {
  MeshSpec spec;
  Random random(1);
  AddFloor(spec, 80, 80, 0.0, random);
  const StopAfter never;
  ASSERT_TRUE(NavMesh::Create(spec, &never).ok());
  for (int checks = 0; checks < never.looks(); ++checks) {
    const StopAfter stop(checks);
    EXPECT_EQ(NavMesh::Create(spec, &stop).status().code(), absl::StatusCode::kCancelled) << checks;
    // Two more, on the way back.
    EXPECT_LE(stop.looks(), checks + 3);
  }
}

// Point location: which polygon a position belongs to.

constexpr double kAnywhere = std::numeric_limits<double>::infinity();

// A floor at height 0 from (0, 0) to (4, 4), a bridge at height 3 over its right half that goes on to x = 6.
NavMesh FloorAndBridge() {
  return MeshOf(
      DrawMesh({{0, 0, 0}, {4, 0, 0}, {4, 4, 0}, {0, 4, 0}, {2, 0, 3}, {6, 0, 3}, {6, 4, 3}, {2, 4, 3}},
               {{0, 1, 2, 3}, {4, 5, 6, 7}}));
}

TEST(FindNearestTest, HeedsBothLimits) {
  const NavMesh mesh = FloorAndBridge();
  EXPECT_EQ(mesh.FindNearest({{1, 1, 2}, 0.5, 1.75}), std::nullopt);
  EXPECT_THAT(mesh.FindNearest({{1, 1, 2}, 0.5, 2.0}), Optional(MeshPlace{0, {1, 1, 0}}));
  EXPECT_THAT(mesh.FindNearest({{1, 1, 2}, 1.0, 1.75}), Optional(MeshPlace{1, {2, 1, 3}}));
  EXPECT_EQ(mesh.FindNearest({{7, 5, 3}, 1.25, 1.0}), std::nullopt) << "a corner is further than its sides";
  EXPECT_THAT(mesh.FindNearest({{9, 8, 3}, 5.0, 0.0}), Optional(MeshPlace{1, {6, 4, 3}}));
  EXPECT_EQ(mesh.FindNearest({{9, 8, 3}, 4.9375, 0.0}), std::nullopt);
}

TEST(FindNearestTest, PlacesAreOnFinerGround) {
  Random random(5);
  MeshSpec spec = BentFloors(random, 2);
  AddPeaks(spec);
  const NavMesh mesh = MeshOf(std::move(spec));
  for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
    WorldPoint peak = MiddleOf(mesh, polygon);
    peak.z = mesh.HeightAt(polygon, peak.x, peak.y);
    const std::optional<MeshPlace> place = mesh.FindNearest({peak, 0.001, 0.001});
    ASSERT_TRUE(place);
    EXPECT_EQ(place->polygon, polygon);
    EXPECT_GE(mesh.BoundsOf(polygon).high.z, peak.z - 1e-6);
  }
}

TEST(FindNearestTest, AnEdgeInCommonBelongsToTheLowerNumber) {
  std::vector<WorldPoint> vertices;
  for (int y = 0; y <= 2; ++y) {
    for (int x = 0; x <= 2; ++x) {
      vertices.push_back({1.0 * x, 1.0 * y});
    }
  }
  const NavMesh mesh = MeshOf(DrawMesh(vertices, {{4, 5, 8, 7}, {3, 4, 7, 6}, {1, 2, 5, 4}, {0, 1, 4, 3}}));
  EXPECT_THAT(mesh.FindNearest({{1, 1}, 0.0, 0.0}), Optional(MeshPlace{0, {1, 1}}));
  EXPECT_THAT(mesh.FindNearest({{1, 0.5}, 0.0, 0.0}), Optional(MeshPlace{2, {1, 0.5}}));
  EXPECT_THAT(mesh.FindNearest({{0.5, 1}, 0.0, 0.0}), Optional(MeshPlace{1, {0.5, 1}}));
  EXPECT_THAT(mesh.FindNearest({{1, -1}, 2.0, 0.0}), Optional(MeshPlace{2, {1, 0}}));
}

TEST(FindNearestTest, APointInCommonBelongsToTheLowestPolygon) {
  const NavMesh mesh = MeshOf(DrawMesh({{0, 0}, {1, 0}, {1, 1}, {0, 1}, {1, 1}, {3, 1}, {3, 3}, {1, 3}},
                                       {{0, 1, 2, 3}, {4, 5, 6, 7}}));
  ASSERT_EQ(mesh.part_count(), 2U);
  EXPECT_THAT(mesh.FindNearest({{1, 1}, 0.0, 0.0}), Optional(MeshPlace{0, {1, 1}}));
  EXPECT_THAT(mesh.FindNearest({{1, 1}, 0.0, 0.0}, mesh.PartOf(1)), Optional(MeshPlace{1, {1, 1}}));
}

TEST(FindNearestTest, AllThatAreNearCanBeFound) {
  const NavMesh mesh = FloorAndBridge();
  std::vector<MeshPlace> places;
  mesh.FindAllNear({{3, 1, 1.25}, 1.0, 4.0}, places);
  EXPECT_THAT(places, ElementsAre(MeshPlace{0, {3, 1, 0}}, MeshPlace{1, {3, 1, 3}}));
  mesh.FindAllNear({{3, 1, 1.25}, 1.0, 1.5}, places);
  EXPECT_THAT(places, SizeIs(3)) << "they are added";
  EXPECT_EQ(places.back(), (MeshPlace{0, {3, 1, 0}}));
  places.clear();
  mesh.FindAllNear({{7, 5, 3}, 1.25, 1.0}, places);
  EXPECT_THAT(places, IsEmpty());
}

// Points of a slanted edge are hardly ever on it once they are rounded: which side they are on is exact.
TEST(FindNearestTest, SidesOfEdgesAreExact) {
  const double far = kMaxReach;
  const NavMesh mesh = MeshOf(DrawMesh({{-far, -far}, {far, -far + 1}, {far, far}}, {{0, 1, 2}}));
  // On the edge, where its height over -far grows by 1 in 2^21.
  const double x = far / 2;
  const double on_edge = -far + 0.75;
  const double step = 1.0 / (1 << 20);
  EXPECT_TRUE(mesh.Contains(0, ToFixed(Point{x, on_edge})));
  EXPECT_TRUE(mesh.Contains(0, ToFixed(Point{x, on_edge + step})));
  EXPECT_FALSE(mesh.Contains(0, ToFixed(Point{x, on_edge - step})));
  EXPECT_TRUE(mesh.Contains(0, ToFixed(Point{-far, -far})));
  EXPECT_FALSE(mesh.Contains(0, ToFixed(Point{-far, -far + step})));
}

using Real = long double;
struct RealPoint {
  Real x = 0;
  Real y = 0;
  Real z = 0;
};

RealPoint RealOf(const WorldPoint& point) { return {point.x, point.y, point.z}; }

// Returns the point of a triangle that is nearest to (x, y) seen from above, with its height.
RealPoint NearestOfTriangle(const std::vector<RealPoint>& corners, Real x, Real y) {
  const auto cross = [](const RealPoint& a, const RealPoint& b, Real px, Real py) {
    return (b.x - a.x) * (py - a.y) - (b.y - a.y) * (px - a.x);
  };
  const RealPoint& a = corners[0];
  const RealPoint& b = corners[1];
  const RealPoint& c = corners[2];
  const Real whole = cross(a, b, c.x, c.y);
  const Real of_a = cross(b, c, x, y) / whole;
  const Real of_b = cross(c, a, x, y) / whole;
  const Real of_c = cross(a, b, x, y) / whole;
  if (of_a >= 0 && of_b >= 0 && of_c >= 0) {
    return {x, y, of_a * a.z + of_b * b.z + of_c * c.z};
  }
  RealPoint nearest;
  Real least = std::numeric_limits<Real>::infinity();
  for (std::size_t k = 0; k < 3; ++k) {
    const RealPoint& from = corners[k];
    const RealPoint& to = corners[(k + 1) % 3];
    const Real dx = to.x - from.x;
    const Real dy = to.y - from.y;
    const Real share = std::clamp<Real>(((x - from.x) * dx + (y - from.y) * dy) / (dx * dx + dy * dy), 0, 1);
    const RealPoint point = {from.x + share * dx, from.y + share * dy, from.z + share * (to.z - from.z)};
    const Real distance = std::hypot(point.x - x, point.y - y);
    if (distance < least) {
      least = distance;
      nearest = point;
    }
  }
  return nearest;
}

RealPoint NearestOfPolygon(const NavMesh& mesh, PolygonNumber polygon, Real x, Real y) {
  const auto loop = mesh.VerticesOf(polygon);
  RealPoint mean;
  for (const std::uint32_t vertex : loop) {
    const RealPoint point = RealOf(mesh.VertexAt(vertex));
    const auto count = static_cast<Real>(loop.size());
    mean = {mean.x + point.x / count, mean.y + point.y / count, mean.z + point.z / count};
  }
  RealPoint nearest;
  Real least = std::numeric_limits<Real>::infinity();
  for (std::size_t k = 0; k < loop.size(); ++k) {
    const RealPoint point = NearestOfTriangle(
        {mean, RealOf(mesh.VertexAt(loop[k])), RealOf(mesh.VertexAt(loop[(k + 1) % loop.size()]))}, x, y);
    if (std::hypot(point.x - x, point.y - y) < least) {
      least = std::hypot(point.x - x, point.y - y);
      nearest = point;
    }
  }
  return nearest;
}

// Rounding to 2^-20 moves a point by less than this, heights on the slopes of these meshes included.
constexpr Real kSlack = 1e-5;

// Judges the answer for a position by looking at every polygon.
void JudgeNearest(const NavMesh& mesh, const MeshReach& reach) {
  const auto distance_of = [&](const RealPoint& point) {
    return std::hypot(point.x - reach.position.x, point.y - reach.position.y, point.z - reach.position.z);
  };
  const std::optional<MeshPlace> place = mesh.FindNearest(reach);
  if (place) {
    const RealPoint point = RealOf(place->point);
    const RealPoint nearest = NearestOfPolygon(mesh, place->polygon, reach.position.x, reach.position.y);
    EXPECT_LT(std::hypot(point.x - nearest.x, point.y - nearest.y, point.z - nearest.z), kSlack);
    EXPECT_LE(std::hypot(point.x - reach.position.x, point.y - reach.position.y), reach.radius + kSlack);
    EXPECT_LE(std::abs(point.z - reach.position.z), reach.height + kSlack);
  }
  const Real found = place ? distance_of(RealOf(place->point)) : std::numeric_limits<Real>::infinity();
  for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
    const RealPoint point = NearestOfPolygon(mesh, polygon, reach.position.x, reach.position.y);
    if (std::hypot(point.x - reach.position.x, point.y - reach.position.y) < reach.radius - kSlack &&
        std::abs(point.z - reach.position.z) < reach.height - kSlack) {
      EXPECT_LE(found, distance_of(point) + kSlack) << "polygon " << polygon;
    }
  }
}

TEST(FindNearestTest, IsRightOnRandomMeshes) {
  Random random(20);
  for (std::uint64_t round = 0; round < Rounds(20); ++round) {
    MeshSpec spec;
    for (int floor = random.Between(1, 4); floor > 0; --floor) {
      AddFloor(spec, random.Between(2, 9), random.Between(2, 9), 1.5 * floor, random);
    }
    const NavMesh mesh = MeshOf(std::move(spec));
    for (int i = 0; i < 60; ++i) {
      const auto coordinate = [&] { return random.Between(-2'000, 12'000) / 1'000.0; };
      JudgeNearest(mesh, {{coordinate(), coordinate(), coordinate() / 2},
                          random.Chance(0.2) ? kAnywhere : random.Between(1, 3'000) / 1'000.0,
                          random.Chance(0.2) ? kAnywhere : random.Between(1, 3'000) / 1'000.0});
    }
    // Vertices and middles of edges are on several polygons.
    for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
      const auto loop = mesh.VerticesOf(polygon);
      const WorldPoint& a = mesh.VertexAt(loop[0]);
      const WorldPoint& b = mesh.VertexAt(loop[1]);
      JudgeNearest(mesh, {a, 0.0, 0.0});
      const auto place = mesh.FindNearest({a, 0.0, 0.0});
      ASSERT_TRUE(place.has_value());
      EXPECT_EQ(place->point, a);
      EXPECT_LE(place->polygon, polygon);
      JudgeNearest(mesh, {{(a.x + b.x) / 2, (a.y + b.y) / 2, (a.z + b.z) / 2}, 0.001, 0.001});
    }
  }
}

}  // namespace
}  // namespace waystar::core
