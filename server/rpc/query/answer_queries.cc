#include "server/rpc/query/answer_queries.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/map/portal_table.h"
#include "server/core/query/find_paths.h"
#include "server/core/search/checks.h"
#include "server/rpc/call/status.h"
#include "server/rpc/call/written_message.h"
#include "server/rpc/query/answer_query.h"
#include "server/rpc/query/movement.h"
#include "server/rpc/query/placement.h"
#include "server/rpc/query/world_view.h"
#include "server/rpc/wire/convert_fields.h"
#include "server/rpc/wire/convert_path.h"

namespace waystar::rpc {
namespace {

bool HasMovement(const v1::FindPathRequest& query) {
  return query.movement_case() != v1::FindPathRequest::MOVEMENT_NOT_SET;
}

class QueriesAnswerer {
 public:
  QueriesAnswerer(const core::MapStore& store, const core::MapSnapshot& snapshot, const Movement& movement,
                  std::size_t max_bytes, const v1::FindPathsRequest& request, v1::FindPathsResponse& response,
                  CallContext& context)
      : store_(store),
        snapshot_(snapshot),
        movement_(movement),
        world_(store, context.caller, snapshot, movement, FieldMovementOf(request)),
        max_bytes_(max_bytes),
        request_(request),
        response_(response),
        context_(context),
        written_(context.WrittenFor(response)),
        budget_(context.budget) {
    budget_.evicted = &snapshot.eviction.flag();
  }

  absl::Status Answer() {
    AddResults();
    for (int i = 0; i < request_.queries_size(); ++i) {
      const v1::FindPathRequest& query = request_.queries(i);
      if (const absl::Status status = CheckMap(query); !status.ok()) {
        WAYSTAR_RETURN_IF_ERROR(SetProblem(i, status));
      } else if (query.has_overlay() || HasMovement(query)) {
        WAYSTAR_RETURN_IF_ERROR(AnswerOnItsOwn(i));
      } else if (!query.goal_map().empty() || !snapshot_.grid().portals().empty()) {
        WAYSTAR_RETURN_IF_ERROR(AnswerThroughPortals(i));
      } else if (const absl::Status added = AddTask(i); !added.ok()) {
        WAYSTAR_RETURN_IF_ERROR(EndsAll(added) ? added : SetProblem(i, added));
      }
    }
    const auto take = [&](std::size_t task, const absl::StatusOr<core::NearestGoalResult>& answer,
                          std::chrono::nanoseconds took) {
      return answer.ok()
                 ? SetAnswer(task, *answer, took)
                 : SetProblem(indexes_[task], OfPositions(answer.status(), request_.queries(indexes_[task])));
    };
    const absl::Status end = context_.crew != nullptr
                                 ? core::FindPaths(movement_.map(), tasks_, budget_, *context_.crew, take)
                                 : core::FindPaths(movement_.map(), tasks_, budget_, context_.bench.scratch,
                                                   context_.bench.field_scratch, take);
    WAYSTAR_RETURN_IF_ERROR(end);
    return Finish() <= max_bytes_ ? absl::OkStatus() : TooLarge();
  }

 private:
  // Whether what ended the work on one query ends that on all.
  static bool EndsAll(const absl::Status& status) {
    return absl::IsDeadlineExceeded(status) || absl::IsCancelled(status) || absl::IsAborted(status);
  }

  // Empty ones, for each of which one thread is answerable.
  void AddResults() {
    const auto queries = static_cast<std::size_t>(request_.queries_size());
    response_.mutable_results()->Reserve(request_.queries_size());
    results_.reserve(written_ != nullptr ? queries : 0);
    tasks_.reserve(queries);
    indexes_.reserve(queries);
    for (int i = 0; i < request_.queries_size(); ++i) {
      const v1::FindPathsResult& result = *response_.add_results();
      if (written_ != nullptr) {
        results_.emplace_back(result);
      }
    }
  }

  // Once all results are there. Returns what the response takes.
  std::size_t Finish() {
    response_.set_revision(snapshot_.revision);
    if (written_ == nullptr) {
      return response_.ByteSizeLong();
    }
    for (const WrittenMessage& result : results_) {
      written_->AddField(v1::FindPathsResponse::kResultsFieldNumber, result);
    }
    v1::FindPathsResponse rest;
    rest.set_revision(snapshot_.revision);
    written_->AddFieldsOf(rest);
    return written_->size();
  }

  absl::Status CheckMap(const v1::FindPathRequest& query) const {
    if (query.map().empty() || query.map() == request_.map()) {
      return absl::OkStatus();
    }
    return InvalidArgument(ErrorReason::kBadValue, "map",
                           absl::StrCat("all queries are about the map \"", request_.map(), "\""));
  }

  // Of one that moves as all do, but for what it says itself.
  absl::StatusOr<core::PathQuery> ToSharedQuery(const v1::FindPathRequest& query) const {
    WAYSTAR_ASSIGN_OR_RETURN(core::PathQuery converted, ToPathQuery(query));
    if (query.corner_rule() == v1::CORNER_RULE_UNSPECIFIED) {
      converted.corner_rule = movement_.corner_rule();
    }
    if (query.footprint() == 0) {
      converted.footprint = movement_.footprint();
    }
    return converted;
  }

  // For the many that see the map alike.
  absl::Status AddTask(int index) {
    const v1::FindPathRequest& query = request_.queries(index);
    core::PathTask task;
    WAYSTAR_ASSIGN_OR_RETURN(task.query, ToSharedQuery(query));
    WAYSTAR_ASSIGN_OR_RETURN(task.goals,
                             PlaceEnds(query, movement_.map(), &movement_.map(), budget_, task.query));
    if (query.max_expansions() > 0) {
      task.max_expansions = query.max_expansions();
    }
    tasks_.push_back(std::move(task));
    indexes_.push_back(index);
    return absl::OkStatus();
  }

  absl::Status AnswerOnItsOwn(int index) {
    v1::FindPathRequest query = request_.queries(index);
    if (!HasMovement(query) && request_.has_profile()) {
      *query.mutable_profile() = request_.profile();
    } else if (!HasMovement(query) && request_.has_profile_name()) {
      query.set_profile_name(request_.profile_name());
    }
    if (!query.has_overlay() && request_.has_overlay()) {
      *query.mutable_overlay() = request_.overlay();
    }
    const absl::StatusOr<core::PathQuery> converted = ToPathQuery(query);
    if (!converted.ok()) {
      return SetProblem(index, converted.status());
    }
    return AnswerBy(index, [&](v1::FindPathResponse& answer, CallContext& context) {
      return AnswerOn(store_, snapshot_, FindAnyPath, max_bytes_, query, *converted, answer, context);
    });
  }

  absl::Status AnswerThroughPortals(int index) {
    const v1::FindPathRequest& query = request_.queries(index);
    const absl::StatusOr<core::PathQuery> converted = ToSharedQuery(query);
    if (!converted.ok()) {
      return SetProblem(index, converted.status());
    }
    return AnswerBy(index, [&](v1::FindPathResponse& answer, CallContext& context) {
      return AnswerAs(snapshot_, movement_, world_, FindAnyPath, max_bytes_, query, *converted, answer,
                      context);
    });
  }

  // `answer` fills the message that it is given.
  absl::Status AnswerBy(int index,
                        absl::FunctionRef<absl::Status(v1::FindPathResponse&, CallContext&)> answer) {
    v1::FindPathResponse& response = *response_.mutable_results(index)->mutable_answer();
    WrittenMessage written(response);
    CallContext context{.bench = context_.bench,
                        .caller = context_.caller,
                        .budget = context_.budget,
                        .queued = context_.queued,
                        .begin = context_.begin,
                        .written = IfWanted(written)};
    const absl::Status status = answer(response, context);
    return status.ok() ? Keep(index, written) : EndsAll(status) ? status : SetProblem(index, status);
  }

  // Of several tasks at the same time, like all that it calls.
  absl::Status SetAnswer(std::size_t task, const core::NearestGoalResult& result,
                         std::chrono::nanoseconds took) {
    const int index = indexes_[task];
    // A point takes at least two bytes: what cannot fit is not written down.
    if (result.path.points.size() * 2 > max_bytes_) {
      return TooLarge();
    }
    v1::FindPathResponse& answer = *response_.mutable_results(index)->mutable_answer();
    WrittenMessage written(answer);
    FillAnswer(movement_.map(), world_, request_.queries(index), tasks_[task].query,
               {.path = result.path, .goal_index = result.goal_index}, answer, IfWanted(written));
    FinishAnswer(snapshot_.revision, context_.queued, took, answer, IfWanted(written));
    return Keep(index, written);
  }

  absl::Status SetProblem(int index, const absl::Status& status) {
    v1::FindPathsResult& result = *response_.mutable_results(index);
    *result.mutable_problem() = ToStatusMessage(status);
    if (written_ != nullptr) {
      results_[static_cast<std::size_t>(index)].AddFieldsOf(result);
    }
    return Count(index);
  }

  // Null where answers are wanted as messages.
  WrittenMessage* IfWanted(WrittenMessage& answer) const { return written_ != nullptr ? &answer : nullptr; }

  absl::Status Keep(int index, const WrittenMessage& answer) {
    if (written_ != nullptr) {
      results_[static_cast<std::size_t>(index)].AddField(v1::FindPathsResult::kAnswerFieldNumber, answer);
    }
    return Count(index);
  }

  // Ends what cannot fit in the end.
  absl::Status Count(int index) {
    const std::size_t bytes = written_ != nullptr ? results_[static_cast<std::size_t>(index)].size()
                                                  : response_.results(index).ByteSizeLong();
    const std::size_t all = bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    return all <= max_bytes_ ? absl::OkStatus() : TooLarge();
  }

  absl::Status TooLarge() const {
    return MakeError(absl::StatusCode::kResourceExhausted, ErrorReason::kResponseTooLarge, "queries",
                     absl::StrCat("the answers take more than the ", max_bytes_,
                                  " bytes of a message: ask for corners or directions, or fewer at a time"));
  }

  const core::MapStore& store_;
  const core::MapSnapshot& snapshot_;
  const Movement& movement_;
  // Of all queries that move as `movement_` says: each map that they come to at one revision.
  WorldView world_;
  const std::size_t max_bytes_;
  const v1::FindPathsRequest& request_;
  v1::FindPathsResponse& response_;
  CallContext& context_;
  // Null where the response is wanted as a message. Else what stands for each result is kept until all are
  // there.
  WrittenMessage* const written_;
  std::vector<WrittenMessage> results_;
  core::Budget budget_;
  std::vector<core::PathTask> tasks_;
  // Of the query that a task is.
  std::vector<int> indexes_;
  // What the results take so far.
  std::atomic<std::size_t> bytes_ = 0;
};

}  // namespace

absl::Status AnswerQueries(const core::MapStore& store, std::size_t max_bytes,
                           const v1::FindPathsRequest& request, v1::FindPathsResponse& response,
                           CallContext& context) {
  WAYSTAR_RETURN_IF_ERROR(
      core::CheckCount("queries", static_cast<std::size_t>(request.queries_size()), kMaxQueries));
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store.Pin(request.map()));
  WAYSTAR_ASSIGN_OR_RETURN(const Movement movement, Movement::Make(*snapshot, FieldMovementOf(request)));
  return QueriesAnswerer(store, *snapshot, movement, max_bytes, request, response, context).Answer();
}

}  // namespace waystar::rpc
