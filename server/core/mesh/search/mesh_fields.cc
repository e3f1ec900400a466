#include "server/core/mesh/search/mesh_fields.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/mesh/search/mesh_flood.h"
#include "server/core/mesh/search/mesh_region.h"
#include "server/core/mesh/search/polygons_around.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

absl::StatusOr<double> ToMaxLength(const std::optional<double>& max_cost) {
  WAYSTAR_RETURN_IF_ERROR(ToMaxCost(max_cost).status());
  return max_cost ? *max_cost + *max_cost * 1e-8 : std::numeric_limits<double>::infinity();
}

absl::Status CheckPlaceInRegion(const NavMesh& mesh, const std::optional<Box>& region, const MeshPlace& place,
                                absl::string_view field) {
  std::vector<PolygonNumber> polygons;
  FindPolygonsOfAllFans(mesh, place, polygons);
  const bool is_held = !region || std::ranges::any_of(polygons, [&](PolygonNumber polygon) {
    return MeshRegion::Holds(*region, mesh, polygon);
  });
  return is_held ? absl::OkStatus()
                 : MakeError(ErrorReason::kBadValue, field, "its polygon does not lie wholly in the region");
}

// Returns a box around everything that paths from these seeds can reach, seen from above.
Box ReachOf(absl::Span<const MeshPlace> seeds, double max_length) {
  Box reach;
  for (const MeshPlace& seed : seeds) {
    reach = reach.And(Box::Around(seed.point.x, seed.point.y, max_length + kFloodRounding));
  }
  return reach;
}

// FloodMesh restricted to the region.
// REQUIRES: the region contains the seeds.
absl::StatusOr<MeshFloodReport> Flood(const NavMesh& mesh, const MeshFloodTask& task,
                                      const std::optional<Box>& region, MemoryAccount* memory,
                                      const Budget& budget, MeshScratch& scratch) {
  if (!region) {
    MeshFloodReport report = FloodMesh(mesh, task, budget, scratch);
    WAYSTAR_RETURN_IF_ERROR(StatusOfMeshFlood(report.end, report.statistics.expanded));
    return report;
  }
  const BudgetStop stop(budget);
  WAYSTAR_ASSIGN_OR_RETURN(
      const std::optional<MeshRegion> held,
      MeshRegion::Make(mesh, *region, ReachOf(task.seeds, task.max_length), memory, &stop));
  if (!held) {
    return MeshFloodReport();
  }
  std::vector<MeshPlace> seeds;
  for (const MeshPlace& seed : task.seeds) {
    held->AddPlaces(mesh, seed, seeds);
  }
  MeshFloodTask task_there = task;
  task_there.seeds = seeds;
  WAYSTAR_ASSIGN_OR_RETURN(MeshFloodReport report,
                           Flood(held->mesh(), task_there, std::nullopt, nullptr, budget, scratch));
  for (MeshFloodPath& path : report.paths) {
    path.polygon = held->NumberOnWhole(path.polygon);
  }
  return report;
}

}  // namespace

absl::StatusOr<ReachablePolygons> FindReachablePolygons(const NavMesh& mesh, const MeshReachQuery& query,
                                                        const Budget& budget, MeshScratch& scratch) {
  WAYSTAR_ASSIGN_OR_RETURN(const double max_length, ToMaxLength(query.max_cost));
  WAYSTAR_RETURN_IF_ERROR(CheckPlaceInRegion(mesh, query.region, query.start, "start"));
  WAYSTAR_ASSIGN_OR_RETURN(
      const MeshFloodReport report,
      Flood(mesh, {.seeds = {&query.start, 1}, .aim = FloodAim::kNearest, .max_length = max_length},
            query.region, query.memory, budget, scratch));
  ReachablePolygons reachable{.polygons = {}, .statistics = report.statistics};
  reachable.polygons.reserve(report.paths.size());
  for (const MeshFloodPath& path : report.paths) {
    reachable.polygons.push_back({path.polygon, path.point, path.length});
  }
  return reachable;
}

absl::StatusOr<MeshFlow> ComputeMeshFlow(const NavMesh& mesh, const MeshFlowQuery& query,
                                         const Budget& budget, MeshScratch& scratch) {
  WAYSTAR_ASSIGN_OR_RETURN(const double max_length, ToMaxLength(query.max_cost));
  std::vector<MeshPlace> goals;
  for (std::size_t i = 0; i < query.goals.size(); ++i) {
    const std::optional<MeshPlace>& goal = query.goals[i];
    if (!goal) {
      continue;
    }
    WAYSTAR_RETURN_IF_ERROR(CheckPlaceInRegion(mesh, query.region, *goal, IndexedField("goals", i)));
    if (std::ranges::find(goals, *goal) == goals.end()) {
      goals.push_back(*goal);
    }
  }
  if (goals.empty()) {
    return MakeError(ErrorReason::kGoalBlocked, "goals", "no goal is on the mesh, or near enough");
  }
  WAYSTAR_ASSIGN_OR_RETURN(const MeshFloodReport report,
                           Flood(mesh, {.seeds = goals, .aim = FloodAim::kMiddle, .max_length = max_length},
                                 query.region, query.memory, budget, scratch));
  MeshFlow flow{.steps = {}, .statistics = report.statistics};
  flow.steps.reserve(report.paths.size());
  for (const MeshFloodPath& path : report.paths) {
    flow.steps.push_back({path.polygon, path.point, path.next, path.length});
  }
  return flow;
}

}  // namespace waystar::core
