// Queue of the changes of the table of maps, which wait for the store's log on a thread of their own.
#pragma once

#include <cstddef>
#include <deque>
#include <thread>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "server/base/mutex.h"

namespace waystar::rpc {

// Creations and deletions of maps block until they are durable. Here they do that one after another, on one
// thread, so that no worker waits for a disk that hangs. What takes long without the disk, such as
// MapStore::Prepare, is done by a worker before.
//
// Thread safety: any.
class ChangeQueue {
 public:
  // Makes the change, and may block.
  using Change = absl::AnyInvocable<absl::Status() &&>;
  // Is told how the change ended. It must be quick.
  using Done = absl::AnyInvocable<void(const absl::Status&) &&>;

  static constexpr std::size_t kMaxWaiting = 16;

  ChangeQueue();
  ChangeQueue(const ChangeQueue&) = delete;
  ChangeQueue& operator=(const ChangeQueue&) = delete;
  // Makes all changes that wait, and ends the thread.
  ~ChangeQueue();

  // Makes the change after those that came before, then calls `done` on the queue's thread. `done` gets what
  // the change returns; RESOURCE_EXHAUSTED / MAPS_MEMORY_FULL if the change finds no memory; and, before this
  // returns, RESOURCE_EXHAUSTED / UPDATES_BUSY if too many wait.
  void Submit(Change change, Done done);
  // Does the same, and never refuses: for callers whose number is limited.
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
