// Queue of the batches of one map, and the leadership of its commit loop.
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
  // Fingerprint of the batch, if it has a request_id.
  Fingerprint fingerprint;
  std::size_t bytes = 0;
  // True if its work exceeds StoreOptions::large_work.
  bool is_large = false;
  // If set, this entry removes the obstacles expired by then; `batch` and `done` are empty.
  std::optional<absl::Time> due;
};

// FIFO queue with a leader. A thread that pushes while nobody leads becomes the leader, the only thread that
// pops. It leads until it passes the leadership on or Yield returns true, which requires an empty queue.
// So every accepted batch has a leader to apply it.
//
// Thread safety: any thread may call any method, but only the leader Pop and Yield.
class UpdateQueue {
 public:
  enum class Place {
    // Accepted; the caller is the leader.
    kLead,
    // Accepted; another thread is the leader.
    kWait,
    // Refused: the queue is full.
    kBusy,
    // Refused: the queue is closed.
    kClosed,
  };

  UpdateQueue(std::size_t max_batches, std::size_t max_bytes)
      : max_batches_(max_batches), max_bytes_(max_bytes) {}

  // Queues a batch; moves from it only if it is accepted. Throws std::bad_alloc if allocation fails. Accepts
  // a removal of expired obstacles regardless of the limits; returns kWait if one is queued already.
  Place Push(WaitingBatch& batch);

  // Puts popped batches back at the front, in their order and regardless of the limits. Returns kLead or
  // kWait.
  // REQUIRES: the queue is not closed.
  Place PushFront(std::vector<WaitingBatch> batches);

  // Takes the first batch. Returns nullopt if there is none, or if it is large and `takes_large` is false.
  std::optional<WaitingBatch> Pop(bool takes_large);

  // Describes the first queued batch; defaults if the queue is empty.
  struct Front {
    bool is_large = false;
    std::uint64_t client = 0;
  };
  Front front() const;

  // Ends the leadership if the queue is empty. Otherwise returns false, and the caller still leads.
  bool Yield();

  // Returns the number of queued batches.
  std::size_t size() const {
    MutexLock lock(mutex_);
    return waiting_.size();
  }

  // Refuses all later pushes and returns the queued batches.
  // REQUIRES: neither Close nor CloseIfIdle has closed the queue.
  std::deque<WaitingBatch> Close();
  // Closes the queue and returns true if it is empty and has no leader.
  bool CloseIfIdle();

 private:
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
