// Paths on navigation meshes whose ground costs differ.
#pragma once

#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/core/mesh/search/mesh_scratch.h"
#include "server/core/search/query.h"

namespace waystar::core {

// The bound that SearchWeightedMesh proves if the budget allows it.
inline constexpr double kWeightedBound = 1.05;

// Finds a path on a mesh with costs (NavMesh::costs): each part of it costs its length times the cost of the
// ground there, and on the border of two polygons the lower cost. In the report, lengths are costs, and
// `bound` is proved. A path also turns where it crosses from ground of one cost to ground of another.
//
// An A* over stretches of the edges of polygons keeps for each a lower bound of the cost of its points, which
// is linear along the stretch. Another follows from it across a polygon: the least sum of the bound and of a
// straight line is a convex function, whose tangent is a lower bound again. The search also keeps the cost of
// a path to the middle of each stretch. The polygons along the best of these paths are a corridor, in which
// the points where the path crosses edges are then moved until it costs least (Mitchell, Papadimitriou, "The
// Weighted Region Problem", 1991, describe such paths).
//
// If the cost of the path and the lower bound are further apart than kWeightedBound and the task's tolerance
// allow, the search is repeated with shorter stretches: from the goal, with the bounds of the first round as
// estimates of what is left, and only where a path could still cost less than what is to be proved. If a
// budget ends after a path is found, the report has the bound that is proved then.
//
// The result is the same on every machine. Costs O(polygons searched times the square of the stretches around
// each) in each round. The budget is checked before each expansion.
//
// REQUIRES: start and goal are places that NavMesh::FindNearest could return.
MeshSearchReport SearchWeightedMesh(const NavMesh& mesh, const MeshSearchTask& task, const Budget& budget,
                                    MeshScratch& scratch);

}  // namespace waystar::core
