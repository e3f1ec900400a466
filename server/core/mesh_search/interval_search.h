// Shortest paths on navigation meshes.
#pragma once

#include <cstddef>

#include "absl/types/span.h"
#include "server/core/graph/world_point.h"
#include "server/core/mesh/nav_mesh.h"
#include "server/core/mesh_search/interval_recorder.h"
#include "server/core/mesh_search/mesh_scratch.h"
#include "server/core/search/query.h"
#include "server/core/search/report.h"

namespace waystar::core {

struct MeshSearchTask {
  MeshPlace start;
  MeshPlace goal;
};

struct MeshSearchReport {
  // kGoalReached, kExhausted (there is no path), or what ended the search early.
  SearchEnd end = SearchEnd::kExhausted;
  // The length seen from above: the sum of the distances between consecutive corners, added in this order.
  // It is 0 unless the goal was reached, and the following are empty.
  double length = 0.0;
  // The start, the vertices where the path turns, and the goal. Consecutive ones differ in the plan, so that
  // there is a single corner if start and goal are at the same place. They live in the scratch until its next
  // search, as does the corridor.
  absl::Span<const WorldPoint> corners;
  // The polygons that the path leads through, in order, each adjoining the next along an edge. The first
  // contains the start and the last the goal; they are not those of the task where a start or a goal on an
  // edge belongs to another polygon as well.
  absl::Span<const PolygonNumber> corridor;
  // Intervals that were expanded, and that were put on the open list.
  SearchStatistics statistics;
  // The greatest length of the open list.
  std::size_t open_peak = 0;
};

// Finds a shortest path by Polyanya (Cui, Harabor, Grastien, "Compromise-free Pathfinding on a Navigation
// Mesh", IJCAI 2017): an A* whose nodes are a root, the last place where the path turns, and an interval of
// an edge that is seen from there. Lengths are those seen from above. A path passes from polygon to polygon
// through edges, not through a vertex alone, and may turn only at vertices that lie on a wall. A start or a
// goal on a vertex is in all polygons that have it (FindPlacesAround), also where they meet in it alone.
//
// It goes over the cells of the mesh (CellLayer), which are fewer, and the corridor is found by a walk along
// the path. A mesh without cells, and a path that dents keep from being walked, is searched by polygons.
//
// What lies on which side of a line of sight is decided by integers; lengths and the order of expansion are
// those of double precision. So the path is the same on every machine. It is shortest up to the rounding of
// lengths, and up to the dents that NavMesh::Create lets pass. Among equally long paths one is found always.
//
// Where columns stand in rows, many ways to a vertex are equally long. The first that turns there to the left
// and the first that turns to the right go on from there, and no other. Sums of other legs are rounded
// otherwise, so lengths count as equal up to a share of 2^-39: each turn adds at most that to the path.
//
// A goal in another connected part than the start is known to be unreachable without an expansion. Otherwise
// the search stops where the budget ends, which it checks before each expansion; so with a limit of 0 it
// finds nothing but paths within a cell, and into the cells around the start.
//
// A recorder, unless it is null, receives each step of the search. What is expanded has the least f of the
// open list, unless it is all that is seen through the interval before, from the same root: then it does not
// wait for its turn. The interval that the path arrives through is not expanded. Where the start and the goal
// lie in one cell there is none.
//
// REQUIRES: start and goal are places that NavMesh::FindNearest could return.
MeshSearchReport SearchMesh(const NavMesh& mesh, const MeshSearchTask& task, const Budget& budget,
                            MeshScratch& scratch, IntervalRecorder* recorder = nullptr);

}  // namespace waystar::core
