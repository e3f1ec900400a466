#include "server/rpc/answer_query.h"

#include <chrono>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/search/find_path.h"
#include "server/core/search/validate_path.h"
#include "server/rpc/answer_graph_query.h"
#include "server/rpc/convert_path.h"
#include "server/rpc/convert_validation.h"
#include "server/rpc/overlaid_map.h"

namespace waystar::rpc {
namespace {

absl::Status CheckSize(std::size_t bytes, std::size_t max_bytes) {
  if (bytes <= max_bytes) {
    return absl::OkStatus();
  }
  return MakeError(absl::StatusCode::kResourceExhausted, ErrorReason::kResponseTooLarge, "path_form",
                   absl::StrCat("the path takes more than the ", max_bytes,
                                " bytes of a message: ask for corners or directions"));
}

// What only waypoint graphs have.
absl::Status CheckHasNoGraphFields(const v1::FindPathRequest& request) {
  for (const auto& [is_given, field] : {std::pair(!request.start_node().empty(), "start_node"),
                                        {!request.goal_node().empty(), "goal_node"},
                                        {request.has_start_position(), "start_position"},
                                        {request.has_goal_position(), "goal_position"},
                                        {request.required_tags_size() > 0, "required_tags"}}) {
    if (is_given) {
      return MakeError(absl::StatusCode::kFailedPrecondition, ErrorReason::kWrongMapKind, field,
                       "is for waypoint graphs; the map is a grid");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AnswerFindPath(const core::MapStore& store, std::size_t max_bytes,
                            const v1::FindPathRequest& request, v1::FindPathResponse& response,
                            CallContext& context) {
  if (const absl::StatusOr<core::PinnedSnapshot> found = store.Pin(request.map());
      found.ok() && (*found)->is_graph()) {
    return AnswerGraphQuery(**found, max_bytes, request, response, context);
  }
  return AnswerQuery(store, core::FindPath, max_bytes, request, response, context);
}

absl::Status AnswerQuery(const core::MapStore& store, PathSearch search, std::size_t max_bytes,
                         const v1::FindPathRequest& request, v1::FindPathResponse& response,
                         CallContext& context) {
  if (const absl::StatusOr<core::PinnedSnapshot> found = store.Pin(request.map());
      found.ok() && (*found)->is_graph()) {
    return core::CheckIsGrid(**found);
  }
  WAYSTAR_RETURN_IF_ERROR(CheckHasNoGraphFields(request));
  WAYSTAR_ASSIGN_OR_RETURN(const core::PathQuery query, ToPathQuery(request));
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store.Pin(request.map()));
  return AnswerOn(*snapshot, search, max_bytes, request, query, response, context);
}

absl::Status AnswerOn(const core::MapSnapshot& snapshot, PathSearch search, std::size_t max_bytes,
                      const v1::FindPathRequest& request, const core::PathQuery& query,
                      v1::FindPathResponse& response, CallContext& context) {
  WAYSTAR_RETURN_IF_ERROR(core::CheckIsGrid(snapshot));
  WAYSTAR_ASSIGN_OR_RETURN(const OverlaidMap overlaid, OverlaidMap::Make(snapshot.grid(), request.overlay()));
  if (request.max_expansions() > 0) {
    context.budget.max_expansions = request.max_expansions();
  }
  context.budget.evicted = &snapshot.eviction.flag();
  const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  WAYSTAR_ASSIGN_OR_RETURN(const core::PathResult result,
                           search(overlaid.map(), query, context.budget, context.scratch));
  const std::chrono::nanoseconds searching = std::chrono::steady_clock::now() - begin;
  // A point takes at least two bytes: what cannot fit is not written down first.
  WAYSTAR_RETURN_IF_ERROR(CheckSize(result.points.size() * 2, max_bytes));
  FillPathResult(result, response);
  response.set_revision(snapshot.revision);
  response.mutable_statistics()->set_queue_nanos(context.queued.count());
  response.mutable_statistics()->set_search_nanos(searching.count());
  return CheckSize(response.ByteSizeLong(), max_bytes);
}

absl::Status BelowQuery(const absl::Status& status) {
  return ErrorFieldOf(status).empty() ? status : WithFieldPrefix(status, "query.");
}

absl::Status AnswerValidation(const core::MapStore& store, const v1::ValidatePathRequest& request,
                              v1::ValidatePathResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(const PathToValidate path, ToPathToValidate(request));
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store.Pin(request.map()));
  WAYSTAR_RETURN_IF_ERROR(core::CheckIsGrid(*snapshot));
  WAYSTAR_ASSIGN_OR_RETURN(const OverlaidMap overlaid,
                           OverlaidMap::Make(snapshot->grid(), request.overlay()));
  const absl::StatusOr<core::Validation> validation = core::ValidatePath(overlaid.map(), path.query());
  if (!validation.ok()) {
    return request.directions().empty() ? validation.status() : OfDirections(validation.status());
  }
  FillValidation(*validation, request, response);
  response.set_revision(snapshot->revision);
  return absl::OkStatus();
}

}  // namespace waystar::rpc
