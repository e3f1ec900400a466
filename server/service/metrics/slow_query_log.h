// Log of slow queries and updates, so that they can be reproduced.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "google/protobuf/message.h"
#include "server/base/clock.h"
#include "server/core/store/update_batch.h"
#include "server/runtime/logging.h"
#include "server/runtime/metric_sink.h"
#include "server/service/call/call_context.h"
#include "waystar/v1/map_service.pb.h"

namespace waystar::rpc {

// Result of a query.
struct QueryResult {
  absl::Status status;
  // Revision of the snapshot; 0 if unknown.
  std::uint64_t revision = 0;
  // The other fields are for path queries.
  std::string outcome;
  std::uint64_t expanded = 0;
  std::chrono::nanoseconds searching{0};
};

// Writes at most LineLimit::kLines lines per second; the next line has the number of calls omitted before it.
// A line contains the request as protobuf JSON, quoted as a C string, up to kMaxRequestBytes of it.
//
// Thread safety: any.
class SlowQueryLog final : public runtime::MetricSource {
 public:
  static constexpr std::size_t kMaxRequestBytes = 4096;

  // Logs queries that take `threshold` or more from arrival to answer; 0 logs none.
  explicit SlowQueryLog(absl::Duration threshold, const Clock& clock = Clock::Steady());

  bool IsSlow(std::chrono::nanoseconds took) const { return took >= threshold_; }

  // REQUIRES: the query is slow. `ran` is its duration without waiting.
  void Write(absl::string_view method, const google::protobuf::Message& request, const QueryResult& result,
             std::chrono::nanoseconds ran, const CallContext& context);

  // Like the above, for a client's update. `head` is that of the call.
  void WriteUpdate(const v1::UpdateMapRequest& request, const absl::StatusOr<core::UpdateResult>& result,
                   std::chrono::nanoseconds queued, std::chrono::nanoseconds ran,
                   const std::optional<CallHead>& head);

  void Collect(runtime::MetricSink& sink) const override;

 private:
  const std::chrono::nanoseconds threshold_;
  runtime::LineLimit limit_;
  std::atomic<std::uint64_t> slow_queries_ = 0;
  std::atomic<std::uint64_t> slow_updates_ = 0;
};

}  // namespace waystar::rpc
