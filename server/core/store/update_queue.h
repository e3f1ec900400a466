// The batches that wait for one map, and who applies them.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>

#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/core/edit/edit_digest.h"
#include "server/core/store/update_batch.h"

namespace waystar::core {

struct WaitingBatch {
  UpdateBatch batch;
  UpdateDone done;
  // Of the batch, if it has a request_id.
  Fingerprint fingerprint;
  std::size_t bytes = 0;
  // Stands for the removal of what is due by then when its turn comes; `batch` and `done` are empty.
  std::optional<absl::Time> due;
};

// First in, first out. Whoever pushes while nobody leads becomes the leader: the one thread that pops, until
// it resigns, which it can do only while nothing waits, or passes the leadership on to another. So a batch
// that was taken in is always somebody's to apply.
//
// Thread safety: any; Pop and Yield by the leader.
class UpdateQueue {
 public:
  enum class Place {
    // Taken in; the caller leads.
    kLead,
    // Taken in; somebody else leads.
    kWait,
    // Not taken in: too many wait.
    kBusy,
    // Not taken in: the queue is closed.
    kClosed,
  };

  UpdateQueue(std::size_t max_batches, std::size_t max_bytes)
      : max_batches_(max_batches), max_bytes_(max_bytes) {}

  // The batch is moved from only if it is taken in.
  Place Push(WaitingBatch& batch);

  // Takes in the removal of what is due, however many wait, unless one waits already.
  Place PushDue(absl::Time due);

  std::optional<WaitingBatch> Pop();

  // Ends the leadership; false, and the leadership goes on, if something waits.
  bool Yield();

  // Nothing is taken in any more. Returns what waited. REQUIRES: the first call.
  std::deque<WaitingBatch> Close();

 private:
  Place TakeInLocked(WaitingBatch batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::size_t max_batches_;
  const std::size_t max_bytes_;
  Mutex mutex_;
  std::deque<WaitingBatch> waiting_ ABSL_GUARDED_BY(mutex_);
  std::size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool has_leader_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_due_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace waystar::core
