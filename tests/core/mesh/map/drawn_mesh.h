// Small meshes for tests.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "tests/testing/random.h"

namespace waystar {

// A mesh of these vertices and polygons.
inline core::MeshSpec DrawMesh(std::vector<core::WorldPoint> vertices,
                               std::initializer_list<std::vector<std::uint32_t>> polygons) {
  core::MeshSpec spec;
  spec.vertices = std::move(vertices);
  for (const std::vector<std::uint32_t>& polygon : polygons) {
    spec.AddPolygon(polygon);
  }
  return spec;
}

// REQUIRES: the spec is one of a mesh.
core::NavMesh MeshOf(core::MeshSpec spec);

// A floor of columns times rows squares that are bent out of shape, as quadrilaterals or pairs of triangles.
// Some are left out. `height` is that of the floor, whose vertices lie up to a unit above it.
void AddFloor(core::MeshSpec& spec, int columns, int rows, double height, Random& random);
// So many floors, 3 units above each other, of `least` to `most` squares in each direction. At least one
// square is not left out.
core::MeshSpec BentFloors(Random& random, int floors, int least = 2, int most = 7);

// Gives each polygon of the spec finer ground: a peak one unit above the mean of its corners, joined to them.
void AddPeaks(core::MeshSpec& spec);

// Returns the mean of the polygon's corners.
core::WorldPoint MiddleOf(const core::NavMesh& mesh, core::PolygonNumber polygon);

// Areas as seen from above: that of a polygon, and that of all.
double AreaOf(const core::NavMesh& mesh, core::PolygonNumber polygon);
double AreaOf(const core::NavMesh& mesh);

// Calls `visit` with the ends of each wall of the polygon.
template <typename Visit>
void ForEachWall(const core::NavMesh& mesh, core::PolygonNumber polygon, Visit visit) {
  const auto loop = mesh.VerticesOf(polygon);
  for (std::size_t k = 0; k < loop.size(); ++k) {
    if (mesh.NeighboursOf(polygon)[k] == core::kNoPolygon) {
      visit(mesh.VertexAt(loop[k]), mesh.VertexAt(loop[(k + 1) % loop.size()]));
    }
  }
}
// The same for the polygons with these numbers.
template <typename Visit>
void ForEachWall(const core::NavMesh& mesh, core::PolygonNumber begin, core::PolygonNumber end, Visit visit) {
  for (core::PolygonNumber polygon = begin; polygon < end; ++polygon) {
    ForEachWall(mesh, polygon, visit);
  }
}
template <typename Visit>
void ForEachWall(const core::NavMesh& mesh, Visit visit) {
  for (const core::PolygonNumber polygon : mesh.Polygons()) {
    ForEachWall(mesh, polygon, visit);
  }
}

}  // namespace waystar
