// Reachable areas of a navigation mesh, flow fields for many agents, and matrices of path lengths.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/memory_account.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/mesh_scratch.h"
#include "server/core/search/query.h"
#include "server/geometry/box.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

struct MeshReachQuery {
  MeshPlace start;
  // Maximum ReachablePolygon::cost, within a relative 1e-8. The result consists of exactly those polygons of
  // the unlimited result whose cost is not greater. If unset, all reachable polygons are returned.
  std::optional<double> max_cost;
  // Area that paths may not leave, seen from above: a polygon is entered only if all of it is inside the area
  // or on its edges. Unlimited if unset.
  std::optional<Box> region;
  // Account for the memory of the region's mesh; may be null.
  MemoryAccount* memory = nullptr;
};

struct ReachablePolygon {
  PolygonNumber polygon = kNoPolygon;
  // The point of the polygon reached first, rounded to 2^-20: on an edge, or the start.
  WorldPoint nearest = {};
  // Length of the shortest path between the start and that point, the same in both directions.
  double cost = 0.0;

  friend bool operator==(const ReachablePolygon&, const ReachablePolygon&) = default;
};

struct ReachablePolygons {
  // In the order of polygon numbers.
  std::vector<ReachablePolygon> polygons;
  SearchStatistics statistics;
};

// Finds the polygons within the cost. Takes the time of a flood (FloodMesh) and, with a region, time and
// memory for a mesh of its polygons.
//
// Returns INVALID_ARGUMENT / BAD_VALUE with "max_cost", or with "start" if the region does not contain its
// polygon; RESOURCE_EXHAUSTED with "region" for one with too many vertices (REGION_TOO_LARGE) or too large a
// mesh (MAPS_MEMORY_FULL); and the errors of StatusOfMeshFlood.
// REQUIRES: the start is a place that NavMesh::FindNearest could return.
absl::StatusOr<ReachablePolygons> FindReachablePolygons(const NavMesh& mesh, const MeshReachQuery& query,
                                                        const Budget& budget, MeshScratch& scratch);

struct MeshFlowQuery {
  // 1 to kMaxGoals places. Unset entries stand for goals without a place and are skipped.
  absl::Span<const std::optional<MeshPlace>> goals;
  // Maximum MeshFlowStep::cost, as above: polygons with a longer path from their middle are omitted.
  std::optional<double> max_cost;
  // Area that paths may not leave, as in MeshReachQuery.
  std::optional<Box> region;
  MemoryAccount* memory = nullptr;
};

struct MeshFlowStep {
  PolygonNumber polygon = kNoPolygon;
  // Mean of its corners seen from above, on its surface and rounded to 2^-20.
  WorldPoint middle = {};
  // First turning point of the shortest path from there to the nearest goal, or the goal.
  WorldPoint next = {};
  // Length of that path.
  double cost = 0.0;

  friend bool operator==(const MeshFlowStep&, const MeshFlowStep&) = default;
};

struct MeshFlow {
  // Steps from every polygon with a path from its middle to a goal, in the order of polygon numbers.
  std::vector<MeshFlowStep> steps;
  SearchStatistics statistics;
};

// Computes the flow. Ties between paths of equal length are broken the same way on every machine. Takes the
// time of a flood (FloodMesh) from the goals.
//
// Returns INVALID_ARGUMENT / BAD_VALUE with "max_cost", or with "goals[i]" if the region does not contain its
// polygon; FAILED_PRECONDITION / GOAL_BLOCKED with "goals" if no goal has a place; and the errors of
// FindReachablePolygons for regions and floods.
// REQUIRES: the goals are places that NavMesh::FindNearest could return.
absl::StatusOr<MeshFlow> ComputeMeshFlow(const NavMesh& mesh, const MeshFlowQuery& query,
                                         const Budget& budget, MeshScratch& scratch);

// Matrix of path lengths between two lists of places.
struct MeshMatrix {
  static constexpr double kUnreachable = -1.0;

  // One row per start with an entry per goal: the length that SearchMesh finds or, on a mesh with costs, the
  // cost that SearchWeightedMesh finds; or kUnreachable if there is no path.
  std::vector<double> lengths;
  // Sums over all searches.
  SearchStatistics statistics{.algorithm = Algorithm::kPolyanya};
};

// Computes the matrix with one search per distinct unordered pair of places, since a path has the same length
// in both directions. Places in different connected parts are not searched. The budget applies to all
// searches together.
//
// Returns RESOURCE_EXHAUSTED / REGION_TOO_LARGE if the searches need more expansions or memory than allowed,
// and the errors of StatusOfEnd.
// REQUIRES: the places are ones that NavMesh::FindNearest could return.
absl::StatusOr<MeshMatrix> ComputeMeshMatrix(const NavMesh& mesh, absl::Span<const MeshPlace> starts,
                                             absl::Span<const MeshPlace> goals, const Budget& budget,
                                             MeshScratch& scratch);

}  // namespace waystar::core
