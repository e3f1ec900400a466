#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/grid/field/cost_matrix.h"
#include "server/core/grid/field/reachable_pairs.h"
#include "server/core/mesh/portal/mesh_portal_net.h"
#include "server/core/mesh/portal/mesh_portal_search.h"
#include "server/core/mesh/search/mesh_fields.h"
#include "server/core/mesh/search/mesh_flood.h"
#include "server/core/mesh/search/mesh_path.h"
#include "server/core/mesh/search/mesh_ray.h"
#include "server/core/mesh/search/mesh_samples.h"
#include "server/core/mesh/search/polygon_set.h"
#include "server/core/mesh/search/polygons_around.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_query.h"
#include "server/service/handlers/query/question.h"

namespace waystar::rpc {
namespace {

// Cost, in expansions, of adding a polygon to the mesh of a region.
constexpr std::uint64_t kExpansionsPerPolygon = 2;
// Corners examined for a sample in the time of one expansion.
constexpr std::uint64_t kSampledCornersPerExpansion = 8;
// Cost, in expansions, of a walk to a corner of a path.
constexpr std::uint64_t kExpansionsPerWalk = 4;

absl::Status NoSurface(absl::string_view field) {
  return MakeError(ErrorReason::kStartBlocked, field, "no surface of the mesh is there, or near enough");
}

// Returns RESOURCE_EXHAUSTED / RESPONSE_TOO_LARGE for an answer that is certainly too large.
absl::Status CheckPolygonsFit(const MeshQuestion& on, std::size_t polygons) {
  // Each contains two messages of at least two bytes.
  constexpr std::size_t kLeastBytes = 4;
  return on.CheckFits(polygons * kLeastBytes, "region");
}

// Returns true, and records it, if the mesh of a region must be built on a larger lane.
bool IsRegionForLargerLane(const MeshQuestion& on, bool has_region) {
  return on.ExceedsLane(has_region ? kExpansionsPerPolygon * on.agent->mesh().polygon_count() : 0);
}

}  // namespace

absl::Status Answer(const MeshQuestion& on, const v1::FindReachableRequest& request,
                    v1::FindReachableResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<core::MeshPlace> start, on.PlaceOf("start", request.start()));
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<core::Box> region, core::AreaOf(RegionOf(request)));
  if (!start) {
    return NoSurface("start");
  }
  if (IsRegionForLargerLane(on, region.has_value())) {
    return absl::OkStatus();
  }
  const WorkStopwatch stopwatch;
  // Paths on meshes are symmetric, so `towards_start` has no effect.
  const absl::StatusOr<core::ReachablePolygons> reachable = core::FindReachablePolygons(
      on.agent->mesh(),
      {.start = *start, .max_cost = MaxCostOf(request), .region = region, .memory = &on.store.memory()},
      on.BudgetHere(), on.context.bench.mesh_scratch);
  WAYSTAR_RETURN_IF_ERROR(on.OnLane(reachable.status()));
  stopwatch.Stamp(on.context, reachable->statistics.expanded, *response.mutable_statistics());
  WAYSTAR_RETURN_IF_ERROR(CheckPolygonsFit(on, reachable->polygons.size()));
  for (const core::ReachablePolygon& polygon : reachable->polygons) {
    v1::ReachablePolygon& out = *response.add_polygons();
    out.set_polygon(on.agent->NumberOnMap(polygon.polygon));
    FillPosition(polygon.nearest, *out.mutable_nearest());
    if (request.with_costs()) {
      out.set_cost(polygon.cost);
    }
  }
  response.set_count(static_cast<std::int64_t>(reachable->polygons.size()));
  return on.CheckFits(response, "region");
}

absl::Status Answer(const MeshQuestion& on, const v1::ComputeFlowFieldRequest& request,
                    v1::ComputeFlowFieldResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(const auto goals, on.PlacesOf("goals", request.goals(), core::kMaxGoals));
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<core::Box> region, core::AreaOf(RegionOf(request)));
  if (IsRegionForLargerLane(on, region.has_value())) {
    return absl::OkStatus();
  }
  const WorkStopwatch stopwatch;
  const absl::StatusOr<core::MeshFlow> flow = core::ComputeMeshFlow(
      on.agent->mesh(),
      {.goals = goals, .max_cost = MaxCostOf(request), .region = region, .memory = &on.store.memory()},
      on.BudgetHere(), on.context.bench.mesh_scratch);
  WAYSTAR_RETURN_IF_ERROR(on.OnLane(flow.status()));
  stopwatch.Stamp(on.context, flow->statistics.expanded, *response.mutable_statistics());
  WAYSTAR_RETURN_IF_ERROR(CheckPolygonsFit(on, flow->steps.size()));
  for (const core::MeshFlowStep& step : flow->steps) {
    v1::PolygonStep& out = *response.add_polygons();
    out.set_polygon(on.agent->NumberOnMap(step.polygon));
    FillPosition(step.middle, *out.mutable_middle());
    FillPosition(step.next, *out.mutable_next());
    if (request.with_costs()) {
      out.set_cost(step.cost);
    }
  }
  return on.CheckFits(response, "region");
}

absl::Status Answer(const MeshQuestion& on, const v1::CastRayRequest& request,
                    v1::CastRayResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(const core::WorldPoint from,
                           core::PositionOnMesh("from", ToLocation(request.from(), on.coordinates)));
  WAYSTAR_ASSIGN_OR_RETURN(const core::WorldPoint to,
                           core::PositionOnMesh("to", ToLocation(request.to(), on.coordinates)));
  const WorkStopwatch stopwatch;
  const std::optional<core::MeshPlace> start = core::FindMeshPlace(on.agent->mesh(), from, {});
  const std::optional<core::MeshPlace> goal = core::FindMeshPlace(on.agent->mesh(), to, {});
  core::MeshRayHit hit{.is_blocked = true, .end = {.point = from}, .fraction = 0.0};
  if (start) {
    core::PolygonMeter meter(on.BudgetHere());
    hit = goal ? core::CastMeshRay(on.agent->mesh(), *start, *goal, &meter)
               : core::CastMeshRay(on.agent->mesh(), *start, to, &meter);
    if (meter.end()) {
      return on.OnLane(core::StatusOfMeshFlood(*meter.end(), meter.visited()));
    }
  }
  stopwatch.Stamp(on.context, 0, *response.mutable_statistics());
  response.set_blocked(!hit.reaches_goal);
  FillPosition(hit.end.point, *response.mutable_position());
  response.set_fraction(hit.fraction);
  return absl::OkStatus();
}

absl::Status Answer(const MeshQuestion& on, const v1::SampleCellsRequest& request,
                    v1::SampleCellsResponse& response) {
  WAYSTAR_RETURN_IF_ERROR(core::CheckSupported(
      core::MapKind::kMesh, {{request.distinct(), "distinct"}, {request.along_edges(), "along_edges"}}));
  core::MeshSampleQuery query{.count = request.count(), .seed = request.seed()};
  WAYSTAR_ASSIGN_OR_RETURN(query.region, core::AreaOf(RegionOf(request)));
  if (request.has_reachable_from()) {
    WAYSTAR_ASSIGN_OR_RETURN(const std::optional<core::MeshPlace> from,
                             on.PlaceOf("reachable_from", request.reachable_from()));
    if (!from) {
      return NoSurface("reachable_from");
    }
    query.parts = core::FindPartsAround(on.agent->mesh(), *from);
  }
  const std::uint64_t looked_at =
      on.agent->mesh().corner_count() + static_cast<std::uint64_t>(std::max<std::int64_t>(query.count, 0));
  if (on.ExceedsLane(looked_at / kSampledCornersPerExpansion)) {
    return absl::OkStatus();
  }
  const WorkStopwatch stopwatch;
  const core::BudgetStop stop(on.budget);
  WAYSTAR_ASSIGN_OR_RETURN(const core::SampledMeshPoints sampled,
                           core::SampleMeshPoints(on.agent->mesh(), query, &stop));
  stopwatch.Stamp(on.context, 0, *response.mutable_statistics());
  for (const core::MeshPlace& place : sampled.places) {
    FillPosition(place.point, *response.add_positions());
  }
  response.set_candidates(sampled.candidates);
  return on.CheckFits(response, "count");
}

absl::Status Answer(const MeshQuestion& on, const v1::ValidatePathRequest& request,
                    v1::ValidatePathResponse& response) {
  WAYSTAR_RETURN_IF_ERROR(core::CheckSupported(
      core::MapKind::kMesh, {{!request.points().empty(), "points"},
                             {!request.directions().empty(), "directions"},
                             {!request.nodes().empty(), "nodes"},
                             {request.has_start_position(), "start_position"},
                             {request.has_goal_position(), "goal_position"},
                             {request.path_form() != v1::PATH_FORM_UNSPECIFIED, "path_form"}}));
  if (on.ExceedsLane(kExpansionsPerWalk * static_cast<std::uint64_t>(request.positions_size()))) {
    return absl::OkStatus();
  }
  std::vector<core::WorldPoint> corners;
  corners.reserve(static_cast<std::size_t>(request.positions_size()));
  for (const v1::Position& position : request.positions()) {
    corners.push_back(ToWorldPoint(position));
  }
  const WorkStopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(const core::MeshPathCheck check,
                           core::ValidateThroughMeshPortals(on.agent->mesh(), *on.agent, corners,
                                                            ToCrossedMeshPortals(request.crossings()),
                                                            on.agent->required_tags(), on.budget));
  stopwatch.Stamp(on.context, 0, *response.mutable_statistics());
  response.set_walkable(check.is_walkable);
  response.set_cost(check.cost);
  if (!check.is_walkable) {
    response.set_blocked_index(static_cast<std::int32_t>(check.blocked_index));
  }
  if (check.blocked_at) {
    FillPosition(*check.blocked_at, *response.mutable_blocked_position());
  }
  return absl::OkStatus();
}

}  // namespace waystar::rpc
