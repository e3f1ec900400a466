// The life of one StreamObstacleUpdates.
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
#include "server/base/mutex.h"
#include "server/core/store/map_store.h"
#include "server/rpc/access/lasting_caller.h"
#include "server/rpc/admission/call_gate.h"
#include "server/rpc/admission/call_statistics.h"
#include "server/rpc/admission/executor.h"
#include "server/rpc/call/call_context.h"
#include "server/rpc/telemetry/update_metrics.h"
#include "waystar/v1/map_service.pb.h"

namespace waystar::rpc {

struct UpdateStreamLimits {
  // Batches that may be read and not answered yet. At least 1.
  std::size_t max_unanswered = 256;
  // The next message is read while those batches have fewer bytes than this together. At least 1.
  std::size_t max_unanswered_bytes = 4 << 20;
  // Told of each batch that was answered, unless null. Must outlive the streams.
  UpdateMetrics* metrics = nullptr;
};

// Owns itself: lives until the RPC library is done with it. One message at a time is read, converted on a
// worker and handed to the store, and so batches reach the store in the order in which they were sent; the
// store answers when it has applied them. Answers are written in that order too, one at a time, and a batch
// counts as unanswered until its answer is written: a client that does not read its answers is soon not read
// from.
//
// The library's threads, a worker, whoever applies batches and whoever stops the server meet here. What comes
// next is decided, and started, under the lock. The call is finished when nothing is on its way any more: no
// message that is converted, no batch without its answer, no write. (A read may be: it fails then.) So nobody
// else will touch the call when it is finished, and whoever finishes it does so as the last thing, without
// the lock. Who has let go of the lock and is not to finish the call must not touch it any more.
class UpdateStream final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                           private Executor::Job,
                           private CallGate::OpenEndedCall {
 public:
  // What the references name must outlive the call.
  static grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Start(core::MapStore& store,
                                                                            Executor& executor,
                                                                            grpc::CallbackServerContext* call,
                                                                            const UpdateStreamLimits& limits);

 private:
  // A batch that was read, until its answer is written.
  struct Batch {
    std::size_t bytes = 0;
    Executor::Clock::time_point arrived;
    std::optional<v1::StreamObstacleUpdatesResponse> answer;
  };

  UpdateStream(core::MapStore& store, Executor& executor, grpc::CallbackServerContext& call,
               const UpdateStreamLimits& limits)
      : store_(store), executor_(executor), call_(call), limits_(limits), caller_(executor.gate().access()) {}

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;
  void OnGateClosed() override;
  // Cut off if its client does not read the answer that is on its way. What was applied stays applied;
  // batches that are still to be applied are waited for.
  void OnForceCancel() override;
  absl::Status RenewCaller() override { return caller_.Renew(); }
  void OnRevoked(const absl::Status& why) override { End(why); }
  void Run(int worker) override;
  void Refuse(const absl::Status& status) override;

  absl::Status Admit();
  // Whether the client or the server wants no more of it.
  bool IsEnding();
  // Hands the message that was read to the store, or answers it. An error is one of the stream, not of the
  // batch.
  absl::Status Take();
  // Makes room for the answer to the message that was read, and returns its index.
  std::uint64_t AddBatch();
  void Answer(std::uint64_t index, const absl::StatusOr<core::UpdateResult>& result);
  void FinishTaking(const absl::Status& status);
  // Reads no more. All answers are written yet; then the client is told the first reason there was.
  void End(const absl::Status& status);

  // Starts what may start now. With a status, the call is to be finished with it: by the caller, once it has
  // let go of the lock.
  std::optional<absl::Status> Proceed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WriteFirst() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PopFirst() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SetEnd(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  core::MapStore& store_;
  Executor& executor_;
  CountedCall counted_{executor_.gate().statistics().Of<v1::StreamObstacleUpdatesRequest>()};
  MethodStatistics& requests_ = executor_.gate().statistics().RequestsIn<v1::StreamObstacleUpdatesRequest>();
  // Until OnDone.
  grpc::CallbackServerContext& call_;
  const UpdateStreamLimits limits_;
  LastingCaller caller_;
  // Once it is admitted.
  runtime::Flow flow_;
  bool is_inside_ = false;
  grpc::ByteBuffer message_;
  // The message.
  Executor::Clock::time_point arrived_;
  grpc::ByteBuffer answer_bytes_;

  Mutex mutex_;
  std::deque<Batch> unanswered_ ABSL_GUARDED_BY(mutex_);
  std::size_t unanswered_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // Of the first of those that are unanswered.
  std::uint64_t first_index_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_taking_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  // Nobody is there to read answers.
  bool is_gone_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;
  // Set when nothing more is to be read.
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::rpc
