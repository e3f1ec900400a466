// Reader of meshes of the Polyanya search (.mesh): polygons in a plane, as words of text.
//
// Format: Cui, Harabor, Grastien, "Compromise-free Pathfinding on a Navigation Mesh" (2017), and its
// programs.
//   mesh VERSION        2 or 3
//   VERTICES POLYGONS   how many there are
// In version 2 a vertex is `x y n p...`, with the n polygons around it. A polygon is `n v... p...`: its n
// vertices counterclockwise, and for each of them the polygon across the edge that ends there, or -1 for a
// wall. Numbers are counted from 0. In version 3 a vertex is `x y`, and a polygon begins with 1 if it is
// walkable, else 0. Numbers are counted from 1; the polygon across an edge is positive if the edge is open,
// negative if it is closed, and 0 if there is none. Words are separated by white space.
//
// Height and area are 0 throughout. Unwalkable polygons and unused vertices are dropped; the others are
// renumbered in order. The polygons around a vertex are skipped.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/nav_mesh.h"

namespace waystar::core {

// The first bytes of such a file.
inline constexpr absl::string_view kPolyanyaMeshMagic = "mesh";

// Returns INVALID_ARGUMENT without a field: BAD_FORMAT naming the line, also for polygons that
// NavMesh::Create rejects, or BAD_SIZE if there are too many or none; or the error of `stop`. Memory is
// proportional to the bytes.
absl::StatusOr<NavMesh> ParsePolyanyaMesh(absl::string_view bytes, const StopCheck* stop = nullptr);

}  // namespace waystar::core
