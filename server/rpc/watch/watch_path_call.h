// PathService.WatchPath: a stream of answers that lasts until somebody ends it.
#pragma once

#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/base/mutex.h"
#include "server/rpc/access/lasting_caller.h"
#include "server/rpc/admission/call_gate.h"
#include "server/rpc/admission/call_statistics.h"
#include "server/rpc/admission/executor.h"
#include "server/rpc/admission/watch_slots.h"
#include "server/rpc/watch/path_watch.h"
#include "server/rpc/watch/path_watches.h"

namespace waystar::rpc {

// Three parties hold it: the RPC library until OnDone, the registry of watches until then as well, and
// whoever searches for it. However slowly its client reads, it holds two answers: one that is being written,
// and the latest.
class WatchPathCall final : public grpc::ServerWriteReactor<grpc::ByteBuffer>,
                            public PathWatch,
                            private CallGate::OpenEndedCall,
                            private Executor::Job {
 public:
  // What the references name must outlive the call.
  static grpc::ServerWriteReactor<grpc::ByteBuffer>* Start(PathWatches& watches, Executor& executor,
                                                           WatchSlots& slots,
                                                           grpc::CallbackServerContext* context,
                                                           const grpc::ByteBuffer* request);

 private:
  WatchPathCall(PathWatches& watches, Executor& executor, WatchSlots& slots,
                grpc::CallbackServerContext& context)
      : watches_(watches),
        executor_(executor),
        slots_(slots),
        context_(context),
        caller_(executor.gate().access()) {}

  absl::Status Enter(const grpc::ByteBuffer& bytes);

  Caller GetCaller() override { return caller_.Get(); }
  void Send(const v1::WatchPathResponse& message) override;
  void End(const absl::Status& status) override;
  void Run(int worker) override;
  void Refuse(const absl::Status& status) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;
  void OnGateClosed() override;
  // A status would have to wait behind the message that the client does not read.
  void OnForceCancel() override;
  absl::Status RenewCaller() override { return caller_.Renew(); }
  void OnRevoked(const absl::Status& why) override { End(why); }

  PathWatches& watches_;
  Executor& executor_;
  WatchSlots& slots_;
  // Until OnDone.
  grpc::CallbackServerContext& context_;
  CountedCall counted_{executor_.gate().statistics().Of<v1::WatchPathRequest>()};
  LastingCaller caller_;
  bool is_inside_ = false;
  bool has_slot_ = false;
  // Until OnDone, and until the first search has been made.
  std::shared_ptr<WatchPathCall> held_by_library_;
  std::shared_ptr<WatchPathCall> held_by_job_;

  // What is being written. Of whoever set is_writing_.
  grpc::ByteBuffer writing_;
  Mutex mutex_;
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  // To be written next.
  std::optional<grpc::ByteBuffer> unsent_ ABSL_GUARDED_BY(mutex_);
  // How the call ends, once nothing is being written.
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::rpc
