// The polygons of a navigation mesh that a place on an edge or a vertex belongs to.
//
// Queries begin and end in all polygons that have a vertex, at its height, where they begin or end on one.
// Where a mesh touches itself, there are several fans of them (SplitFans), which no edge joins: so a query
// looks for the places of all fans first, and then for the polygons around each.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "server/core/mesh/cell_layer.h"
#include "server/core/mesh/nav_mesh.h"
#include "server/core/mesh_search/polygon_set.h"

namespace waystar::core {

// Returns the place, and if it lies on a vertex a place at the same point in each other fan of polygons that
// has a vertex there, up to kMeshTolerance higher or lower, in the order of their least polygons. It costs
// O(corners of the polygon), and on a vertex at a wall O(log polygons) and the corners of the polygons there.
using PlacesAround = absl::InlinedVector<MeshPlace, 1>;
PlacesAround FindPlacesAround(const NavMesh& mesh, const MeshPlace& place);

// Returns the labels of the connected parts that these are in, in ascending order. The cost is the same.
using PartsAround = absl::InlinedVector<std::uint32_t, 1>;
PartsAround FindPartsAround(const NavMesh& mesh, const MeshPlace& place);

// Returns true if they have a label in common: then a path leads from one place to the other.
bool HaveSharedPart(const PartsAround& a, const PartsAround& b);

// Adds the polygon of the place and those that its point joins to it: across an edge that it lies on, and
// around a vertex. What joins them is an edge, so walls keep polygons apart. A point that rounding has moved
// off an edge still lies on it. They are in the order of how many edges they are away from the polygon of the
// place. It costs O(corners of those polygons). REQUIRES: `polygons` has none of them.
void FindPolygonsAround(const NavMesh& mesh, const MeshPlace& place, std::vector<PolygonNumber>& polygons);

// As this, of the cells. The polygon of the place is a cell.
void FindPolygonsAround(const CellLayer& cells, const MeshPlace& place, std::vector<PolygonNumber>& polygons);

// Adds those around each place that FindPlacesAround returns.
void FindPolygonsOfAllFans(const NavMesh& mesh, const MeshPlace& place, std::vector<PolygonNumber>& polygons);

// Returns true if the place lies inside of its polygon, away from other polygons and from vertices, as most
// do: then the functions above find that polygon alone.
bool IsAlone(const NavMesh& mesh, const MeshPlace& place);

// Returns them, mostly without memory of the heap.
using PolygonsAround = absl::InlinedVector<PolygonNumber, 8>;
PolygonsAround FindPolygonsAround(const NavMesh& mesh, const MeshPlace& place);
PolygonsAround FindPolygonsAround(const NavMesh& mesh, const PlacesAround& places);

// Adds them to a set, which has all that are joined to those that it has.
void AddPolygonsAround(const NavMesh& mesh, const MeshPlace& place, PolygonSet& polygons);

}  // namespace waystar::core
