#include "server/rpc/query/answer_query.h"

#include <cstdint>
#include <limits>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/path/validate_path.h"
#include "server/core/portal/portal_validation.h"
#include "server/core/query/resolve.h"
#include "server/core/query/resolved_agent.h"
#include "server/core/query/solve.h"
#include "server/rpc/call/answer_size.h"
#include "server/rpc/query/work_stopwatch.h"
#include "server/rpc/wire/convert.h"
#include "server/rpc/wire/convert_query.h"
#include "server/rpc/wire/convert_validation.h"
#include "server/rpc/wire/write_route.h"

namespace waystar::rpc {
namespace {

// A cell of a path is validated and priced in a part of the time of an expansion.
constexpr std::uint64_t kCellsPerExpansion = 32;

absl::Status CheckSize(std::size_t bytes, std::size_t max_bytes) {
  return CheckAnswerFits(bytes, max_bytes, "path_form", "ask for corners or directions");
}

}  // namespace

absl::StatusOr<HexCoordinates> TakeView(const core::MapSnapshot& snapshot, const v1::View& view,
                                        CallContext& context) {
  if (const absl::Status status = CheckLeastVersion(snapshot.version(), view); !status.ok()) {
    if (absl::IsUnavailable(status)) {
      context.awaited_version = core::MapVersion{.epoch = view.least_version().epoch(),
                                                 .revision = view.least_version().revision()};
    }
    return status;
  }
  return HexCoordinates::Of(snapshot, view);
}

absl::Status AnswerFindPath(const core::MapStore& store, std::size_t max_bytes,
                            const v1::FindPathRequest& request, v1::FindPathResponse& response,
                            CallContext& context) {
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store.Pin(request.map()));
  WAYSTAR_ASSIGN_OR_RETURN(const HexCoordinates coordinates, TakeView(*snapshot, request.view(), context));
  WAYSTAR_ASSIGN_OR_RETURN(const core::RouteQuery query, ToRouteQuery(request, coordinates));
  const core::Budget budget = context.BudgetFor(query.max_expansions);
  WAYSTAR_ASSIGN_OR_RETURN(const core::ResolvedRoute resolved,
                           core::Resolve(*snapshot, query, MapsFor(store, context.caller), budget));
  WAYSTAR_ASSIGN_OR_RETURN(const core::Route route, core::Solve(resolved, budget, context.bench));
  context.needs_more_expansions = route.path.reason == core::OutcomeReason::kExpansionLimit &&
                                  budget.max_expansions < query.max_expansions;
  if (context.NeedsLargerLane()) {
    return absl::OkStatus();
  }
  return WriteAnswer(route, *snapshot, coordinates, max_bytes, response, context);
}

absl::Status WriteAnswer(const core::Route& route, const core::MapSnapshot& snapshot,
                         const HexCoordinates& coordinates, std::size_t max_bytes,
                         v1::FindPathResponse& response, const CallContext& context) {
  // An answer that cannot fit is not written first.
  WAYSTAR_RETURN_IF_ERROR(CheckSize(LeastBytesOf(route), max_bytes));
  const std::size_t bytes = WriteRoute(route, {.version = snapshot.version(), .queued = context.queued},
                                       coordinates, response, context.WrittenFor(response));
  return CheckSize(bytes, max_bytes);
}

absl::Status AnswerValidation(const core::MapStore& store, const v1::ValidatePathRequest& request,
                              v1::ValidatePathResponse& response, CallContext& context) {
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store.Pin(request.map()));
  WAYSTAR_ASSIGN_OR_RETURN(const HexCoordinates coordinates, TakeView(*snapshot, request.view(), context));
  WAYSTAR_ASSIGN_OR_RETURN(const core::AgentQuery query,
                           ToAgentQuery(request.agent(), request.view(), coordinates));
  WAYSTAR_ASSIGN_OR_RETURN(PathToValidate path, ToPathToValidate(request, coordinates));
  WAYSTAR_ASSIGN_OR_RETURN(
      const std::unique_ptr<core::ResolvedAgent> agent,
      core::ResolvedAgent::Make(*snapshot, query, MapsFor(store, context.caller), false, context.budget));
  context.needs_more_expansions =
      core::WorkOfValidation(path.query()) / kCellsPerExpansion > context.max_expansions_here;
  if (context.NeedsLargerLane()) {
    return absl::OkStatus();
  }
  path.corner_rule = agent->corner_rule();
  path.footprint = agent->footprint();
  const WorkStopwatch stopwatch;
  const absl::StatusOr<core::Validation> validation =
      core::ValidateThroughPortals(agent->map(), *agent, path.query(), path.crossings, agent->required_tags(),
                                   core::BudgetOn(*snapshot, context.budget));
  if (!validation.ok()) {
    return path.InRequest(validation.status());
  }
  stopwatch.Stamp(context, 0, *response.mutable_statistics());
  FillValidation(*validation, path, coordinates, response);
  FillVersion(snapshot->version(), *response.mutable_version());
  return absl::OkStatus();
}

core::OtherMaps MapsFor(const core::MapStore& store, const Caller& caller) {
  return {.store = store, .may_visit = [&caller](absl::string_view id) { return caller.MayRead(id); }};
}

absl::Status BelowQuery(const absl::Status& status) {
  return ErrorFieldOf(status).empty() ? status : WithFieldPrefix(status, "query.");
}

}  // namespace waystar::rpc
