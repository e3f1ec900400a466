// What is within reach on a navigation mesh, and flow fields: one answer for many agents.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/memory_account.h"
#include "server/core/graph/world_point.h"
#include "server/core/mesh/nav_mesh.h"
#include "server/core/mesh_search/mesh_scratch.h"
#include "server/core/search/query.h"
#include "server/core/shape/box.h"

namespace waystar::core {

struct MeshReachQuery {
  MeshPlace start;
  // The limit of ReachablePolygon::cost, to a hundred-millionth of it: with it the result is exactly those
  // polygons of the result without it whose cost is not greater. Without it, that is all that a path leads
  // to.
  std::optional<double> max_cost;
  // The area that paths may not leave, seen from above: polygons that do not lie wholly in it, edges
  // included, are not entered. Everywhere without a value.
  std::optional<Box> region;
  // Where the memory of a mesh of the region is reserved; nowhere if it is null.
  MemoryAccount* memory = nullptr;
};

struct ReachablePolygon {
  PolygonNumber polygon = kNoPolygon;
  // The point of it that is reached first, rounded to 2^-20: on an edge, or the start.
  WorldPoint nearest = {};
  // The length of the shortest path to there; since the same way leads there and back, from there as well.
  double cost = 0.0;

  friend bool operator==(const ReachablePolygon&, const ReachablePolygon&) = default;
};

struct ReachablePolygons {
  // In the order of numbers.
  std::vector<ReachablePolygon> polygons;
  SearchStatistics statistics;
};

// Finds the polygons that are within the cost. It takes the time of a flood (FloodMesh),
// and with a region time and memory for a mesh of what the region holds (MeshRegion).
//
// Returns INVALID_ARGUMENT / BAD_VALUE with "max_cost", or with "start" if the region does not hold its
// polygon; and the errors of MeshRegion::Make and StatusOfMeshFlood. REQUIRES: the start is a place that
// NavMesh::FindNearest could return.
absl::StatusOr<ReachablePolygons> FindReachablePolygons(const NavMesh& mesh, const MeshReachQuery& query,
                                                        const Budget& budget, MeshScratch& scratch);

struct MeshFlowQuery {
  // From 1 to kMaxGoals places; nothing for goals that no place stands in for, which are passed over.
  absl::Span<const std::optional<MeshPlace>> goals;
  // The limit of MeshFlowStep::cost, as above: polygons from whose middle the path is longer have no place in
  // the flow.
  std::optional<double> max_cost;
  // As above.
  std::optional<Box> region;
  MemoryAccount* memory = nullptr;
};

struct MeshFlowStep {
  PolygonNumber polygon = kNoPolygon;
  // The mean of its corners as seen from above, on its surface and rounded to 2^-20.
  WorldPoint middle = {};
  // Where the shortest path from there to the nearest goal first turns, or the goal.
  WorldPoint next = {};
  // The length of that path.
  double cost = 0.0;

  friend bool operator==(const MeshFlowStep&, const MeshFlowStep&) = default;
};

struct MeshFlow {
  // The steps from every polygon from whose middle a path leads to a goal, in the order of numbers.
  std::vector<MeshFlowStep> steps;
  SearchStatistics statistics;
};

// Computes the flow. Of equally long paths the same one is chosen on every machine. It takes the time of a
// flood (FloodMesh) from the goals.
//
// Returns INVALID_ARGUMENT / BAD_VALUE with "max_cost", or with "goals[i]" if the region does not hold its
// polygon; FAILED_PRECONDITION / GOAL_BLOCKED with "goals" if no place stands in for any; and the errors of
// MeshRegion::Make and StatusOfMeshFlood. REQUIRES: the goals are places that NavMesh::FindNearest could
// return.
absl::StatusOr<MeshFlow> ComputeMeshFlow(const NavMesh& mesh, const MeshFlowQuery& query,
                                         const Budget& budget, MeshScratch& scratch);

}  // namespace waystar::core
