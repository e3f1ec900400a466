#include "server/service/handlers/query/answer_query.h"

#include <limits>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/query/resolve.h"
#include "server/core/query/solve.h"
#include "server/service/call/answer_size.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_query.h"
#include "server/service/convert/write_route.h"
#include "server/service/handlers/query/answer_by_kind.h"
#include "server/service/handlers/query/inline_map.h"

namespace waystar::rpc {
namespace {

absl::Status CheckSize(std::size_t bytes, std::size_t max_bytes) {
  return CheckAnswerFits(bytes, max_bytes, "path_form", "ask for corners or directions");
}

absl::Status AnswerOn(const core::MapSnapshot& snapshot, core::OtherMaps others, std::size_t max_bytes,
                      const v1::FindPathRequest& request, v1::FindPathResponse& response,
                      CallContext& context) {
  WAYSTAR_RETURN_IF_ERROR(TakeView(snapshot, request.view(), context));
  WAYSTAR_ASSIGN_OR_RETURN(const core::RouteQuery query,
                           ToRouteQuery(request, snapshot.id, HexCoordinates(snapshot)));
  const core::Budget budget = context.BudgetFor(query.max_expansions);
  WAYSTAR_ASSIGN_OR_RETURN(const core::ResolvedRoute resolved,
                           core::Resolve(snapshot, query, std::move(others), budget));
  WAYSTAR_ASSIGN_OR_RETURN(const core::Route route, core::Solve(resolved, budget, context.bench));
  context.needs_more_expansions = route.path.reason == core::OutcomeReason::kExpansionLimit &&
                                  budget.max_expansions < query.max_expansions;
  if (context.NeedsLargerLane()) {
    return absl::OkStatus();
  }
  return WriteAnswer(route, snapshot, max_bytes, response, context);
}

absl::Status AnswerOnInlineMap(const core::MapStore& store, std::size_t max_bytes,
                               const v1::FindPathRequest& request, v1::FindPathResponse& response,
                               CallContext& context) {
  if (!request.map().empty()) {
    return MakeError(ErrorReason::kBadSource, "inline_map", "give either map or inline_map");
  }
  WAYSTAR_ASSIGN_OR_RETURN(const std::unique_ptr<InlineSnapshot> own,
                           MakeInlineMap(request.inline_map(), store.memory(), context.budget));
  const core::OtherMaps none{.store = store, .may_visit = [](absl::string_view /*id*/) { return false; }};
  return AnswerOn(own->snapshot, none, max_bytes, request, response, context);
}

}  // namespace

absl::Status TakeView(const core::MapSnapshot& snapshot, const v1::View& view, CallContext& context) {
  const absl::Status status = CheckLeastVersion(snapshot.version(), view);
  if (absl::IsUnavailable(status)) {
    context.awaited_version =
        core::MapVersion{.epoch = view.least_version().epoch(), .revision = view.least_version().revision()};
  }
  return status;
}

absl::Status AnswerFindPath(const core::MapStore& store, std::size_t max_bytes,
                            const v1::FindPathRequest& request, v1::FindPathResponse& response,
                            CallContext& context) {
  if (request.has_inline_map()) {
    return AnswerOnInlineMap(store, max_bytes, request, response, context);
  }
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store.Pin(request.map()));
  return AnswerOn(*snapshot, MapsFor(store, context), max_bytes, request, response, context);
}

absl::Status WriteAnswer(const core::Route& route, const core::MapSnapshot& snapshot, std::size_t max_bytes,
                         v1::FindPathResponse& response, const CallContext& context) {
  // Does not write an answer that cannot fit.
  WAYSTAR_RETURN_IF_ERROR(CheckSize(LeastBytesOf(route), max_bytes));
  const std::size_t bytes = WriteRoute(route, {.version = snapshot.version(), .queued = context.queued},
                                       HexCoordinates(snapshot), response, context.WrittenFor(response));
  return CheckSize(bytes, max_bytes);
}

absl::Status AnswerValidation(const core::MapStore& store, const v1::ValidatePathRequest& request,
                              v1::ValidatePathResponse& response, CallContext& context) {
  return AnswerByKind(store, std::numeric_limits<std::size_t>::max(), request, response, context);
}

core::OtherMaps MapsFor(const core::MapStore& store, CallContext& context) {
  return {.store = store,
          .may_visit = [&caller = context.caller](absl::string_view id) { return caller.MayRead(id); },
          .missing = &context.missing_map};
}

absl::Status CheckNamesMap(const v1::FindPathRequest& query) {
  return query.has_inline_map() ? MakeError(ErrorReason::kBadValue, "inline_map",
                                            "only FindPath and StreamFindPath take a map along")
                                : absl::OkStatus();
}

absl::Status BelowQuery(const absl::Status& status) {
  return ErrorFieldOf(status).empty() ? status : WithFieldPrefix(status, "query.");
}

}  // namespace waystar::rpc
