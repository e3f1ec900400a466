// The life of one WatchMap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/base/mutex.h"
#include "server/core/store/map_store.h"
#include "server/rpc/access/lasting_caller.h"
#include "server/rpc/admission/call_gate.h"
#include "server/rpc/admission/call_statistics.h"
#include "server/rpc/admission/watch_slots.h"
#include "server/rpc/watch/map_watches.h"
#include "waystar/v1/map_service.pb.h"

namespace waystar::rpc {

// What a watch needs of the server; all of it must outlive the watch.
struct WatchContext {
  const core::MapStore& store;
  MapWatches& watches;
  CallGate& gate;
  WatchSlots& slots;
  // Revisions whose edits take more are sent without.
  std::size_t max_message_bytes;
};

// Holds the number of the revision to tell of next, and one message that is being written; no snapshot, no
// queue and no worker. Whenever no write is under way it asks the store's history for the next revision, on
// the thread that brings the news or has written the message before. A client that reads slowly finds some
// day that the history has forgotten where it was, and is told so.
//
// Held by the RPC library until OnDone, and by MapWatches. Everything is decided and started under the lock,
// but the end: whoever finishes the call does so as the last thing, without the lock, and nobody starts
// anything after that.
class MapWatch final : public grpc::ServerWriteReactor<grpc::ByteBuffer>,
                       public MapWatcher,
                       private CallGate::OpenEndedCall {
 public:
  static grpc::ServerWriteReactor<grpc::ByteBuffer>* Start(const WatchContext& context,
                                                           grpc::CallbackServerContext* call,
                                                           const grpc::ByteBuffer* request);

 private:
  MapWatch(const WatchContext& context, grpc::CallbackServerContext& call)
      : context_(context), call_(call), caller_(context.gate.access()) {}

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;
  void OnGateClosed() override;
  // A status would have to wait behind the message that the client does not read.
  void OnForceCancel() override;
  absl::Status RenewCaller() override { return caller_.Renew(); }
  void OnRevoked(const absl::Status& why) override { End(why); }
  void OnNews() override;
  void OnDelete(std::uint64_t last_revision) override;

  // The first thing to do with a new watch: up to its first message.
  absl::Status Begin(const grpc::ByteBuffer& request);
  absl::Status SendFirst() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Once what is being written is written, the client is told the first reason there was.
  void End(const absl::Status& status);
  void SetEnd(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Starts what may start now. With a status, the call is to be finished with it: by the caller, once it has
  // let go of the lock.
  std::optional<absl::Status> Proceed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FinishIf(const std::optional<absl::Status>& status);
  void SendNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Resynchronize(std::uint64_t latest_revision, v1::WatchMapResponse& message)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FillRevision(const core::Commit& commit, v1::MapRevision& out) const;
  void Send(const v1::WatchMapResponse& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const WatchContext context_;
  // Until OnDone.
  grpc::CallbackServerContext& call_;
  CountedCall counted_{context_.gate.statistics().Of<v1::WatchMapRequest>()};
  LastingCaller caller_;
  v1::WatchMapRequest request_;
  // Until OnDone.
  std::shared_ptr<MapWatch> self_;
  bool is_inside_ = false;
  bool has_slot_ = false;
  bool is_added_ = false;

  Mutex mutex_;
  // What is being written.
  grpc::ByteBuffer bytes_ ABSL_GUARDED_BY(mutex_);
  // The latest revision when the watch began; 0 before that.
  std::uint64_t begin_ ABSL_GUARDED_BY(mutex_) = 0;
  // The revision to tell of next; 0 before that.
  std::uint64_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  // A map of that id that was deleted had no later revision; 0 if none was.
  std::uint64_t deleted_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::rpc
