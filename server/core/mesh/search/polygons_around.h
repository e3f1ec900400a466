// Polygons of a navigation mesh that contain a place on an edge or a vertex.
//
// A query that starts or ends on a vertex starts or ends in all polygons with that vertex at its height.
// Where a mesh touches itself, these form several fans (SplitFans), which no edge connects. A query therefore
// first finds the places of all fans, and then the polygons around each.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "server/core/mesh/map/cell_layer.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/polygon_set.h"

namespace waystar::core {

// Returns the place and, if it lies on a vertex, a place at the same point in each other fan of polygons with
// a vertex there, within kMeshTolerance in height, in the order of their lowest polygons. Costs O(corners of
// the polygon) and, on a vertex at a wall, O(log polygons) plus the corners of the polygons there.
using PlacesAround = absl::InlinedVector<MeshPlace, 1>;
PlacesAround FindPlacesAround(const NavMesh& mesh, const MeshPlace& place);

// Returns the labels of the connected parts of these places, in ascending order, at the same cost.
using PartsAround = absl::InlinedVector<std::uint32_t, 1>;
PartsAround FindPartsAround(const NavMesh& mesh, const MeshPlace& place);

// Returns true if they have a label in common: a path then leads from one place to the other.
bool HaveSharedPart(const PartsAround& a, const PartsAround& b);

// Appends the polygon of the place and those that its point connects to it: across an edge on which it lies,
// and around a vertex. Only edges connect polygons; walls separate them. A point that rounding has moved off
// an edge still counts as on it. The order is by the number of edges from the polygon of the place. Costs
// O(corners of those polygons).
// REQUIRES: `polygons` contains none of them.
void FindPolygonsAround(const NavMesh& mesh, const MeshPlace& place, std::vector<PolygonNumber>& polygons);

// Appends the same among cells. The polygon of the place is the number of a cell.
void FindPolygonsAround(const CellLayer& cells, const MeshPlace& place, std::vector<PolygonNumber>& polygons);

// Appends the polygons around each place that FindPlacesAround returns.
void FindPolygonsOfAllFans(const NavMesh& mesh, const MeshPlace& place, std::vector<PolygonNumber>& polygons);

// Returns true if the place is in the interior of its polygon, away from other polygons and vertices, as most
// are. The functions above then find only that polygon.
bool IsAlone(const NavMesh& mesh, const MeshPlace& place);

// Return these polygons, usually without heap allocation.
using PolygonsAround = absl::InlinedVector<PolygonNumber, 8>;
PolygonsAround FindPolygonsAround(const NavMesh& mesh, const MeshPlace& place);
PolygonsAround FindPolygonsAround(const NavMesh& mesh, const PlacesAround& places);

// Adds these polygons to a set.
// REQUIRES: the set contains all or none of the polygons connected to each other there.
void AddPolygonsAround(const NavMesh& mesh, const MeshPlace& place, PolygonSet& polygons);

}  // namespace waystar::core
