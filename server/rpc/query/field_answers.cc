#include "server/rpc/query/field_answers.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/query/readiness.h"
#include "server/core/query/resolve.h"
#include "server/core/query/resolved_agent.h"
#include "server/rpc/call/answer_size.h"
#include "server/rpc/query/answer_query.h"
#include "server/rpc/wire/convert.h"
#include "server/rpc/wire/convert_fields.h"
#include "server/rpc/wire/convert_query.h"
#include "server/rpc/wire/hex_coordinates.h"

namespace waystar::rpc {
namespace {

// Measures the time from when it is made.
class Stopwatch {
 public:
  void Stamp(const CallContext& context, std::uint64_t expanded, v1::FieldStatistics& statistics) const {
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin_;
    statistics.set_expanded(expanded);
    statistics.set_queue_nanos(context.queued.count());
    statistics.set_search_nanos(took.count());
  }

 private:
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// The map that a question is about, as its agent sees it, and how its cells are counted.
struct Ground {
  core::PinnedSnapshot snapshot;
  HexCoordinates coordinates;
  core::AgentQuery query;
  std::unique_ptr<core::ResolvedAgent> agent;
  core::Budget budget;
};

template <typename Request>
absl::StatusOr<std::unique_ptr<Ground>> GroundOf(const core::MapStore& store, const Request& request,
                                                 const CallContext& context) {
  auto ground = std::make_unique<Ground>();
  WAYSTAR_ASSIGN_OR_RETURN(ground->snapshot, store.Pin(request.map()));
  if constexpr (requires { request.coordinates(); }) {
    WAYSTAR_ASSIGN_OR_RETURN(ground->coordinates,
                             HexCoordinates::Of(*ground->snapshot, request.coordinates()));
  }
  WAYSTAR_ASSIGN_OR_RETURN(ground->query, ToAgentQuery(request, ground->coordinates));
  WAYSTAR_ASSIGN_OR_RETURN(ground->agent,
                           core::ResolvedAgent::Make(*ground->snapshot, ground->query,
                                                     MapsFor(store, context.caller), false, context.budget));
  ground->budget = core::BudgetOn(*ground->snapshot, context.budget);
  return ground;
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
  const std::vector<core::Cell> sources = ToCells(request.sources(), ground->coordinates);
  const std::vector<core::Cell> targets = ToCells(request.targets(), ground->coordinates);
  const Stopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(
      const core::CostMatrix matrix,
      core::ComputeCostMatrix(ground->agent->map(), *ground->agent,
                              {.sources = sources, .targets = targets, .agent = ground->agent->agent()},
                              ground->budget, context.bench.scratch, context.bench.field_scratch));
  stopwatch.Stamp(context, matrix.expanded, *response.mutable_statistics());
  response.mutable_costs()->Add(matrix.costs.begin(), matrix.costs.end());
  FillVersion(ground->snapshot->version(), response);
  return CheckAnswerFits(response.ByteSizeLong(), max_bytes_, "targets");
}

absl::Status FieldAnswers::Reachable(const v1::FindReachableRequest& request,
                                     v1::FindReachableResponse& response, CallContext& context) const {
  WAYSTAR_ASSIGN_OR_RETURN(const auto ground, GroundOf(store_, request, context));
  WAYSTAR_ASSIGN_OR_RETURN(core::ReachQuery query, ToReachQuery(request, ground->coordinates));
  query.agent = ground->agent->agent();
  const Stopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(
      const core::ReachableCells reachable,
      core::FindReachable(ground->agent->map(), query, ground->budget, context.bench.field_scratch));
  stopwatch.Stamp(context, reachable.expanded, *response.mutable_statistics());
  const absl::string_view field = query.want_costs ? "want_costs" : "region";
  WAYSTAR_RETURN_IF_ERROR(CheckAnswerFits(reachable.costs.size() * sizeof(float), max_bytes_, field));
  FillReachable(reachable, response);
  FillVersion(ground->snapshot->version(), response);
  return CheckAnswerFits(response.ByteSizeLong(), max_bytes_, field);
}

absl::Status FieldAnswers::FlowField(const v1::ComputeFlowFieldRequest& request,
                                     v1::ComputeFlowFieldResponse& response, CallContext& context) const {
  WAYSTAR_ASSIGN_OR_RETURN(const auto ground, GroundOf(store_, request, context));
  const std::vector<core::Cell> goals = ToCells(request.goals(), ground->coordinates);
  core::FlowFieldQuery query = ToFlowFieldQuery(request, goals);
  query.agent = ground->agent->agent();
  const Stopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(
      const core::FlowField field,
      core::ComputeFlowField(ground->agent->map(), query, ground->budget, context.bench.field_scratch));
  stopwatch.Stamp(context, field.expanded, *response.mutable_statistics());
  const absl::string_view blamed = query.want_costs ? "want_costs" : "region";
  WAYSTAR_RETURN_IF_ERROR(
      CheckAnswerFits(field.directions.size() + field.costs.size() * sizeof(float), max_bytes_, blamed));
  FillFlowField(field, ground->coordinates, response);
  FillVersion(ground->snapshot->version(), response);
  return CheckAnswerFits(response.ByteSizeLong(), max_bytes_, blamed);
}

absl::Status FieldAnswers::Reachability(const v1::CheckReachabilityRequest& request,
                                        v1::CheckReachabilityResponse& response, CallContext& context) const {
  WAYSTAR_ASSIGN_OR_RETURN(const auto ground, GroundOf(store_, request, context));
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<core::CellPair> pairs,
                           ToCellPairs(request, ground->coordinates));
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<bool> reachable,
                           core::CheckReachability(ground->agent->map(), *ground->agent,
                                                   ground->agent->agent(), pairs, ground->budget));
  response.mutable_reachable()->Add(reachable.begin(), reachable.end());
  FillVersion(ground->snapshot->version(), response);
  return CheckAnswerFits(response.ByteSizeLong(), max_bytes_, "pairs");
}

absl::Status FieldAnswers::Ray(const v1::CastRayRequest& request, v1::CastRayResponse& response,
                               CallContext& context) const {
  if (!request.has_from() || !request.has_to()) {
    return MissingField(request.has_from() ? "to" : "from");
  }
  WAYSTAR_ASSIGN_OR_RETURN(const auto ground, GroundOf(store_, request, context));
  WAYSTAR_ASSIGN_OR_RETURN(const core::RayHit hit, core::CastRay(ground->agent->map(), ground->agent->agent(),
                                                                 {request.from().x(), request.from().y()},
                                                                 {request.to().x(), request.to().y()}));
  FillRayHit(hit, response);
  FillVersion(ground->snapshot->version(), response);
  return absl::OkStatus();
}

absl::Status FieldAnswers::Sample(const v1::SampleCellsRequest& request, v1::SampleCellsResponse& response,
                                  CallContext& context) const {
  WAYSTAR_ASSIGN_OR_RETURN(const auto ground, GroundOf(store_, request, context));
  core::SampleQuery query = ToSampleQuery(request, ground->coordinates);
  query.agent = ground->agent->agent();
  if (IsTooMuchHere(query, ground->agent->map(), context)) {
    context.needs_more_expansions = true;
    return absl::OkStatus();
  }
  WAYSTAR_ASSIGN_OR_RETURN(const core::SampledCells sampled,
                           core::SampleCells(ground->agent->map(), *ground->agent, query, ground->budget));
  for (const core::Cell cell : sampled.cells) {
    FillCell(ground->coordinates.FromPlane(cell), *response.add_cells());
  }
  response.set_candidates(sampled.candidates);
  FillVersion(ground->snapshot->version(), response);
  return CheckAnswerFits(response.ByteSizeLong(), max_bytes_, "count");
}

}  // namespace waystar::rpc
