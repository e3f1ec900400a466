// Shortest paths on navigation meshes.
#pragma once

#include <cstddef>

#include "absl/types/span.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/interval_recorder.h"
#include "server/core/mesh/search/mesh_scratch.h"
#include "server/core/search/query.h"
#include "server/core/search/report.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

struct MeshSearchTask {
  MeshPlace start;
  MeshPlace goal;
};

struct MeshSearchReport {
  // kGoalReached, kExhausted (there is no path), or the reason for an early end.
  SearchEnd end = SearchEnd::kExhausted;
  // Length seen from above: the sum of the distances between consecutive corners, in this order. Unless the
  // goal was reached it is 0, and the spans below are empty.
  double length = 0.0;
  // Start, vertices where the path turns, and goal. Consecutive corners differ in the plan; there is a single
  // corner if start and goal are at the same point. Stored in the scratch until its next search, like the
  // corridor.
  absl::Span<const WorldPoint> corners;
  // Polygons that the path passes, in order, each adjacent to the next along an edge. The first contains the
  // start and the last the goal. They may differ from those of the task if a start or goal on an edge belongs
  // to another polygon as well.
  absl::Span<const PolygonNumber> corridor;
  // Numbers of intervals expanded and pushed onto the open list.
  SearchStatistics statistics;
  // Maximum length of the open list.
  std::size_t open_peak = 0;
};

// Finds a shortest path by Polyanya (Cui, Harabor, Grastien, "Compromise-free Pathfinding on a Navigation
// Mesh", IJCAI 2017): an A* whose nodes are pairs of a root, the last turning point of the path, and an
// interval of an edge that is visible from it. Lengths are measured seen from above. A path passes from
// polygon to polygon through edges, not through a vertex alone, and turns only at vertices on a wall. A start
// or goal on a vertex is in all polygons with that vertex (FindPlacesAround), even if they meet only there.
//
// The search runs over the cells of the mesh (CellLayer), which are fewer, and finds the corridor by a walk
// along the path. If the mesh has no cells, or dents prevent the walk, it runs over polygons.
//
// Sides of lines of sight are decided in integers; lengths and the order of expansion use double precision.
// The path is therefore the same on every machine. It is shortest up to the rounding of lengths and the dents
// that NavMesh::Create allows. Ties between paths of equal length are broken deterministically.
//
// Where columns stand in rows, many paths to a vertex have equal length. Only the first that turns left there
// and the first that turns right continue. Sums over different legs round differently, so lengths count as
// equal within a relative 2^-39; each turn adds at most that to the path.
//
// A goal in another connected part than the start is recognized as unreachable without an expansion.
// Otherwise the budget is checked before each expansion. With a limit of 0, only paths within a cell and into
// the cells around the start are found.
//
// The recorder, which may be null, gets each step of the search. The expanded interval has the lowest f of
// the open list, or is the only successor of the previous one with the same root and was expanded
// immediately. The interval through which the path arrives is not expanded; there is none if start and goal
// are in one cell.
//
// REQUIRES: start and goal are places that NavMesh::FindNearest could return.
MeshSearchReport SearchMesh(const NavMesh& mesh, const MeshSearchTask& task, const Budget& budget,
                            MeshScratch& scratch, IntervalRecorder* recorder = nullptr);

}  // namespace waystar::core
