#include "server/rpc/query/answer_graph_query.h"

#include <chrono>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/graph_search/graph_search.h"
#include "server/rpc/wire/convert_graph.h"
#include "server/rpc/wire/convert_path.h"

namespace waystar::rpc {
namespace {

absl::Status CheckBytes(std::size_t bytes, std::size_t max_bytes) {
  if (bytes <= max_bytes) {
    return absl::OkStatus();
  }
  return MakeError(absl::StatusCode::kResourceExhausted, ErrorReason::kResponseTooLarge, "",
                   absl::StrCat("the path takes more than the ", max_bytes, " bytes of a message"));
}

}  // namespace

absl::Status AnswerGraphQuery(const core::MapSnapshot& snapshot, std::size_t max_bytes,
                              const v1::FindPathRequest& request, v1::FindPathResponse& response,
                              CallContext& context) {
  WAYSTAR_ASSIGN_OR_RETURN(const core::GraphQuery query, ToGraphQuery(request));
  const std::uint64_t max_expansions = MaxExpansionsOf(request);
  core::Budget budget = context.BudgetFor(max_expansions);
  budget.evicted = &snapshot.eviction.flag();
  const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  WAYSTAR_ASSIGN_OR_RETURN(const core::GraphPathResult result,
                           core::FindGraphPath(snapshot.graph(), query, budget, context.bench.graph_scratch));
  const std::chrono::nanoseconds searching = std::chrono::steady_clock::now() - begin;
  if (result.reason == core::OutcomeReason::kExpansionLimit && budget.max_expansions < max_expansions) {
    context.needs_larger_lane = true;
    return absl::OkStatus();
  }
  // A node takes at least five bytes: what cannot fit is not written down first.
  WAYSTAR_RETURN_IF_ERROR(CheckBytes(result.nodes.size() * 5, max_bytes));
  FillGraphPath(snapshot.graph(), query, result, response);
  response.set_revision(snapshot.revision);
  response.mutable_statistics()->set_queue_nanos(context.queued.count());
  response.mutable_statistics()->set_search_nanos(searching.count());
  return CheckBytes(response.ByteSizeLong(), max_bytes);
}

}  // namespace waystar::rpc
