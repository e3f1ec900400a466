#include "server/core/mesh/map/nav_mesh.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/base/error.h"
#include "tests/core/mesh/map/drawn_mesh.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/stop_after.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::waystar::testing::AddFloor;
using ::waystar::testing::DrawMesh;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::kInvalid;
using ::waystar::testing::MeshOf;
using ::waystar::testing::Random;

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
  EXPECT_EQ(mesh.bounds(), (MeshBounds{{0, 0, 0}, {10, 2, 4}}));
}

TEST(NavMeshTest, LabelsConnectedParts) {
  const NavMesh mesh = MeshOf(TwoRoomsAndAnIsland());
  EXPECT_EQ(mesh.part_count(), 2u);
  EXPECT_EQ(mesh.PartOf(0), 0u);
  EXPECT_EQ(mesh.PartOf(1), 0u);
  EXPECT_EQ(mesh.PartOf(2), 1u);
}

TEST(NavMeshTest, AVertexInCommonConnectsNothing) {
  const NavMesh mesh =
      MeshOf(DrawMesh({{0, 0}, {1, 0}, {0, 1}, {1, 1}, {-1, 0}, {-1, -1}}, {{0, 1, 2}, {0, 4, 5}}));
  EXPECT_EQ(mesh.part_count(), 2u);
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

// Tries each edge.
// REQUIRES: polygons have at most one edge in common.
void ExpectRoomsBetweenDoors(const NavMesh& mesh) {
  // Returns the polygons that are connected without the edge `without`, that begins in this corner of `side`.
  const auto reached_from = [&](PolygonNumber first, PolygonNumber side, std::size_t without) {
    std::vector<bool> is_reached(mesh.polygon_count());
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
  for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
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
    ExpectRoomsBetweenDoors(mesh);
    EXPECT_GE(mesh.room_count(), mesh.part_count());
  }
}

TEST(NavMeshTest, AnEdgeInTwoPartsIsNoDoor) {
  //  5-------4
  //  |   1   |
  //  0---1---2---6
  //  |   0   | 2 |
  //  8-------3---7
  const NavMesh mesh =
      MeshOf(DrawMesh({{0, 1}, {1, 1}, {2, 1}, {2, 0}, {2, 2}, {0, 2}, {3, 1}, {3, 0}, {0, 0}},
                      {{8, 3, 2, 1, 0}, {0, 1, 2, 4, 5}, {3, 7, 6, 2}}));
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

TEST(NavMeshTest, RefusesListsOfWrongLength) {
  const auto is_bad_size = [](const std::string& field) {
    return IsError(kInvalid, ErrorReason::kBadSize, field);
  };
  EXPECT_THAT(NavMesh::Create({}), is_bad_size("vertices"));
  MeshSpec spec = TwoRoomsAndAnIsland();
  spec.corners.push_back(0);
  EXPECT_THAT(NavMesh::Create(spec), is_bad_size("corners"));
  spec = TwoRoomsAndAnIsland();
  spec.polygons.pop_back();
  EXPECT_THAT(NavMesh::Create(spec), is_bad_size("corners"));
  spec.polygons.clear();
  EXPECT_THAT(NavMesh::Create(spec), is_bad_size("polygons"));
  spec = TwoRoomsAndAnIsland();
  spec.neighbours = {kNoPolygon};
  EXPECT_THAT(NavMesh::Create(spec), is_bad_size("neighbours"));
  spec = TwoRoomsAndAnIsland();
  spec.vertices.resize(kMaxMeshVertices + 1);
  EXPECT_THAT(NavMesh::Create(spec), is_bad_size("vertices"));
  // Together they would have as many corners as there are, but for overflow.
  spec = TwoRoomsAndAnIsland();
  spec.polygons[0].corner_count = std::numeric_limits<std::uint32_t>::max();
  EXPECT_THAT(NavMesh::Create(spec), IsBadPolygon("polygons[0]"));
}

TEST(NavMeshTest, RefusesNumbersOutOfRange) {
  const auto is_bad_value = [](const std::string& field) {
    return IsError(kInvalid, ErrorReason::kBadValue, field);
  };
  for (const double value : {std::numeric_limits<double>::quiet_NaN(),
                             -std::numeric_limits<double>::infinity(), 1e30, kMaxReach + 1}) {
    MeshSpec spec = TwoRoomsAndAnIsland();
    spec.vertices[3].x = value;
    EXPECT_THAT(NavMesh::Create(spec), is_bad_value("vertices[3].x"));
    spec = TwoRoomsAndAnIsland();
    spec.vertices[0].z = value;
    EXPECT_THAT(NavMesh::Create(spec), is_bad_value("vertices[0].z"));
  }
  MeshSpec spec = TwoRoomsAndAnIsland();
  spec.corners[5] = 9;
  EXPECT_THAT(NavMesh::Create(spec), is_bad_value("polygons[1].vertices[1]"));
  spec.corners[5] = std::numeric_limits<std::uint32_t>::max();
  EXPECT_THAT(NavMesh::Create(spec), is_bad_value("polygons[1].vertices[1]"));
  spec = TwoRoomsAndAnIsland();
  spec.polygons[1].area = 64;
  EXPECT_THAT(NavMesh::Create(spec), is_bad_value("polygons[1].area"));
}

TEST(NavMeshTest, RefusesDegeneratePolygons) {
  MeshSpec two_corners = TwoRoomsAndAnIsland();
  two_corners.polygons[2].corner_count = 2;
  EXPECT_THAT(NavMesh::Create(two_corners), IsBadPolygon("polygons[2]"));
  EXPECT_THAT(NavMesh::Create(OnePolygon({{0, 0}, {0, 1}, {1, 0}})), IsBadPolygon("polygons[0]"))
      << "clockwise";
  EXPECT_THAT(NavMesh::Create(OnePolygon({{0, 0}, {1, 1}, {2, 2}})), IsBadPolygon("polygons[0]")) << "flat";
  EXPECT_THAT(NavMesh::Create(OnePolygon({{0, 0, 0}, {1, 1, 0}, {1, 1, 5}, {0, 0, 5}})),
              IsBadPolygon("polygons[0]"))
      << "upright";
  EXPECT_THAT(NavMesh::Create(OnePolygon({{0, 0}, {1e-7, 0}, {0, 1e-7}})), IsBadPolygon("polygons[0]"))
      << "a point, once it is rounded";
  EXPECT_THAT(NavMesh::Create(DrawMesh({{0, 0}, {1, 0}, {1, 1}}, {{0, 1, 2, 2}})),
              IsBadPolygon("polygons[0]"))
      << "a vertex twice";
  EXPECT_THAT(NavMesh::Create(DrawMesh({{0, 0}, {1, 0}, {1, 1}}, {{0, 1, 2, 0, 1, 2}})),
              IsBadPolygon("polygons[0]"))
      << "twice around";
}

TEST(NavMeshTest, RefusesPolygonsThatAreNotConvex) {
  EXPECT_THAT(NavMesh::Create(OnePolygon({{0, 0}, {4, 0}, {4, 4}, {3, 1}})), IsBadPolygon("polygons[0]"));
  EXPECT_THAT(NavMesh::Create(OnePolygon({{0, 0}, {4, 0}, {0, 4}, {4, 4.5}})), IsBadPolygon("polygons[0]"))
      << "crosses itself";
  EXPECT_THAT(NavMesh::Create(OnePolygon({{0, -3}, {1, 3}, {-3, -1}, {3, -1}, {-1, 3}})),
              IsBadPolygon("polygons[0]"))
      << "a star turns left in all corners, but twice around";
  EXPECT_THAT(NavMesh::Create(OnePolygon({{0, 0}, {3, 0}, {2, 0}, {4, 0}, {4, 4}, {0, 4}})),
              IsBadPolygon("polygons[0]"))
      << "runs back along a side";
  EXPECT_THAT(NavMesh::Create(OnePolygon({{0, 0}, {4, 0}, {6, 0}, {4, 0}, {4, 4}, {0, 4}})),
              IsBadPolygon("polygons[0]"))
      << "has a spike";
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
  const testing::StopAfter never;
  ASSERT_TRUE(NavMesh::Create(spec, &never).ok());
  for (int checks = 0; checks < never.looks(); ++checks) {
    const testing::StopAfter stop(checks);
    EXPECT_EQ(NavMesh::Create(spec, &stop).status().code(), absl::StatusCode::kCancelled) << checks;
    // Two more, on the way back.
    EXPECT_LE(stop.looks(), checks + 3);
  }
}

}  // namespace
}  // namespace waystar::core
