#include "server/rpc/answer_query.h"

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/field/nearest_goal.h"
#include "server/core/search/summary.h"
#include "server/core/search/validate_path.h"
#include "server/rpc/convert.h"
#include "server/rpc/convert_fields.h"
#include "server/rpc/convert_path.h"
#include "server/rpc/convert_validation.h"
#include "server/rpc/movement.h"
#include "server/rpc/placement.h"

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

// What the request asked for beside the path.
void FillExtras(const core::GridMap& map, const v1::FindPathRequest& request, const core::PathQuery& query,
                const core::PathResult& result, v1::FindPathResponse& response) {
  if (request.with_positions() || request.has_start_position() || request.has_goal_position()) {
    response.mutable_positions()->Reserve(static_cast<int>(result.points.size()));
    for (const core::Cell point : result.points) {
      FillPosition(map.settings().frame.CenterOf(point), *response.add_positions());
    }
  }
  if (request.with_summary() && result.outcome != core::Outcome::kUnreachable) {
    FillSummary(core::Summarize(map, query, result), map.settings(), *response.mutable_summary());
  }
}

absl::StatusOr<core::NearestGoalResult> Search(const core::GridMap& map, PathSearch search,
                                               const v1::FindPathRequest& request,
                                               const core::PathQuery& query, CallContext& context) {
  if (!request.goals().empty()) {
    return core::FindPathToNearest(map, query, ToCells(request.goals()), context.budget, context.scratch);
  }
  core::NearestGoalResult found;
  WAYSTAR_ASSIGN_OR_RETURN(found.path, search(map, query, context.budget, context.scratch));
  return found;
}

}  // namespace

void FillAnswer(const core::GridMap& map, const v1::FindPathRequest& request, const core::PathQuery& query,
                const core::NearestGoalResult& found, v1::FindPathResponse& response) {
  FillPathResult(found.path, response);
  if (!request.goals().empty() && found.path.outcome == core::Outcome::kFound) {
    response.set_goal_index(static_cast<std::int32_t>(found.goal_index));
  }
  FillCell(query.start, *response.mutable_start());
  FillExtras(map, request, query, found.path, response);
}

absl::Status AnswerQuery(const core::MapStore& store, PathSearch search, std::size_t max_bytes,
                         const v1::FindPathRequest& request, v1::FindPathResponse& response,
                         CallContext& context) {
  WAYSTAR_ASSIGN_OR_RETURN(const core::PathQuery query, ToPathQuery(request));
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store.Pin(request.map()));
  return AnswerOn(*snapshot, search, max_bytes, request, query, response, context);
}

absl::Status AnswerOn(const core::MapSnapshot& snapshot, PathSearch search, std::size_t max_bytes,
                      const v1::FindPathRequest& request, const core::PathQuery& asked,
                      v1::FindPathResponse& response, CallContext& context) {
  WAYSTAR_ASSIGN_OR_RETURN(const Movement movement, Movement::Make(snapshot, RequestedMovementOf(request)));
  core::PathQuery query = asked;
  query.corner_rule = movement.corner_rule();
  query.footprint = movement.footprint();
  WAYSTAR_RETURN_IF_ERROR(PlaceEnds(request, movement, query));
  if (request.max_expansions() > 0) {
    context.budget.max_expansions = request.max_expansions();
  }
  context.budget.evicted = &snapshot.eviction.flag();
  const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  const absl::StatusOr<core::NearestGoalResult> found =
      Search(movement.map(), search, request, query, context);
  if (!found.ok()) {
    return OfPositions(found.status(), request);
  }
  const std::chrono::nanoseconds searching = std::chrono::steady_clock::now() - begin;
  // A point takes at least two bytes: what cannot fit is not written down first.
  WAYSTAR_RETURN_IF_ERROR(CheckSize(found->path.points.size() * 2, max_bytes));
  FillAnswer(movement.map(), request, query, *found, response);
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
  WAYSTAR_ASSIGN_OR_RETURN(PathToValidate path, ToPathToValidate(request));
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store.Pin(request.map()));
  WAYSTAR_ASSIGN_OR_RETURN(const Movement movement, Movement::Make(*snapshot, RequestedMovementOf(request)));
  path.corner_rule = movement.corner_rule();
  path.footprint = movement.footprint();
  const absl::StatusOr<core::Validation> validation = core::ValidatePath(movement.map(), path.query());
  if (!validation.ok()) {
    return request.directions().empty() ? validation.status() : OfDirections(validation.status());
  }
  FillValidation(*validation, request, response);
  response.set_revision(snapshot->revision);
  return absl::OkStatus();
}

}  // namespace waystar::rpc
