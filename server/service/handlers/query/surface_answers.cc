#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/elements/waypoint.h"
#include "server/core/mesh/map/plan.h"
#include "server/core/mesh/search/mesh_flood.h"
#include "server/core/mesh/search/mesh_move.h"
#include "server/core/mesh/search/mesh_path.h"
#include "server/core/mesh/search/mesh_ray.h"
#include "server/core/mesh/search/mesh_wall.h"
#include "server/core/mesh/search/polygon_set.h"
#include "server/core/query/resolve.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"
#include "server/geometry/world_point.h"
#include "server/service/call/status.h"
#include "server/service/convert/convert.h"
#include "server/service/handlers/query/question.h"

namespace waystar::rpc {
namespace {

constexpr std::size_t kMaxProbes = 10'000;
// Typical cost of a probe, in expansions of a search.
constexpr std::uint64_t kExpansionsPerProbe = 4;
// Number of probes between checks of the budget, in addition to those within walks.
constexpr std::size_t kProbesPerLook = 16;

absl::StatusOr<core::WorldPoint> PointOf(const v1::Position& position, absl::string_view field) {
  const core::WorldPoint point = ToWorldPoint(position);
  if (const absl::Status status = core::CheckPosition(point); !status.ok()) {
    return WithFieldPrefix(status, field);
  }
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
    if (!probe.has_position()) {
      return MissingField("position");
    }
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
  stopwatch.Stamp(on.context, prober.expanded(), *response.mutable_statistics());
  return on.CheckFits(response, "probes");
}

}  // namespace waystar::rpc
