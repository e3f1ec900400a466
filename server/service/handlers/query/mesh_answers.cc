#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/core/elements/waypoint.h"
#include "server/core/mesh/map/plan.h"
#include "server/core/mesh/portal/explain_mesh_path.h"
#include "server/core/mesh/portal/mesh_portal_net.h"
#include "server/core/mesh/portal/mesh_portal_search.h"
#include "server/core/mesh/search/mesh_fields.h"
#include "server/core/mesh/search/mesh_flood.h"
#include "server/core/mesh/search/mesh_move.h"
#include "server/core/mesh/search/mesh_path.h"
#include "server/core/mesh/search/mesh_ray.h"
#include "server/core/mesh/search/mesh_samples.h"
#include "server/core/mesh/search/mesh_wall.h"
#include "server/core/mesh/search/polygons_around.h"
#include "server/core/query/resolve.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"
#include "server/geometry/world_point.h"
#include "server/service/call/status.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_query.h"
#include "server/service/convert/write_route.h"
#include "server/service/handlers/query/field_answers.h"

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
  WAYSTAR_RETURN_IF_ERROR(core::CheckUnweighted(*on.agent));
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
  stopwatch.Stamp(on.context, reachable->statistics.expanded, *response.mutable_info()->mutable_statistics());
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
  WAYSTAR_RETURN_IF_ERROR(core::CheckUnweighted(*on.agent));
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
  stopwatch.Stamp(on.context, flow->statistics.expanded, *response.mutable_info()->mutable_statistics());
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
  stopwatch.Stamp(on.context, 0, *response.mutable_info()->mutable_statistics());
  response.set_blocked(!hit.reaches_goal);
  FillPosition(hit.end.point, *response.mutable_position());
  response.set_fraction(hit.fraction);
  return absl::OkStatus();
}

absl::Status Answer(const MeshQuestion& on, const v1::SamplePlacesRequest& request,
                    v1::SamplePlacesResponse& response) {
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
  stopwatch.Stamp(on.context, 0, *response.mutable_info()->mutable_statistics());
  for (const core::MeshPlace& place : sampled.places) {
    FillPosition(place.point, *response.add_positions());
  }
  response.set_candidates(sampled.candidates);
  return on.CheckFits(response, "count");
}

absl::Status Answer(const MeshQuestion& on, const v1::ExplainPathRequest& request,
                    v1::ExplainPathResponse& response) {
  WAYSTAR_RETURN_IF_ERROR(core::CheckUnweighted(*on.agent));
  for (const auto& [field, place] : {std::pair("start", &request.start()), {"goal", &request.goal()}}) {
    WAYSTAR_RETURN_IF_ERROR(
        core::CheckLocation(core::MapKind::kMesh, field, ToLocation(*place, on.coordinates)));
  }
  core::BlockedMesh blocked{.mesh = on.agent->mesh_before_overlay(),
                            .required_tags = on.agent->required_tags(),
                            .memory = on.store.memory()};
  if (const std::optional<core::Overlay>& overlay = on.asked_agent.overlay) {
    blocked.ignored = overlay->ignored_obstacles;
    blocked.area = overlay->blocked.empty() ? nullptr : &overlay->blocked;
    blocked.area_heights = overlay->blocked_heights;
  }
  const WorkStopwatch stopwatch;
  const absl::StatusOr<core::MeshExplanation> found =
      core::ExplainMeshPath(blocked,
                            {.start = ToWorldPoint(request.start().position()),
                             .goals = {ToWorldPoint(request.goal().position())},
                             .snap = core::ToMeshSnap(on.snap)},
                            ToBlockerPrices(request), on.BudgetHere(), on.context.bench.mesh_scratch);
  WAYSTAR_RETURN_IF_ERROR(on.OnLane(found.status()));
  stopwatch.Stamp(on.context, found->statistics.expanded, *response.mutable_info()->mutable_statistics());
  core::Route route{.mesh_agent = on.agent.get()};
  if (found->is_found) {
    route.path.outcome = core::Outcome::kFound;
    route.positions = found->corners;
    route.mesh_crossings = found->crossings;
    route.crossing_versions.resize(found->crossings.size(), on.snapshot.version());
  }
  WriteExplanation(*found, route, request, on.coordinates, response);
  return on.CheckFits(response, "path");
}

absl::Status Validate(const MeshQuestion& on, const v1::Path& path, std::uint64_t& work,
                      v1::PathValidity& result) {
  WAYSTAR_RETURN_IF_ERROR(
      core::CheckSupported(core::MapKind::kMesh, {{!path.points().empty(), "points"},
                                                  {!path.directions().empty(), "directions"},
                                                  {!path.nodes().empty(), "nodes"},
                                                  {path.form() != v1::PATH_FORM_UNSPECIFIED, "form"}}));
  work += kExpansionsPerWalk * static_cast<std::uint64_t>(path.positions_size());
  if (on.ExceedsLane(work)) {
    return absl::OkStatus();
  }
  const std::vector<core::WorldPoint> corners = Converted(path.positions(), ToWorldPoint);
  WAYSTAR_ASSIGN_OR_RETURN(const core::MeshPathCheck check,
                           core::ValidateThroughMeshPortals(on.agent->mesh(), *on.agent, corners,
                                                            ToCrossedMeshPortals(path.crossings()),
                                                            on.agent->required_tags(), on.budget));
  result.set_walkable(check.is_walkable);
  result.set_cost(check.cost);
  if (!check.is_walkable) {
    result.set_blocked_index(static_cast<std::int32_t>(check.blocked_index));
  }
  if (check.blocked_at) {
    FillPosition(*check.blocked_at, *result.mutable_blocked_at()->mutable_position());
  }
  return absl::OkStatus();
}

namespace {

constexpr std::size_t kMaxProbes = 10'000;
// Typical cost of a probe, in expansions of a search.
constexpr std::uint64_t kExpansionsPerProbe = 4;
// Number of probes between checks of the budget, in addition to those within walks.
constexpr std::size_t kProbesPerLook = 16;

absl::StatusOr<core::WorldPoint> PointOf(const v1::Position& position, absl::string_view field) {
  const core::WorldPoint point = ToWorldPoint(position);
  WAYSTAR_RETURN_IF_ERROR(WithFieldPrefix(core::CheckPosition(point), field));
  return point;
}

// Answers probes in order, each into its result.
class Prober {
 public:
  Prober(const core::MeshAgent& agent, const core::MeshSnap& snap, const core::Budget& budget)
      : agent_(agent), mesh_(agent.mesh()), snap_(snap), budget_(budget), meter_(budget) {}

  // Polygons visited.
  std::uint64_t expanded() const { return meter_.visited(); }

  // Returns errors with fields of the probe.
  absl::Status Answer(const v1::SurfaceProbe& probe, v1::SurfaceResult& result) {
    WAYSTAR_RETURN_IF_ERROR(CheckGiven(probe.has_position(), "position"));
    WAYSTAR_ASSIGN_OR_RETURN(const core::WorldPoint position, PointOf(probe.position(), "position"));
    WAYSTAR_ASSIGN_OR_RETURN(const core::WorldPoint target, TargetOf(probe));
    const std::optional<core::MeshPlace> start = core::FindMeshPlace(mesh_, position, snap_);
    result.set_found(start.has_value());
    if (!start) {
      return absl::OkStatus();
    }
    FillPosition(start->point, *result.mutable_start());
    switch (probe.question_case()) {
      case v1::SurfaceProbe::kMoveTo: {
        const core::MeshMove move = core::MoveAlongSurface(mesh_, *start, target, &meter_);
        FillEnd(*start, move.end, result);
        FillWall(move.is_blocked, move.wall_normal, result);
        break;
      }
      case v1::SurfaceProbe::kRayTo: {
        const core::MeshRayHit hit = core::CastMeshRay(mesh_, *start, target, &meter_);
        FillEnd(*start, hit.end, result);
        FillWall(hit.is_blocked, hit.wall_normal, result);
        break;
      }
      case v1::SurfaceProbe::kWallWithin:
        return FindWall(*start, probe.wall_within(), result);
      case v1::SurfaceProbe::QUESTION_NOT_SET:
        FillEnd(*start, *start, result);
        break;
    }
    return Status();
  }

 private:
  // Returns the error of walks that the budget stopped.
  absl::Status Status() const {
    return meter_.end() ? core::StatusOfMeshFlood(*meter_.end(), expanded()) : absl::OkStatus();
  }

  // Returns the target of the move or ray, if any. Checks the whole question.
  static absl::StatusOr<core::WorldPoint> TargetOf(const v1::SurfaceProbe& probe) {
    if (probe.has_move_to()) {
      return PointOf(probe.move_to(), "move_to");
    }
    if (probe.has_ray_to()) {
      return PointOf(probe.ray_to(), "ray_to");
    }
    if (probe.has_wall_within() && !(probe.wall_within() > 0.0 && std::isfinite(probe.wall_within()))) {
      return MakeError(ErrorReason::kBadValue, "wall_within", "it must be a finite number above 0");
    }
    return core::WorldPoint();
  }

  void FillEnd(const core::MeshPlace& start, const core::MeshPlace& end, v1::SurfaceResult& result) const {
    FillPosition(end.point, *result.mutable_end());
    result.set_polygon(agent_.NumberOnMap(end.polygon));
    result.set_distance(core::DistanceInPlan(start.point, end.point));
  }

  static void FillWall(bool is_blocked, const core::Point& normal, v1::SurfaceResult& result) {
    result.set_blocked(is_blocked);
    if (is_blocked) {
      FillPosition({normal.x, normal.y, 0.0}, *result.mutable_wall_normal());
    }
  }

  absl::Status FindWall(const core::MeshPlace& start, double radius, v1::SurfaceResult& result) {
    core::Budget left = budget_;
    left.max_expansions -= expanded();
    const absl::StatusOr<core::MeshWallReport> report = core::FindNearestWall(mesh_, start, radius, left);
    if (!report.ok()) {
      return ErrorReasonOf(report.status()) == "REGION_TOO_LARGE"
                 ? WithFieldPrefix(report.status(), "wall_within")
                 : report.status();
    }
    meter_.Visit(report->expanded);
    FillEnd(start, report->wall ? report->wall->end : start, result);
    if (report->wall) {
      FillWall(true, report->wall->normal, result);
      result.set_distance(report->wall->distance);
    }
    return Status();
  }

  const core::MeshAgent& agent_;
  const core::NavMesh& mesh_;
  const core::MeshSnap snap_;
  const core::Budget budget_;
  core::PolygonMeter meter_;
};

}  // namespace

absl::Status Answer(const MeshQuestion& on, const v1::ProbeSurfaceRequest& request,
                    v1::ProbeSurfaceResponse& response) {
  const auto count = static_cast<std::size_t>(request.probes_size());
  WAYSTAR_RETURN_IF_ERROR(core::CheckListed("probes", count, kMaxProbes));
  if (on.ExceedsLane(kExpansionsPerProbe * count)) {
    return absl::OkStatus();
  }
  const WorkStopwatch stopwatch;
  const core::BudgetStop stop(on.budget);
  Prober prober(*on.agent, core::ToMeshSnap(on.snap), on.BudgetHere());
  response.mutable_results()->Reserve(request.probes_size());
  for (std::size_t i = 0; i < count; ++i) {
    if (i % kProbesPerLook == 0) {
      WAYSTAR_RETURN_IF_ERROR(stop.Check());
    }
    const absl::Status status =
        on.OnLane(prober.Answer(request.probes(static_cast<int>(i)), *response.add_results()));
    if (!status.ok()) {
      return ErrorFieldOf(status).empty()
                 ? status
                 : WithFieldPrefix(status, absl::StrCat(core::IndexedField("probes", i), "."));
    }
  }
  stopwatch.Stamp(on.context, prober.expanded(), *response.mutable_info()->mutable_statistics());
  return on.CheckFits(response, "probes");
}

}  // namespace waystar::rpc
