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
// ground there, and on the border of two polygons the lower cost. In the report, lengths are costs, `bound`
// is proved, and there are no turns at vertices only: a path also turns where it crosses from ground of one
// cost to ground of another.
//
// An A* over stretches of the edges of polygons keeps for each a lower bound of the cost to its points, which
// is linear along the stretch. A bound follows from another across a polygon: the least sum of it and of a
// straight line, which is convex, so that its tangent is a lower bound again. The polygons that lead to the
// goal this way are a corridor; a path of nearly least cost through it gives the upper bound (Snell's law
// holds at its crossings; compare Mitchell, Papadimitriou, "The Weighted Region Problem", 1991). If the two
// are further apart than the task's tolerance and kWeightedBound allow, the stretches are halved and the
// search is repeated, without what costs more than the path. After kMostRounds, or if the budget ends after
// a path is found, the report has the bound that is proved then.
//
// The result is the same on every machine. Costs O(polygons searched times the square of the stretches around
// each), in each round. The budget is checked before each expansion.
//
// REQUIRES: start and goal are places that NavMesh::FindNearest could return.
MeshSearchReport SearchWeightedMesh(const NavMesh& mesh, const MeshSearchTask& task, const Budget& budget,
                                    MeshScratch& scratch);

}  // namespace waystar::core
