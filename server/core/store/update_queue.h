// The queue of batches that wait for one map, and the leadership of its commit loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/core/edit/edit_digest.h"
#include "server/core/store/update_batch.h"

namespace waystar::core {

struct WaitingBatch {
  UpdateBatch batch;
  UpdateDone done;
  // The fingerprint of the batch, if it has a request_id.
  Fingerprint fingerprint;
  std::size_t bytes = 0;
  // Whether it is more work than StoreOptions::large_work.
  bool is_large = false;
  // If set, this is the removal of what is due when its turn comes; `batch` and `done` are empty.
  std::optional<absl::Time> due;
};

// A FIFO queue with a leader. Whoever pushes while nobody leads becomes the leader: the one thread that pops,
// until it yields, which it can do only while nothing waits, or passes the leadership on to another. So there
// is always a leader to apply a batch that was accepted.
//
// Thread safety: any thread may call any method, but only the leader Pop and Yield.
class UpdateQueue {
 public:
  enum class Place {
    // Accepted; the caller leads.
    kLead,
    // Accepted; another thread leads.
    kWait,
    // Refused: too many wait.
    kBusy,
    // Refused: the queue is closed.
    kClosed,
  };

  UpdateQueue(std::size_t max_batches, std::size_t max_bytes)
      : max_batches_(max_batches), max_bytes_(max_bytes) {}

  // Moves from the batch only if it is accepted. Throws std::bad_alloc if there is no memory to accept it.
  Place Push(WaitingBatch& batch);

  // Accepts the removal of what is due, however many batches wait, unless one waits already.
  Place PushDue(absl::Time due);

  // Puts batches that were popped before those that wait, in their order, whatever the limits. Returns kLead
  // or kWait. REQUIRES: the queue is not closed.
  Place PushFront(std::vector<WaitingBatch> batches);

  // Returns nothing if none waits, or if the first is large and `takes_large` is not set.
  std::optional<WaitingBatch> Pop(bool takes_large);

  // What the batch that waits first is, or whatever if none waits.
  struct Front {
    bool is_large = false;
    std::uint64_t client = 0;
  };
  Front front() const;

  // Ends the leadership. Returns false, and the leadership goes on, if something waits.
  bool Yield();

  // Returns how many batches wait.
  std::size_t size() const {
    MutexLock lock(mutex_);
    return waiting_.size();
  }

  // Refuses everything from now on and returns what waited. REQUIRES: it is the first call.
  std::deque<WaitingBatch> Close();
  // Closes if nothing waits and nobody leads; returns whether it does.
  bool CloseIfIdle();

 private:
  Place TakeInLocked(WaitingBatch& batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::size_t max_batches_;
  const std::size_t max_bytes_;
  mutable Mutex mutex_;
  std::deque<WaitingBatch> waiting_ ABSL_GUARDED_BY(mutex_);
  std::size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool has_leader_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_due_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace waystar::core
