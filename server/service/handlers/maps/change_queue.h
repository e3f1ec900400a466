// Queue of creations and deletions of maps, which wait for the store's log on a separate thread.
#pragma once

#include <cstddef>
#include <deque>
#include <thread>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "server/base/mutex.h"

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

  ChangeQueue();
  ChangeQueue(const ChangeQueue&) = delete;
  ChangeQueue& operator=(const ChangeQueue&) = delete;
  // Makes all queued changes, and ends the thread.
  ~ChangeQueue();

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
  CondVar wake_;
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace waystar::rpc
