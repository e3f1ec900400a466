// Small meshes for tests.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "tests/testing/random.h"

namespace waystar::testing {

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

}  // namespace waystar::testing
