#include "server/rpc/query/field_answers.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/field/reachable_pairs.h"
#include "server/core/grid/world_frame.h"
#include "server/core/path/cell_ray.h"
#include "server/core/query/location_check.h"
#include "server/core/query/readiness.h"
#include "server/core/query/resolve.h"
#include "server/core/query/resolve_location.h"
#include "server/core/query/resolved_agent.h"
#include "server/core/search/checks.h"
#include "server/rpc/call/answer_size.h"
#include "server/rpc/query/answer_query.h"
#include "server/rpc/query/work_stopwatch.h"
#include "server/rpc/wire/convert.h"
#include "server/rpc/wire/convert_fields.h"
#include "server/rpc/wire/convert_query.h"
#include "server/rpc/wire/hex_coordinates.h"

namespace waystar::rpc {
namespace {

// The map that a question is about, as its agent sees it, and how its cells are counted.
struct Ground {
  // Returns the cell that a location stands for, or the errors of CheckLocationOnGrid and LocationResolver.
  absl::StatusOr<core::Cell> Resolve(absl::string_view field, const v1::Location& location) const {
    const core::Location converted = ToLocation(location, coordinates);
    WAYSTAR_RETURN_IF_ERROR(core::CheckLocationOnGrid(field, converted));
    return core::LocationResolver(agent->map(), agent->footprint(), snap, budget).Resolve(field, converted);
  }

  // The same for a list of at most so many. `name` is that of the field.
  absl::StatusOr<std::vector<core::Cell>> ResolveAll(
      absl::string_view name, const google::protobuf::RepeatedPtrField<v1::Location>& locations,
      std::size_t most) const {
    // To move one may take a look at all of the map.
    WAYSTAR_RETURN_IF_ERROR(core::CheckCount(name, static_cast<std::size_t>(locations.size()), most));
    std::vector<core::Cell> cells;
    cells.reserve(static_cast<std::size_t>(locations.size()));
    for (const v1::Location& location : locations) {
      absl::StatusOr<core::Cell> cell = Resolve("", location);
      if (!cell.ok()) {
        // The field's name is made for what is refused alone.
        return Resolve(absl::StrCat(name, "[", cells.size(), "]"), location).status();
      }
      cells.push_back(*cell);
    }
    return cells;
  }

  core::PinnedSnapshot snapshot;
  HexCoordinates coordinates;
  core::AgentQuery query;
  std::optional<core::Snap> snap;
  std::unique_ptr<core::ResolvedAgent> agent;
  core::Budget budget;
};

template <typename Request>
absl::StatusOr<std::unique_ptr<Ground>> GroundOf(const core::MapStore& store, const Request& request,
                                                 CallContext& context) {
  auto ground = std::make_unique<Ground>();
  WAYSTAR_ASSIGN_OR_RETURN(ground->snapshot, store.Pin(request.map()));
  WAYSTAR_ASSIGN_OR_RETURN(ground->coordinates, TakeView(*ground->snapshot, request.view(), context));
  WAYSTAR_ASSIGN_OR_RETURN(ground->query, ToAgentQuery(request.agent(), request.view(), ground->coordinates));
  WAYSTAR_ASSIGN_OR_RETURN(ground->agent,
                           core::ResolvedAgent::Make(*ground->snapshot, ground->query,
                                                     MapsFor(store, context.caller), false, context.budget));
  ground->budget = core::BudgetOn(*ground->snapshot, context.budget);
  if constexpr (requires { request.snap(); }) {
    ground->snap = ToSnap(request.has_snap(), request.snap());
    WAYSTAR_RETURN_IF_ERROR(core::CheckSnap(ground->snap));
  }
  return ground;
}

// Returns where a ray begins or ends: a cell stands for its centre.
absl::StatusOr<core::CellPoint> RayEnd(const Ground& ground, absl::string_view field,
                                       const v1::Location& location) {
  const core::Location end = ToLocation(location, ground.coordinates);
  WAYSTAR_RETURN_IF_ERROR(core::CheckLocationOnGrid(field, end));
  if (end.cell.has_value()) {
    return core::CellPoint{static_cast<double>(end.cell->x), static_cast<double>(end.cell->y)};
  }
  const core::WorldFrame::PlanePoint point = ground.agent->map().settings().frame.PointAt(*end.position);
  if (!std::isfinite(point.x) || !std::isfinite(point.y)) {
    return MakeError(ErrorReason::kOffMap, field, absl::StrCat(field, " is off the map"));
  }
  return core::CellPoint{point.x, point.y};
}

// Returns whether going over all cells to draw from takes longer than the lane's searches.
bool IsTooMuchHere(const core::SampleQuery& query, const core::GridMap& map, const CallContext& context) {
  const core::Rectangle region = query.region.value_or(map.bounds());
  const auto cells = static_cast<std::uint64_t>(core::Intersect(region, map.bounds()).area());
  return cells / core::kCellsPerExpansion > context.max_expansions_here;
}

}  // namespace

absl::Status FieldAnswers::CostMatrix(const v1::ComputeCostMatrixRequest& request,
                                      v1::ComputeCostMatrixResponse& response, CallContext& context) const {
  WAYSTAR_ASSIGN_OR_RETURN(const auto ground, GroundOf(store_, request, context));
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<core::Cell> starts,
                           ground->ResolveAll("starts", request.starts(), core::kMaxMatrixSide));
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<core::Cell> goals,
                           ground->ResolveAll("goals", request.goals(), core::kMaxMatrixSide));
  const WorkStopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(
      const core::CostMatrix matrix,
      core::ComputeCostMatrix(ground->agent->map(), *ground->agent,
                              {.starts = starts, .goals = goals, .agent = ground->agent->agent()},
                              ground->budget, context.bench.scratch, context.bench.field_scratch));
  stopwatch.Stamp(context, matrix.expanded, *response.mutable_statistics());
  response.mutable_costs()->Add(matrix.costs.begin(), matrix.costs.end());
  FillVersion(ground->snapshot->version(), *response.mutable_version());
  return CheckAnswerFits(response.ByteSizeLong(), max_bytes_, "goals");
}

absl::Status FieldAnswers::Reachable(const v1::FindReachableRequest& request,
                                     v1::FindReachableResponse& response, CallContext& context) const {
  WAYSTAR_ASSIGN_OR_RETURN(const auto ground, GroundOf(store_, request, context));
  core::ReachQuery query = ToReachQuery(request);
  WAYSTAR_ASSIGN_OR_RETURN(query.start, ground->Resolve("start", request.start()));
  query.agent = ground->agent->agent();
  const WorkStopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(
      const core::ReachableCells reachable,
      core::FindReachable(ground->agent->map(), query, ground->budget, context.bench.field_scratch));
  stopwatch.Stamp(context, reachable.expanded, *response.mutable_statistics());
  const absl::string_view field = query.want_costs ? "with_costs" : "region";
  WAYSTAR_RETURN_IF_ERROR(CheckAnswerFits(reachable.costs.size() * sizeof(float), max_bytes_, field));
  FillReachable(reachable, response);
  FillVersion(ground->snapshot->version(), *response.mutable_version());
  return CheckAnswerFits(response.ByteSizeLong(), max_bytes_, field);
}

absl::Status FieldAnswers::FlowField(const v1::ComputeFlowFieldRequest& request,
                                     v1::ComputeFlowFieldResponse& response, CallContext& context) const {
  WAYSTAR_ASSIGN_OR_RETURN(const auto ground, GroundOf(store_, request, context));
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<core::Cell> goals,
                           ground->ResolveAll("goals", request.goals(), core::kMaxGoals));
  core::FlowFieldQuery query = ToFlowFieldQuery(request, goals);
  query.agent = ground->agent->agent();
  const WorkStopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(
      const core::FlowField field,
      core::ComputeFlowField(ground->agent->map(), query, ground->budget, context.bench.field_scratch));
  stopwatch.Stamp(context, field.expanded, *response.mutable_statistics());
  const absl::string_view blamed = query.want_costs ? "with_costs" : "region";
  WAYSTAR_RETURN_IF_ERROR(
      CheckAnswerFits(field.directions.size() + field.costs.size() * sizeof(float), max_bytes_, blamed));
  FillFlowField(field, ground->coordinates, response);
  FillVersion(ground->snapshot->version(), *response.mutable_version());
  return CheckAnswerFits(response.ByteSizeLong(), max_bytes_, blamed);
}

absl::Status FieldAnswers::Reachability(const v1::CheckReachabilityRequest& request,
                                        v1::CheckReachabilityResponse& response, CallContext& context) const {
  WAYSTAR_ASSIGN_OR_RETURN(const auto ground, GroundOf(store_, request, context));
  if (request.pairs().empty()) {
    return MissingField("pairs");
  }
  WAYSTAR_RETURN_IF_ERROR(
      core::CheckCount("pairs", static_cast<std::size_t>(request.pairs_size()), core::kMaxReachabilityPairs));
  std::vector<core::CellPair> pairs;
  pairs.reserve(static_cast<std::size_t>(request.pairs_size()));
  for (const v1::LocationPair& pair : request.pairs()) {
    const absl::StatusOr<core::Cell> start = ground->Resolve("start", pair.start());
    const absl::StatusOr<core::Cell> goal = ground->Resolve("goal", pair.goal());
    if (!start.ok() || !goal.ok()) {
      return WithFieldPrefix(start.ok() ? goal.status() : start.status(),
                             absl::StrCat("pairs[", pairs.size(), "]."));
    }
    pairs.push_back({*start, *goal});
  }
  const WorkStopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<bool> reachable,
                           core::CheckReachability(ground->agent->map(), *ground->agent,
                                                   ground->agent->agent(), pairs, ground->budget));
  stopwatch.Stamp(context, 0, *response.mutable_statistics());
  response.mutable_reachable()->Add(reachable.begin(), reachable.end());
  FillVersion(ground->snapshot->version(), *response.mutable_version());
  return CheckAnswerFits(response.ByteSizeLong(), max_bytes_, "pairs");
}

absl::Status FieldAnswers::Ray(const v1::CastRayRequest& request, v1::CastRayResponse& response,
                               CallContext& context) const {
  WAYSTAR_ASSIGN_OR_RETURN(const auto ground, GroundOf(store_, request, context));
  WAYSTAR_ASSIGN_OR_RETURN(const core::CellPoint from, RayEnd(*ground, "from", request.from()));
  WAYSTAR_ASSIGN_OR_RETURN(const core::CellPoint to, RayEnd(*ground, "to", request.to()));
  const WorkStopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(const core::RayHit hit,
                           core::CastRay(ground->agent->map(), ground->agent->agent(), from, to));
  stopwatch.Stamp(context, 0, *response.mutable_statistics());
  FillRayHit(hit, ground->agent->map().settings().frame, ground->coordinates, response);
  FillVersion(ground->snapshot->version(), *response.mutable_version());
  return absl::OkStatus();
}

absl::Status FieldAnswers::Sample(const v1::SampleCellsRequest& request, v1::SampleCellsResponse& response,
                                  CallContext& context) const {
  WAYSTAR_ASSIGN_OR_RETURN(const auto ground, GroundOf(store_, request, context));
  core::SampleQuery query = ToSampleQuery(request);
  if (request.has_reachable_from()) {
    WAYSTAR_ASSIGN_OR_RETURN(query.reachable_from,
                             ground->Resolve("reachable_from", request.reachable_from()));
  }
  query.agent = ground->agent->agent();
  if (IsTooMuchHere(query, ground->agent->map(), context)) {
    context.needs_more_expansions = true;
    return absl::OkStatus();
  }
  const WorkStopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(const core::SampledCells sampled,
                           core::SampleCells(ground->agent->map(), *ground->agent, query, ground->budget));
  stopwatch.Stamp(context, 0, *response.mutable_statistics());
  for (const core::Cell cell : sampled.cells) {
    FillCell(ground->coordinates.FromPlane(cell), *response.add_cells());
  }
  response.set_candidates(sampled.candidates);
  FillVersion(ground->snapshot->version(), *response.mutable_version());
  return CheckAnswerFits(response.ByteSizeLong(), max_bytes_, "count");
}

}  // namespace waystar::rpc
