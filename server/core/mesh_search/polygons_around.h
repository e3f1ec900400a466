// The polygons of a navigation mesh that a place on an edge or a vertex belongs to.
#pragma once

#include <vector>

#include "absl/container/inlined_vector.h"
#include "server/core/mesh/cell_layer.h"
#include "server/core/mesh/nav_mesh.h"
#include "server/core/mesh_search/polygon_set.h"

namespace waystar::core {

// Adds the polygon of the place and those that its point joins to it: across an edge that it lies on, and
// around a vertex. What joins them is an edge, so walls keep polygons apart. A point that rounding has moved
// off an edge still lies on it. They are in the order of how many edges they are away from the polygon of the
// place. It costs O(corners of those polygons). REQUIRES: `polygons` is empty.
void FindPolygonsAround(const NavMesh& mesh, const MeshPlace& place, std::vector<PolygonNumber>& polygons);

// As this, of the cells. The polygon of the place is a cell.
void FindPolygonsAround(const CellLayer& cells, const MeshPlace& place, std::vector<PolygonNumber>& polygons);

// Returns true if the place lies inside of its polygon, away from other polygons, as most do: then
// FindPolygonsAround finds that alone.
bool IsAlone(const NavMesh& mesh, const MeshPlace& place);

// Returns them, mostly without memory of the heap.
using PolygonsAround = absl::InlinedVector<PolygonNumber, 8>;
PolygonsAround FindPolygonsAround(const NavMesh& mesh, const MeshPlace& place);

// Adds them to a set, which has all that are joined to those that it has.
void AddPolygonsAround(const NavMesh& mesh, const MeshPlace& place, PolygonSet& polygons);

}  // namespace waystar::core
