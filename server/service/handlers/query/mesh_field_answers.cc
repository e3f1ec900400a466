#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/status_macros.h"
#include "server/core/mesh/search/mesh_fields.h"
#include "server/core/search/checks.h"
#include "server/geometry/box.h"
#include "server/service/call/answer_size.h"
#include "server/service/convert/convert.h"
#include "server/service/handlers/query/mesh_answers.h"
#include "server/service/handlers/query/work_stopwatch.h"
#include "server/service/handlers/query/world_question.h"

namespace waystar::rpc {
namespace {

// Cost, in expansions, of adding a polygon to the mesh of a region.
constexpr std::uint64_t kExpansionsPerPolygon = 2;

}  // namespace

absl::Status MeshAnswers::CheckCanFit(std::size_t polygons) const {
  // Each contains two messages of at least two bytes.
  constexpr std::size_t kLeastBytes = 4;
  return CheckAnswerFits(polygons * kLeastBytes, question_.max_bytes, "region");
}

bool MeshAnswers::IsRegionForLargerLane(bool has_region) {
  context().needs_more_expansions =
      has_region && kExpansionsPerPolygon * mesh().polygon_count() > context().max_expansions_here;
  return context().NeedsLargerLane();
}

absl::Status MeshAnswers::Answer(const v1::FindReachableRequest& request,
                                 v1::FindReachableResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<core::MeshPlace> start, PlaceOf("start", request.start()));
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<core::Box> region, AreaOf(request));
  if (!start) {
    return StartBlocked("start");
  }
  if (IsRegionForLargerLane(region.has_value())) {
    return absl::OkStatus();
  }
  const WorkStopwatch stopwatch;
  // Paths on meshes are symmetric, so `towards_start` has no effect.
  const absl::StatusOr<core::ReachablePolygons> reachable =
      core::FindReachablePolygons(mesh(),
                                  {.start = *start,
                                   .max_cost = MaxCostOf(request),
                                   .region = region,
                                   .memory = &question_.store.memory()},
                                  BudgetHere(), context().bench.mesh_scratch);
  if (NeedsLargerLane(reachable.status())) {
    return absl::OkStatus();
  }
  WAYSTAR_RETURN_IF_ERROR(reachable.status());
  stopwatch.Stamp(context(), reachable->statistics.expanded, *response.mutable_statistics());
  WAYSTAR_RETURN_IF_ERROR(CheckCanFit(reachable->polygons.size()));
  for (const core::ReachablePolygon& polygon : reachable->polygons) {
    v1::ReachablePolygon& out = *response.add_polygons();
    out.set_polygon(agent_->NumberOnMap(polygon.polygon));
    FillPosition(polygon.nearest, *out.mutable_nearest());
    if (request.with_costs()) {
      out.set_cost(polygon.cost);
    }
  }
  response.set_count(static_cast<std::int64_t>(reachable->polygons.size()));
  return CheckAnswerFits(response.ByteSizeLong(), question_.max_bytes, "region");
}

absl::Status MeshAnswers::Answer(const v1::ComputeFlowFieldRequest& request,
                                 v1::ComputeFlowFieldResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(const auto goals, PlacesOf("goals", request.goals(), core::kMaxGoals));
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<core::Box> region, AreaOf(request));
  if (IsRegionForLargerLane(region.has_value())) {
    return absl::OkStatus();
  }
  const WorkStopwatch stopwatch;
  const absl::StatusOr<core::MeshFlow> flow = core::ComputeMeshFlow(
      mesh(),
      {.goals = goals, .max_cost = MaxCostOf(request), .region = region, .memory = &question_.store.memory()},
      BudgetHere(), context().bench.mesh_scratch);
  if (NeedsLargerLane(flow.status())) {
    return absl::OkStatus();
  }
  WAYSTAR_RETURN_IF_ERROR(flow.status());
  stopwatch.Stamp(context(), flow->statistics.expanded, *response.mutable_statistics());
  WAYSTAR_RETURN_IF_ERROR(CheckCanFit(flow->steps.size()));
  for (const core::MeshFlowStep& step : flow->steps) {
    v1::PolygonStep& out = *response.add_polygons();
    out.set_polygon(agent_->NumberOnMap(step.polygon));
    FillPosition(step.middle, *out.mutable_middle());
    FillPosition(step.next, *out.mutable_next());
    if (request.with_costs()) {
      out.set_cost(step.cost);
    }
  }
  return CheckAnswerFits(response.ByteSizeLong(), question_.max_bytes, "region");
}

}  // namespace waystar::rpc
