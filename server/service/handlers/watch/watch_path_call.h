// Reactor of PathService.WatchPath, a stream of answers without an end of its own.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/service/admission/server_context.h"
#include "server/service/call/call_context.h"
#include "server/service/call/streaming_call.h"
#include "server/service/handlers/watch/path_watch.h"
#include "server/service/handlers/watch/path_watch_scheduler.h"

namespace waystar::rpc {

// The scheduler also holds it until the library is done with it, and so does a search for it. Even for a slow
// client it holds only two answers: the one being written, and the latest.
class WatchPathCall final : public WritingCall, public PathWatch {
 public:
  // The referenced objects must outlive the call.
  WatchPathCall(const ServerContext& server, PathWatchScheduler& watches, grpc::CallbackServerContext& rpc,
                const grpc::ByteBuffer& bytes)
      : WritingCall(Kind::kOpenEnded, server, rpc, server.statistics.Of<v1::WatchPathRequest>()),
        watches_(watches),
        request_bytes_(bytes) {
    deadline = DeadlineOf(rpc);
  }

 private:
  // PathWatch.
  Caller GetCaller() override { return caller_.Get(); }
  void Send(const v1::WatchPathResponse& message) override;
  void End(const absl::Status& status) override { WritingCall::End(status); }

  absl::Status Admit() override;
  void Advance() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Runs the first search.
  void RunJob(int worker) override;
  void OnDetached() override { watches_.Remove(*this); }

  absl::Status ReadRequest();

  PathWatchScheduler& watches_;
  // Valid until the watch is admitted.
  const grpc::ByteBuffer& request_bytes_;
  // The next answer to write.
  std::optional<grpc::ByteBuffer> unsent_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::rpc
