#include "server/service/handlers/query/answer_query.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/query/resolve.h"
#include "server/core/query/solve.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"
#include "server/service/call/status.h"
#include "server/service/call/written_message.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_query.h"
#include "server/service/convert/hex_coordinates.h"
#include "server/service/convert/message_fields.h"
#include "server/service/convert/write_route.h"
#include "server/service/handlers/query/inline_map.h"

namespace waystar::rpc {
namespace {

// Advice on what to request instead of an answer that does not fit.
constexpr absl::string_view kShorterForms = "ask for corners or directions";

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
  std::unique_ptr<InlineSnapshot> own;
  core::PinnedSnapshot pinned;
  core::OtherMaps others = MapsFor(store, context);
  if (!request.has_inline_map()) {
    WAYSTAR_ASSIGN_OR_RETURN(pinned, store.Pin(request.map()));
  } else if (!request.map().empty()) {
    return MakeError(ErrorReason::kBadSource, "inline_map", "give either map or inline_map");
  } else {
    WAYSTAR_ASSIGN_OR_RETURN(own, MakeInlineMap(request.inline_map(), store.memory(), context.budget));
    others.may_visit = [](absl::string_view /*id*/) { return false; };
  }
  const core::MapSnapshot& snapshot = own != nullptr ? own->snapshot : *pinned;
  WAYSTAR_RETURN_IF_ERROR(TakeView(snapshot, request.view(), context));
  WAYSTAR_ASSIGN_OR_RETURN(const core::RouteQuery query,
                           ToRouteQuery(request, snapshot.id, HexCoordinates(snapshot)));
  const core::Budget budget = context.BudgetFor(query.max_expansions);
  WAYSTAR_ASSIGN_OR_RETURN(const core::ResolvedRoute resolved,
                           core::Resolve(snapshot, query, std::move(others), budget));
  WAYSTAR_ASSIGN_OR_RETURN(const core::Route route, core::Solve(resolved, budget, context.bench));
  context.needs_more_expansions = route.path.reason == core::OutcomeReason::kExpansionLimit &&
                                  budget.max_expansions < query.max_expansions;
  return context.NeedsLargerLane() ? absl::OkStatus()
                                   : WriteAnswer(route, snapshot, max_bytes, request, response, context);
}

absl::Status WriteAnswer(const core::Route& route, const core::MapSnapshot& snapshot, std::size_t max_bytes,
                         const v1::FindPathRequest& query, v1::FindPathResponse& response,
                         const CallContext& context) {
  // Does not write an answer that cannot fit.
  WAYSTAR_RETURN_IF_ERROR(CheckAnswerFits(LeastBytesOf(route), max_bytes, "path_form", kShorterForms));
  RouteStamp stamp = StampOf(snapshot.version(), query, context.queued);
  if (!query.has_inline_map()) {
    stamp.staleness = context.staleness;
  }
  const std::size_t bytes =
      WriteRoute(route, stamp, HexCoordinates(snapshot), response, context.WrittenFor(response));
  return CheckAnswerFits(bytes, max_bytes, "path_form", kShorterForms);
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

namespace {

// Collects the results of a batch. Each result is written by one thread; several threads may write
// concurrently.
class ResultWriter {
 public:
  ResultWriter(const core::MapVersion& version, std::size_t max_bytes, const v1::FindPathsRequest& request,
               v1::FindPathsResponse& response, const CallContext& context)
      : version_(version),
        context_(context),
        max_bytes_(max_bytes),
        request_(request),
        response_(response),
        written_(context.WrittenFor(response)) {
    const int queries = request.queries_size();
    response_.mutable_results()->Reserve(queries);
    results_.reserve(written_ != nullptr ? static_cast<std::size_t>(queries) : 0);
    for (int i = 0; i < queries; ++i) {
      const v1::FindPathsResult& result = *response_.add_results();
      if (written_ != nullptr) {
        results_.emplace_back(result);
      }
    }
  }

  absl::Status Write(std::size_t index, const core::Route& route, const HexCoordinates& coordinates) {
    WAYSTAR_RETURN_IF_ERROR(CheckFits(LeastBytesOf(route)));
    const RouteStamp stamp = StampOf(version_, request_.queries(static_cast<int>(index)), context_.queued);
    v1::FindPathResponse& answer = *response_.mutable_results(static_cast<int>(index))->mutable_answer();
    if (written_ == nullptr) {
      WriteRoute(route, stamp, coordinates, answer, nullptr);
    } else {
      WrittenMessage written(answer);
      WriteRoute(route, stamp, coordinates, answer, &written);
      results_[index].AddField(v1::FindPathsResult::kAnswerFieldNumber, written);
    }
    return Count(index);
  }

  absl::Status WriteProblem(std::size_t index, const absl::Status& status) {
    v1::FindPathsResult& result = *response_.mutable_results(static_cast<int>(index));
    *result.mutable_problem() = ToStatusMessage(status);
    if (written_ != nullptr) {
      results_[index].AddFieldsOf(result);
    }
    return Count(index);
  }

  // REQUIRES: all results have been added.
  absl::Status Finish() {
    FillInfo(version_, context_.staleness, 0.0, *response_.mutable_info());
    if (written_ == nullptr) {
      return CheckFits(response_.ByteSizeLong());
    }
    for (const WrittenMessage& result : results_) {
      written_->AddField(v1::FindPathsResponse::kResultsFieldNumber, result);
    }
    v1::FindPathsResponse rest;
    *rest.mutable_info() = response_.info();
    written_->AddFieldsOf(rest);
    return CheckFits(written_->size());
  }

 private:
  // Returns the error of a batch that does not fit.
  absl::Status Count(std::size_t index) {
    const std::size_t bytes = written_ != nullptr ? results_[index].size()
                                                  : response_.results(static_cast<int>(index)).ByteSizeLong();
    return CheckFits(bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes);
  }

  absl::Status CheckFits(std::size_t bytes) const {
    return CheckAnswerFits(bytes, max_bytes_, "queries", "ask for corners or directions, or fewer at a time");
  }

  const core::MapVersion version_;
  const CallContext& context_;
  const std::size_t max_bytes_;
  const v1::FindPathsRequest& request_;
  v1::FindPathsResponse& response_;
  // Null if the response is wanted as a message. Otherwise results are kept as bytes until all are complete.
  WrittenMessage* const written_;
  std::vector<WrittenMessage> results_;
  // Total bytes of the results so far.
  std::atomic<std::size_t> bytes_ = 0;
};

}  // namespace

absl::Status AnswerQueries(const core::MapStore& store, std::size_t max_bytes,
                           const v1::FindPathsRequest& request, v1::FindPathsResponse& response,
                           CallContext& context) {
  WAYSTAR_RETURN_IF_ERROR(CheckGiven(!request.queries().empty(), "queries"));
  WAYSTAR_RETURN_IF_ERROR(
      core::CheckCount("queries", static_cast<std::size_t>(request.queries_size()), kMaxQueries));
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store.Pin(request.map()));
  WAYSTAR_RETURN_IF_ERROR(TakeView(*snapshot, request.view(), context));
  const HexCoordinates coordinates(*snapshot);
  WAYSTAR_ASSIGN_OR_RETURN(const core::RouteQuery shared, ToSharedQuery(request));
  WAYSTAR_RETURN_IF_ERROR(core::CheckOptions(shared, snapshot->kind()));
  WAYSTAR_ASSIGN_OR_RETURN(const core::AgentQuery own_agent,
                           ToAgentQuery(request.agent(), request.view(), coordinates));
  const core::Budget budget = context.BudgetFor(shared.max_expansions);
  WAYSTAR_ASSIGN_OR_RETURN(const core::SharedAgent agent,
                           core::ResolveAgent(*snapshot, own_agent, MapsFor(store, context), budget));

  ResultWriter writer(snapshot->version(), max_bytes, request, response, context);
  std::vector<std::optional<core::ResolvedRoute>> batch(static_cast<std::size_t>(request.queries_size()));
  std::vector<const core::ResolvedRoute*> queries(batch.size(), nullptr);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (const std::optional<core::SearchEnd> end = core::Interruption(budget)) {
      return core::InterruptionError(*end, 0);
    }
    const absl::StatusOr<core::RouteQuery> query =
        ToRouteQuery(shared, request.queries(static_cast<int>(i)), snapshot->id, coordinates);
    absl::StatusOr<core::ResolvedRoute> resolved =
        query.ok() ? core::ResolveFor(agent, *snapshot, *query, budget) : query.status();
    if (context.NeedsLargerLane()) {
      return absl::OkStatus();
    }
    if (resolved.ok()) {
      queries[i] = &batch[i].emplace(*std::move(resolved));
    } else {
      WAYSTAR_RETURN_IF_ERROR(core::EndsAll(resolved.status()) ? resolved.status()
                                                               : writer.WriteProblem(i, resolved.status()));
    }
  }
  const auto take = [&](std::size_t index, const absl::StatusOr<core::Route>& route) {
    if (route.ok() && route->path.reason == core::OutcomeReason::kExpansionLimit &&
        budget.max_expansions < shared.max_expansions) {
      context.needs_more_expansions = true;
      return core::UpkeepError();
    }
    return route.ok() ? writer.Write(index, *route, coordinates) : writer.WriteProblem(index, route.status());
  };
  const absl::Status status = core::SolveMany(queries, agent, budget, context.bench, context.crew, take);
  if (context.NeedsLargerLane()) {
    return absl::OkStatus();
  }
  WAYSTAR_RETURN_IF_ERROR(status);
  return writer.Finish();
}

}  // namespace waystar::rpc
