#include "server/core/mesh/map/mesh_cells.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/mesh/map/cell_layer.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/map/plan.h"
#include "tests/core/mesh/map/drawn_mesh.h"
#include "tests/testing/seeds.h"

namespace waystar::core {
namespace {

using ::testing::UnorderedElementsAre;

using Edge = std::pair<std::uint32_t, std::uint32_t>;

// Twice the area, in units of 2^-40.
template <typename Layer>
Int128 DoubleArea(const Layer& layer, PolygonNumber polygon) {
  const auto corners = layer.VerticesOf(polygon);
  const FixedPoint first = ToFixed(layer.VertexAt(corners.front()));
  Int128 sum = 0;
  for (std::size_t k = 1; k + 1 < corners.size(); ++k) {
    sum += SideOf(first, ToFixed(layer.VertexAt(corners[k])), ToFixed(layer.VertexAt(corners[k + 1])));
  }
  return sum;
}

std::vector<std::string> CellsOf(const NavMesh& mesh) {
  const CellLayer cells(mesh);
  std::vector<std::string> drawn;
  for (PolygonNumber cell = 0; cell < cells.cell_count(); ++cell) {
    const auto corners = cells.VerticesOf(cell);
    const std::size_t least = static_cast<std::size_t>(std::ranges::min_element(corners) - corners.begin());
    std::string text;
    for (std::size_t k = 0; k < corners.size(); ++k) {
      text += (k == 0 ? "" : " ") + std::to_string(corners[(least + k) % corners.size()]);
    }
    drawn.push_back(text);
  }
  return drawn;
}

// 4---5---6---7
// |   |   |   |
// 0---1---2---3
MeshSpec Row() {
  return DrawMesh({{0, 0, 0}, {2, 0, 0}, {4, 0, 0}, {6, 0, 0}, {0, 2, 0}, {2, 2, 0}, {4, 2, 0}, {6, 2, 0}},
                  {{0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}});
}

TEST(MeshCellsTest, PolygonsInARowAreOneCell) {
  EXPECT_THAT(CellsOf(MeshOf(Row())), UnorderedElementsAre("0 3 7 4"));
}

TEST(MeshCellsTest, AreasStayApart) {
  MeshSpec spec = Row();
  spec.polygons[2].area = 7;
  EXPECT_THAT(CellsOf(MeshOf(std::move(spec))), UnorderedElementsAre("0 2 6 4", "2 3 7 6"));
}

TEST(MeshCellsTest, ACornerOfAWallStays) {
  // An L: its halves are not convex together.
  const NavMesh mesh = MeshOf(
      DrawMesh({{0, 0, 0}, {2, 0, 0}, {4, 0, 0}, {4, 2, 0}, {2, 2, 0}, {0, 2, 0}, {2, 4, 0}, {0, 4, 0}},
               {{0, 1, 4, 5}, {1, 2, 3, 4}, {5, 4, 6, 7}}));
  EXPECT_THAT(CellsOf(mesh), ::testing::SizeIs(2));
}

template <typename Layer>
void ExpectNeighboursAgree(const Layer& layer, std::size_t count) {
  std::map<Edge, std::vector<std::pair<PolygonNumber, PolygonNumber>>> sides;
  for (PolygonNumber cell = 0; cell < count; ++cell) {
    const auto corners = layer.VerticesOf(cell);
    for (std::size_t k = 0; k < corners.size(); ++k) {
      sides[{corners[k], corners[(k + 1) % corners.size()]}].push_back({cell, layer.NeighboursOf(cell)[k]});
    }
  }
  for (const auto& [edge, found] : sides) {
    for (const auto& [cell, neighbour] : found) {
      if (neighbour == kNoPolygon) {
        continue;
      }
      const auto back = sides.find({edge.second, edge.first});
      ASSERT_NE(back, sides.end());
      EXPECT_THAT(back->second, ::testing::Contains(std::pair(neighbour, cell)));
    }
  }
}

template <typename Layer>
double WallLength(const Layer& layer, std::size_t count) {
  double length = 0.0;
  for (PolygonNumber cell = 0; cell < count; ++cell) {
    const auto corners = layer.VerticesOf(cell);
    for (std::size_t k = 0; k < corners.size(); ++k) {
      if (layer.NeighboursOf(cell)[k] == kNoPolygon) {
        const WorldPoint& a = layer.VertexAt(corners[k]);
        const WorldPoint& b = layer.VertexAt(corners[(k + 1) % corners.size()]);
        length += std::hypot(b.x - a.x, b.y - a.y);
      }
    }
  }
  return length;
}

void ExpectSameGround(const NavMesh& mesh) {
  const CellLayer cells(mesh);
  EXPECT_LE(cells.cell_count(), mesh.polygon_count());
  Int128 of_cells = 0;
  for (PolygonNumber cell = 0; cell < cells.cell_count(); ++cell) {
    const auto corners = cells.VerticesOf(cell);
    for (std::size_t k = 0; k < corners.size() && !cells.IsDented(cell); ++k) {
      const auto corner = [&](std::size_t i) { return ToFixed(cells.VertexAt(corners[i % corners.size()])); };
      ASSERT_TRUE(SideOf(corner(k), corner(k + 1), corner(k + 2)) >= 0);
    }
    const Int128 area = DoubleArea(cells, cell);
    EXPECT_TRUE(area > 0);
    of_cells += area;
  }
  Int128 of_polygons = 0;
  for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
    of_polygons += DoubleArea(mesh, polygon);
  }
  EXPECT_TRUE(of_cells == of_polygons);
  EXPECT_NEAR(WallLength(cells, cells.cell_count()), WallLength(mesh, mesh.polygon_count()), 1e-6);
  ExpectNeighboursAgree(cells, cells.cell_count());
  for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
    const PolygonNumber cell = cells.CellOf(polygon);
    const auto loop = cells.VerticesOf(cell);
    for (std::size_t k = 0; k < loop.size() && !cells.IsDented(cell); ++k) {
      for (const std::uint32_t vertex : mesh.VerticesOf(polygon)) {
        EXPECT_GE(
            Side(cells.VertexAt(loop[k]), cells.VertexAt(loop[(k + 1) % loop.size()]), mesh.VertexAt(vertex)),
            0.0);
      }
    }
  }
}

TEST(MeshCellsTest, CoverTheSameGround) {
  ForSeeds(200, [&](Random& random) { ExpectSameGround(MeshOf(BentFloors(random, 2, 1, 9))); });
}

}  // namespace
}  // namespace waystar::core
