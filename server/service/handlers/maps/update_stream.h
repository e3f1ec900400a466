// Reactor of one StreamUpdates call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/core/store/map_store.h"
#include "server/service/admission/executor.h"
#include "server/service/admission/server_context.h"
#include "server/service/call/call_context.h"
#include "server/service/call/streaming_call.h"
#include "server/service/convert/hex_coordinates.h"
#include "server/service/metrics/store_metrics.h"
#include "waystar/v1/map_service.pb.h"

namespace waystar::rpc {

struct UpdateStreamLimits {
  // Limit on the unanswered batches. At least 1.
  std::size_t max_unanswered = 256;
  // Limit on the total bytes of those batches for the next message to be read. At least 1.
  std::size_t max_unanswered_bytes = 4 << 20;
  // If not null, is notified of each answered batch. Must outlive the streams.
  UpdateMetrics* metrics = nullptr;
};

// Reads one message at a time, converts it on a worker and hands it to the store, so that batches reach the
// store in the order in which they were sent; the store answers when it has applied them. Answers are written
// in that order too, one at a time. A batch counts as unanswered until its answer is written, so the stream
// soon stops reading from a client that does not read its answers.
//
// The rules of StreamingCall hold; each unanswered batch is a pending operation. So a call that is cut off
// waits for batches that are still to be applied, and applied batches stay applied.
class UpdateStream final : public ReadingWritingCall {
 public:
  // The referenced objects must outlive the call.
  UpdateStream(const ServerContext& server, core::MapStore& store, grpc::CallbackServerContext& rpc,
               const UpdateStreamLimits& limits)
      : ReadingWritingCall(Kind::kOpenEnded, server, rpc, server.statistics.Of<v1::StreamUpdatesRequest>()),
        store_(store),
        limits_(limits) {}

 private:
  // A batch, from its read until its answer is written.
  struct Batch {
    std::size_t bytes = 0;
    Executor::Clock::time_point arrived;
    std::optional<v1::StreamUpdatesResponse> answer;
  };

  absl::Status Admit() override;
  void Advance() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsIdle() const override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return unanswered_.empty(); }
  void OnReadDone(bool ok) override;
  void RunJob(int worker) override;
  void OnJobRefused(const absl::Status& why) override { Answer(AddBatch(), why); }

  // Hands the last message read to the store, or answers it. An error is one of the stream, not of the batch.
  absl::Status Take();
  // Makes room for the answer to the last message read, and returns its index.
  std::uint64_t AddBatch();
  void Answer(std::uint64_t index, const absl::StatusOr<core::UpdateResult>& result,
              const HexCoordinates& coordinates = {});
  // Returns true if the first unanswered batch has its answer.
  bool IsFirstAnswered() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !unanswered_.empty() && unanswered_.front().answer.has_value();
  }
  void PopFirst() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  core::MapStore& store_;
  const UpdateStreamLimits limits_;
  MethodStatistics& requests_ = server_.statistics.RequestsIn<v1::StreamUpdatesRequest>();
  // Set once it is admitted.
  runtime::Flow flow_;
  // Arrival time of the message.
  Executor::Clock::time_point arrived_;

  std::deque<Batch> unanswered_ ABSL_GUARDED_BY(mutex_);
  std::size_t unanswered_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // Index of the first unanswered batch.
  std::uint64_t first_index_ ABSL_GUARDED_BY(mutex_) = 0;
  // True if the answer to the first of them is being written, or has been.
  bool is_first_written_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace waystar::rpc
