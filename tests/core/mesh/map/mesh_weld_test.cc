#include "server/core/mesh/map/mesh_weld.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/map/shape_outlines.h"
#include "tests/core/mesh/map/drawn_mesh.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/stop_after.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;

constexpr WeldTolerance kTolerance = {.plan = 0.01, .height = 0.5};

void AddLoop(MeshSoup& soup, const std::vector<WorldPoint>& loop, std::uint8_t area = 0) {
  std::vector<std::uint32_t> corners;
  for (const WorldPoint& point : loop) {
    corners.push_back(static_cast<std::uint32_t>(soup.spec.vertices.size()));
    soup.spec.vertices.push_back(point);
  }
  soup.spec.AddPolygon(corners, area);
}

// Each loop has vertices of its own.
MeshSoup SoupOf(std::initializer_list<std::vector<WorldPoint>> loops) {
  MeshSoup soup;
  for (const std::vector<WorldPoint>& loop : loops) {
    AddLoop(soup, loop);
  }
  return soup;
}

NavMesh Welded(MeshSoup soup, const WeldTolerance& tolerance = kTolerance) {
  absl::StatusOr<MeshSpec> spec = WeldMesh(std::move(soup), tolerance);
  EXPECT_THAT(spec, IsOk());
  return MeshOf(*std::move(spec));
}

std::size_t OpenEdges(const NavMesh& mesh) {
  std::size_t open = 0;
  for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
    for (const PolygonNumber neighbour : mesh.NeighboursOf(polygon)) {
      open += neighbour != kNoPolygon ? 1 : 0;
    }
  }
  return open;
}

TEST(MeshWeldTest, VerticesAtOnePlaceAreOne) {
  // The second is 0.006 to the right and 0.4 above, and clockwise.
  const NavMesh mesh = Welded(SoupOf(
      {{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}, {{1.006, 1, 0.4}, {2, 0.5, 0}, {1.006, 0, 0.4}}}));
  EXPECT_EQ(mesh.vertex_count(), 5u);
  EXPECT_EQ(mesh.VertexAt(2), (WorldPoint{1, 1, 0})) << "the first one stays";
  EXPECT_THAT(mesh.NeighboursOf(0), ElementsAre(kNoPolygon, 1, kNoPolygon, kNoPolygon));
  EXPECT_EQ(mesh.part_count(), 1u);
}

TEST(MeshWeldTest, VerticesFurtherApartStayApart) {
  const std::vector<WorldPoint> square = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  EXPECT_EQ(Welded(SoupOf({square, {{1.02, 0, 0}, {2, 0.5, 0}, {1.02, 1, 0}}})).part_count(), 2u);
  EXPECT_EQ(Welded(SoupOf({square, {{1, 0, 0.6}, {2, 0.5, 0}, {1, 1, 0.6}}})).part_count(), 2u);
  EXPECT_EQ(Welded(SoupOf({square, {{1, 0, 0}, {2, 0.5, 0}, {1, 1, 0}}}), {}).part_count(), 1u);
}

// Of several floors a vertex joins that which is nearest.
TEST(MeshWeldTest, TheNearestVertexIsJoined) {
  const NavMesh mesh = Welded(SoupOf({{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}},
                                      {{0, 0, 0.7}, {1, 0, 0.7}, {1, 1, 0.7}, {0, 1, 0.7}},
                                      {{1, 0, 0.45}, {2, 0.5, 0.45}, {1, 1, 0.45}}}));
  EXPECT_THAT(mesh.NeighboursOf(2), ElementsAre(kNoPolygon, kNoPolygon, 1));
}

//  +---+-+
//  |   +-+
//  |   | |
//  +---+ |     the right column begins below
//      +-+
TEST(MeshWeldTest, EdgesThatOverlapAreSplitAndJoined) {
  const NavMesh mesh = Welded(SoupOf({{{0, 0, 0}, {3, 0, 0}, {3, 3, 3}, {0, 3, 3}},
                                      {{3, -1, -1}, {4, -1, -1}, {4, 2, 2}, {3, 2, 2}},
                                      {{3, 2, 2}, {4, 2, 2}, {4, 3, 3}, {3, 3, 3}}}));
  EXPECT_EQ(mesh.polygon_count(), 3u);
  EXPECT_EQ(mesh.VerticesOf(0).size(), 5u);
  EXPECT_THAT(mesh.NeighboursOf(0), ElementsAre(kNoPolygon, 1, 2, kNoPolygon, kNoPolygon));
  EXPECT_THAT(mesh.NeighboursOf(1), ElementsAre(kNoPolygon, kNoPolygon, 2, 0, kNoPolygon));
}

TEST(MeshWeldTest, EdgesAboveEachOtherAreNotJoined) {
  // The right one leaves the edge of the left one at a slope.
  const NavMesh mesh = Welded(SoupOf(
      {{{0, 0, 0}, {3, 0, 0}, {3, 3, 0}, {0, 3, 0}}, {{3, 1, 0.9}, {4, 1, 0.9}, {4, 2, 1}, {3, 2, 1}}}));
  EXPECT_EQ(mesh.part_count(), 2u);
  EXPECT_EQ(mesh.corner_count(), 8u);
}

TEST(MeshWeldTest, OnlySeamsAreJoined) {
  MeshSoup soup = SoupOf({{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}},
                          {{2, 0, 0}, {2, 1, 0}, {1, 1, 0}, {1, 0, 0}},
                          {{1, 1, 0}, {1, 2, 0}, {0, 2, 0}, {0, 1, 0}}});
  soup.seams = {false, true,  false, false,  //
                false, false, true,  false,  //
                false, false, false, false};
  const NavMesh mesh = Welded(soup);
  EXPECT_THAT(mesh.NeighboursOf(0), ElementsAre(kNoPolygon, 1, kNoPolygon, kNoPolygon));
  // The seam of a loop that is turned round stays where it is.
  soup = SoupOf({{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}},
                 {{1, 0, 0}, {1, 1, 0}, {2, 1, 0}, {2, 0, 0}},
                 {{2, 0, 0}, {3, 0, 0}, {3, 1, 0}, {2, 1, 0}}});
  soup.seams.assign(12, false);
  soup.seams[1] = soup.seams[4] = true;
  EXPECT_EQ(Welded(soup).part_count(), 2u);
  soup.seams[6] = soup.seams[11] = true;
  EXPECT_EQ(Welded(soup).part_count(), 1u);
}

TEST(MeshWeldTest, DentedPolygonsBecomeTriangles) {
  // An L, and a square in its corner, whose sides end in the middle of those of the L.
  MeshSoup soup;
  AddLoop(soup, {{0, 0, 0}, {3, 0, 0}, {3, 1, 0}, {1, 1, 0}, {1, 3, 0}, {0, 3, 0}}, 7);
  AddLoop(soup, {{1, 1, 0}, {2, 1, 0}, {2, 2, 0}, {1, 2, 0}}, 8);
  const NavMesh mesh = Welded(std::move(soup));
  EXPECT_NEAR(AreaOf(mesh), 6.0, 1e-9);
  EXPECT_EQ(mesh.part_count(), 1u);
  EXPECT_EQ(mesh.AreaOf(0), 7);
  const auto last = static_cast<PolygonNumber>(mesh.polygon_count() - 1);
  EXPECT_EQ(mesh.AreaOf(last), 8);
  EXPECT_NE(mesh.NeighboursOf(last)[0], kNoPolygon);
  EXPECT_NE(mesh.NeighboursOf(last)[3], kNoPolygon);
}

TEST(MeshWeldTest, PolygonsWithoutAreaAreDropped) {
  // A triangle with no area between two squares, one of which has a vertex where it has one.
  const NavMesh mesh = Welded(SoupOf({{{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0}},
                                      {{2, 0, 0}, {2, 1, 0}, {2, 2, 0}},
                                      {{2, 0, 0}, {4, 0, 0}, {4, 2, 0}, {2, 2, 0}, {2, 1, 0}},
                                      {{0, 0, 0}, {0.001, 0, 0}, {0.001, 0.001, 0}}}));
  EXPECT_EQ(mesh.polygon_count(), 2u);
  EXPECT_EQ(OpenEdges(mesh), 4u);
  WeldReport report;
  const absl::StatusOr<MeshSpec> none =
      WeldMesh(SoupOf({{{0, 0, 0}, {1, 1, 0}, {2, 2, 0}}}), kTolerance, nullptr, &report);
  EXPECT_EQ(report.dropped, 1u);
  ASSERT_THAT(none, IsOk());
  EXPECT_TRUE(none->polygons.empty());
}

TEST(MeshWeldTest, AThirdPolygonAtAnEdgeHasAWall) {
  const std::vector<WorldPoint> left = {{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0}};
  const std::vector<WorldPoint> right = {{2, 0, 0}, {4, 0, 0}, {4, 2, 0}, {2, 2, 0}};
  const std::vector<WorldPoint> ramp = {{2, 0, 0}, {4, 0, 3}, {4, 2, 3}, {2, 2, 0}};
  const NavMesh mesh = Welded(SoupOf({left, right, ramp, ramp}));
  EXPECT_EQ(mesh.polygon_count(), 4u);
  EXPECT_THAT(mesh.NeighboursOf(0), ElementsAre(kNoPolygon, 1, kNoPolygon, kNoPolygon));
  EXPECT_EQ(mesh.part_count(), 3u);
  EXPECT_EQ(mesh.VertexAt(mesh.VerticesOf(2).back()), (WorldPoint{2, 1, 0}));
}

TEST(MeshWeldTest, PolygonsOfManyCornersBecomeTriangles) {
  std::vector<WorldPoint> circle;
  for (int i = 0; i < 1'000; ++i) {
    circle.push_back({100.0 * std::cos(i * 0.006283185), 100.0 * std::sin(i * 0.006283185), 0.0});
  }
  const NavMesh mesh = Welded(SoupOf({circle}));
  EXPECT_EQ(mesh.polygon_count(), 998u);
  EXPECT_EQ(mesh.part_count(), 1u);
  circle.resize(kMaxWeldCorners + 1, {200, 200, 0});
  EXPECT_THAT(WeldMesh(SoupOf({circle}), kTolerance), IsError(kInvalid, ErrorReason::kBadSize, ""));
}

// A wide floor beside many narrow ones.
TEST(MeshWeldTest, AnEdgeMayHaveManyNeighbours) {
  MeshSoup soup = SoupOf({{{0, 0, 0}, {500, 0, 0}, {500, -9, 0}, {0, -9, 0}}});
  for (int i = 0; i < 500; ++i) {
    AddLoop(soup, {{i + 0.0, 0, 0}, {i + 1.0, 0, 0}, {i + 1.0, 1, 0}, {i + 0.0, 1, 0}});
  }
  const NavMesh mesh = Welded(std::move(soup));
  EXPECT_EQ(mesh.part_count(), 1u);
  EXPECT_NEAR(AreaOf(mesh), 5'000.0, 1e-6);
}

// Floors in pieces, with vertices of their own in any order: the mesh is that of the floor.
TEST(MeshWeldTest, FloorsAreJoinedFromTheirPieces) {
  Random random(3);
  for (std::uint64_t round = 0; round < Rounds(60); ++round) {
    MeshSpec floor;
    AddFloor(floor, 6, 5, 0.0, random);
    AddFloor(floor, 6, 5, 5.0, random);
    if (floor.polygons.empty()) {
      continue;
    }
    MeshSoup soup;
    std::size_t first = 0;
    for (const MeshPolygon& polygon : floor.polygons) {
      std::vector<WorldPoint> loop;
      for (std::size_t k = 0; k < polygon.corner_count; ++k) {
        loop.push_back(floor.vertices[floor.corners[first + k]]);
      }
      first += polygon.corner_count;
      if (random.Chance(0.5)) {
        std::reverse(loop.begin(), loop.end());
      }
      AddLoop(soup, loop, polygon.area);
    }
    const NavMesh whole = MeshOf(floor);
    const NavMesh welded = Welded(std::move(soup), {.plan = 0.01, .height = 0.001});
    ASSERT_EQ(welded.polygon_count(), whole.polygon_count());
    EXPECT_EQ(OpenEdges(welded), OpenEdges(whole));
    EXPECT_EQ(welded.part_count(), whole.part_count());
    for (PolygonNumber i = 0; i < whole.polygon_count(); ++i) {
      EXPECT_EQ(welded.PartOf(i), whole.PartOf(i));
      EXPECT_EQ(welded.AreaOf(i), whole.AreaOf(i));
    }
  }
}

// Polygons of any shape, on top of each other, with corners on a coarse lattice or close to it.
TEST(MeshWeldTest, EverySoupBecomesAMesh) {
  Random random(11);
  for (std::uint64_t round = 0; round < Rounds(1'500); ++round) {
    MeshSoup soup;
    const int span = random.Between(1, 6);
    const int polygons = random.Between(1, 40);
    for (int i = 0; i < polygons; ++i) {
      std::vector<WorldPoint> loop;
      for (int k = random.Between(3, random.Chance(0.1) ? 80 : 6); k > 0; --k) {
        const double near = random.Chance(0.2) ? random.Between(-9, 9) / 500.0 : 0.0;
        loop.push_back({random.Between(0, span) + near, random.Between(0, span) - near,
                        random.Between(0, 2) * (random.Chance(0.5) ? 0.3 : 1.0)});
      }
      AddLoop(soup, loop, static_cast<std::uint8_t>(random.Between(0, 63)));
    }
    const WeldTolerance tolerance = {.plan = random.Between(0, 2) * 0.01,
                                     .height = random.Between(0, 2) * 0.3};
    const absl::StatusOr<MeshSpec> spec = WeldMesh(soup, tolerance);
    ASSERT_THAT(spec, IsOk());
    if (!spec->polygons.empty()) {
      ASSERT_THAT(NavMesh::Create(*spec), IsOk()) << round;
    }
    const absl::StatusOr<MeshSpec> again = WeldMesh(std::move(soup), tolerance);
    ASSERT_THAT(again, IsOk());
    EXPECT_EQ(again->vertices, spec->vertices);
    EXPECT_EQ(again->corners, spec->corners);
  }
}

// Every edge has all vertices on it, or nearly: the work ends with an error, or when it is asked to.
TEST(MeshWeldTest, HostileLinesAreRefused) {
  MeshSoup soup;
  for (int i = 0; i < 5'000; ++i) {
    AddLoop(soup, {{i + 0.0, 0, 0}, {20'000.0 + i, 0, 0}, {i + 0.0, 1.0 + i, 0}});
  }
  EXPECT_THAT(WeldMesh(soup, kTolerance), IsError(kInvalid, ErrorReason::kBadSize, ""));
  for (int looks : {0, 1, 10, 100}) {
    const StopAfter stop(looks);
    EXPECT_EQ(WeldMesh(soup, kTolerance, &stop).status().code(), absl::StatusCode::kCancelled);
    EXPECT_EQ(stop.looks(), looks + 1);
  }
}

// They have edges along each other, but none to join.
TEST(MeshWeldTest, ManyPolygonsOnEachOtherTakeLittleWork) {
  MeshSoup soup;
  for (int i = 0; i < 2'000; ++i) {
    AddLoop(soup, {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}});
  }
  for (const bool has_seams : {false, true}) {
    soup.seams.assign(has_seams ? soup.spec.corners.size() : 0, true);
    const StopAfter never(100'000'000);
    EXPECT_THAT(WeldMesh(soup, kTolerance, &never), IsOk());
    EXPECT_LT(never.looks(), 2'000);
  }
}

// So many triangles with one long edge, along so many with a short one.
MeshSoup LongAndShortEdges(int long_edges, int short_edges) {
  MeshSoup soup;
  for (int i = 0; i < long_edges; ++i) {
    AddLoop(soup, {{short_edges + 0.0, 0, 0}, {0, 0, 0}, {i + 0.5, -1'000.0 - i, 0}});
  }
  for (int i = 0; i < short_edges; ++i) {
    AddLoop(soup, {{i + 0.0, 0, 0}, {i + 1.0, 0, 0}, {i + 0.5, 5.0, 0}});
  }
  return soup;
}

// What cutting them up would take is known before it begins, or soon found.
TEST(MeshWeldTest, ManyVerticesOnManyEdgesAreRefusedSoon) {
  EXPECT_THAT(WeldMesh(LongAndShortEdges(20, 20), kTolerance), IsOk());
  for (const auto& [long_edges, short_edges] : {std::pair(1'500, 1'500), std::pair(40, 4'000)}) {
    const StopAfter never(100'000'000);
    EXPECT_THAT(WeldMesh(LongAndShortEdges(long_edges, short_edges), kTolerance, &never),
                IsError(kInvalid, ErrorReason::kBadSize, ""));
    EXPECT_LT(never.looks(), 600'000);
  }
}

TEST(TriangulateTest, KeepsTheAreaOfSimplePolygons) {
  Random random(5);
  for (std::uint64_t round = 0; round < Rounds(400); ++round) {
    // A star, which has corners in the middle of its sides.
    std::vector<FixedPoint> loop;
    const int count = random.Between(3, 60);
    for (int k = 0; k < count; ++k) {
      const double angle = 6.283185307 * k / count;
      const double radius = random.Between(1, 4) * 1'000.0;
      loop.push_back({std::llrint(radius * std::cos(angle)), std::llrint(radius * std::sin(angle))});
    }
    for (std::size_t k = loop.size(); k-- > 0;) {
      const FixedPoint a = loop[k];
      const FixedPoint b = loop[(k + 1) % loop.size()];
      if ((a.x + b.x) % 2 == 0 && (a.y + b.y) % 2 == 0) {
        loop.insert(loop.begin() + static_cast<std::ptrdiff_t>(k) + 1, {(a.x + b.x) / 2, (a.y + b.y) / 2});
      }
    }
    const auto twice = [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
      return (loop[b].x - loop[a].x) * (loop[c].y - loop[a].y) -
             (loop[b].y - loop[a].y) * (loop[c].x - loop[a].x);
    };
    std::int64_t area = 0;
    for (std::uint32_t k = 2; k < loop.size(); ++k) {
      area += twice(0, k - 1, k);
    }
    if (area <= 0) {
      continue;
    }
    const absl::StatusOr<std::vector<LoopTriangle>> triangles = TriangulateLoop(loop);
    ASSERT_THAT(triangles, IsOk());
    EXPECT_EQ(triangles->size(), loop.size() - 2);
    for (const LoopTriangle& triangle : *triangles) {
      const std::int64_t part = twice(triangle[0], triangle[1], triangle[2]);
      EXPECT_GT(part, 0);
      area -= part;
    }
    EXPECT_EQ(area, 0);
  }
}

}  // namespace
}  // namespace waystar::core
