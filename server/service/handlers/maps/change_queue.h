// Queue of creations and deletions of maps, which wait for the store's log on a separate thread.
#pragma once

#include <cstddef>
#include <deque>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "server/base/mutex.h"
#include "server/base/thread.h"
#include "server/core/search/query.h"
#include "server/core/store/map_store.h"
#include "server/service/admission/executor.h"
#include "server/service/call/unary_call.h"
#include "waystar/v1/map_service.pb.h"

namespace waystar::rpc {

// Creations and deletions of maps block until they are durable. The queue makes them in order on one thread,
// so that no worker waits for a hanging disk. Long work without the disk, such as MapStore::Prepare, is done
// by a worker before.
//
// Thread safety: any.
class ChangeQueue {
 public:
  // Makes the change, and may block.
  using Change = absl::AnyInvocable<absl::Status() &&>;
  // Receives the result of the change. Must be quick.
  using Done = absl::AnyInvocable<void(const absl::Status&) &&>;

  static constexpr std::size_t kMaxWaiting = 16;

  ChangeQueue() {
    thread_.Start("changes", [this] { Run(); });
  }
  ChangeQueue(const ChangeQueue&) = delete;
  ChangeQueue& operator=(const ChangeQueue&) = delete;
  // Makes all queued changes, and ends the thread.
  ~ChangeQueue() { thread_.Stop(mutex_); }

  // Queues the change, then calls `done` on the queue's thread with its result, or with RESOURCE_EXHAUSTED /
  // MAPS_MEMORY_FULL if it runs out of memory. Calls `done` with RESOURCE_EXHAUSTED / UPDATES_BUSY before
  // this returns if the queue is full.
  void Submit(Change change, Done done);
  // Like Submit, without a limit: for callers whose number is bounded.
  void SubmitOwed(Change change, Done done);

 private:
  struct Waiting {
    Change change;
    Done done;
  };

  void Run();
  void Add(Change change, Done done) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  StoppableThread thread_;
};

// Dependencies of a creation or deletion. The messages and the objects referenced by the budget live until
// `done` is called.
struct TableChange {
  core::MapStore& store;
  ChangeQueue& changes;
  core::Budget budget;
  UnaryDone done;
};

// Both change nothing if the caller is gone or its deadline has passed when their turn in the queue comes. A
// change that has begun is made, and answered as usual.

// Makes the map on this thread, and queues its creation.
void AnswerCreateMap(TableChange change, int max_side, const v1::CreateMapRequest& request,
                     v1::CreateMapResponse& response, Workbench& bench);

void AnswerDeleteMap(TableChange change, const v1::DeleteMapRequest& request,
                     v1::DeleteMapResponse& response);

}  // namespace waystar::rpc
