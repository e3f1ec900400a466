// Observer of handled queries: counts them and logs the slow ones.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/runtime/metric_sink.h"
#include "server/service/call/call_context.h"
#include "server/service/call/unary_call.h"
#include "server/service/metrics/slow_query_log.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::rpc {

// Metrics of search durations and sizes, labelled by algorithm and outcome. Thread safety: any.
class SearchMetrics final : public runtime::MetricSource {
 public:
  SearchMetrics();

  void Count(const v1::FindPathResponse& answer);
  // Counts a query's waiting time for a worker.
  void CountWait(std::chrono::nanoseconds waited);

  void Collect(runtime::MetricSink& sink) const override;

 private:
  struct Kind {
    runtime::Histogram seconds;
    runtime::Histogram expansions;
  };

  static constexpr std::size_t kAlgorithms = v1::Algorithm_ARRAYSIZE;
  static constexpr std::size_t kOutcomes = v1::Outcome_ARRAYSIZE;

  std::array<std::unique_ptr<Kind>, kAlgorithms * kOutcomes> kinds_;
  runtime::Histogram wait_seconds_;
};

// Either may be null. The objects must outlive the observed handlers.
struct QueryObserver {
  SearchMetrics* metrics = nullptr;
  SlowQueryLog* slow_queries = nullptr;
};

// Counts the searches of an answer.
inline void CountSearches(const v1::FindPathResponse& answer, SearchMetrics& metrics) {
  metrics.Count(answer);
}
void CountSearches(const v1::FindPathsResponse& answers, SearchMetrics& metrics);
template <typename Response>
void CountSearches(const Response& /*answer*/, SearchMetrics& /*metrics*/) {}

// Returns the log fields of an answer.
QueryResult ResultOf(const v1::FindPathResponse& answer);
QueryResult ResultOf(const v1::FindPathsResponse& answers);
template <typename Response>
QueryResult ResultOf(const Response& answer) {
  return {.revision = answer.info().version().revision()};
}

// Counts a query that was handled in `ran`, and logs it if it was slow. `method` is the RPC's full name, and
// must live as long as the program.
template <typename Request, typename Response>
void NoteQuery(const QueryObserver& observer, absl::string_view method, const Request& request,
               const Response& response, const absl::Status& status, std::chrono::nanoseconds ran,
               const CallContext& context) {
  if (observer.metrics != nullptr) {
    observer.metrics->CountWait(context.queued);
    if (status.ok()) {
      CountSearches(response, *observer.metrics);
    }
  }
  if (observer.slow_queries != nullptr && observer.slow_queries->IsSlow(context.queued + ran)) {
    QueryResult result = ResultOf(response);
    result.status = status;
    observer.slow_queries->Write(method, request, result, ran, context);
  }
}

// Wraps `handler` so that NoteQuery is called for each query.
template <typename Request, typename Response>
void Observe(const QueryObserver& observer, absl::string_view method,
             UnaryHandler<Request, Response>& handler) {
  if (observer.metrics == nullptr && observer.slow_queries == nullptr) {
    return;
  }
  handler = [observer, method, handle = std::move(handler)](const Request& request, Response& response,
                                                            CallContext& context) {
    const absl::Status status = handle(request, response, context);
    if (context.NeedsLargerLane()) {
      return status;
    }
    const std::chrono::nanoseconds ran = std::chrono::steady_clock::now() - context.begin;
    NoteQuery(observer, method, request, response, status, ran, context);
    return status;
  };
}

}  // namespace waystar::rpc
