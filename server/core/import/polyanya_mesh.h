// Meshes of the Polyanya search (.mesh): polygons in a plane, as words of text.
//
// Format: Cui, Harabor, Grastien, "Compromise-free Pathfinding on a Navigation Mesh" (2017) and its programs.
//   mesh VERSION        2 or 3
//   VERTICES POLYGONS   how many there are
// In version 2 each vertex is `x y n p...`, with the n polygons around it, and each polygon `n v... p...`:
// its n vertices counterclockwise, and for each of them the polygon across the edge that ends there, or -1
// for a wall; all are counted from 0. In version 3 a vertex is `x y` alone, and a polygon begins with 1 if it
// can be walked, and else 0; all are counted from 1, and the polygon across an edge is positive if the edge
// is open, negative if it is closed, and 0 if there is none. Words are separated by any white space.
//
// The mesh has height 0 and area 0 throughout. What cannot be walked is left out, so that polygons of version
// 3 get lower numbers, in the same order. Vertices that no polygon is left for are left out too. The polygons
// around a vertex are not read further than to know where their list ends.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/nav_mesh.h"

namespace waystar::core {

// The first bytes of such a file.
inline constexpr absl::string_view kPolyanyaMeshMagic = "mesh";

// Returns INVALID_ARGUMENT without a field: BAD_FORMAT naming the line, also for polygons that
// NavMesh::Create refuses, or BAD_SIZE if there are too many or none. Returns the error of `stop`. It takes
// memory in proportion to the bytes.
absl::StatusOr<NavMesh> ParsePolyanyaMesh(absl::string_view bytes, const StopCheck* stop = nullptr);

}  // namespace waystar::core
