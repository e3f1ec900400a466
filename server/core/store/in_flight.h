// Batches of one map that wait, and group commits of it on their way to its durable log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/core/edit/edit_digest.h"
#include "server/core/elements/map_changes.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/store/durable_log.h"
#include "server/core/store/store_listener.h"
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

// A batch kept for a retry after a conflict, without its `done`.
struct KeptBatch {
  WaitingBatch batch;
  // The commit that the batch became; it owns the batch's edits. Null if the batch was refused and still has
  // them.
  CommitPtr commit;
};

struct UpdateAnswer {
  UpdateDone done;
  absl::StatusOr<UpdateResult> result;
  // The batch for a retry; null unless the log is shared.
  std::unique_ptr<KeptBatch> kept = nullptr;
};

// A group of batches applied together.
struct ComposedGroup {
  // The resulting snapshot. Null if no batch changed the map; `commits` is empty then. `commits` is also
  // empty if the snapshot is an image received from another server.
  PinnedSnapshot next;
  std::vector<CommitPtr> commits;
  MapChanges changes;
  // The commits with their requests. Empty without a log, and once the log has them.
  std::vector<LoggedCommit> logged;
  std::vector<UpdateAnswer> answers;
  // Number of batches, and approximate memory of their edits in bytes.
  std::size_t batches = 0;
  std::size_t bytes = 0;
  // The snapshot that `next` replaced, freed after the answers are given.
  PinnedSnapshot replaced;
  std::optional<absl::Time> expiry_to_tell;
};

// Pipeline of the groups that were appended but are not durable yet. Answers are given in the order of the
// batches. The commit loop must wait while too many groups are in flight, while the map is being deleted, and
// from the loss of a group until all groups built on it have come back. It also waits while two groups are in
// flight and few batches are queued: one group of many batches costs less than many groups.
//
// The leadership of a waiting loop is parked here. It passes to the caller of Unpark that gets true.
//
// Thread safety: any method may be called from any thread, except that only the leader of the commit loop
// calls Park and Add, and only the log's thread calls First to Land, while a group is in flight (Doom at any
// time). The leader holds a lock from composing a group until Add; Doom, TakeLost, Recover and Hold are
// called under the same lock.
//
// Groups lost to a conflict are kept until the last one has come back; then their batches are judged again.
class InFlight {
 public:
  // The commit loop waits once this many batches, or this many approximate bytes, are in flight.
  InFlight(std::size_t max_batches, std::size_t max_bytes)
      : max_batches_(max_batches), max_bytes_(max_bytes) {}

  // Returns true if the loop must wait, given the number of queued batches, and parks the leadership then. A
  // thread that queues a batch afterwards calls Unpark.
  bool Park(std::size_t waiting);
  // Returns true if the loop was parked and can resume; the caller then leads.
  bool Unpark(std::size_t waiting);
  // Takes a group and returns true if it is to be appended to the log. Otherwise returns false: the group
  // changed nothing, or was built on a lost one. Its answers are then attached to the last group in flight,
  // or stay in the group if there is none. For a group built on a failed one they become that error.
  bool Add(ComposedGroup& group);

  // Returns the group that was appended first. The caller must not touch its `answers`.
  ComposedGroup& First();
  // Sets the answers of the first group to `status`. Returns true if it is the last group; the caller must
  // then roll back to the published snapshot and call Recover. Groups composed before that are lost too.
  bool Lose(const absl::Status& status);
  // Loses the first group as Lose does, but attaches its answers to the next one, for TakeLost.
  bool LoseToConflict();
  // Marks all groups in flight, and the one being composed on them, as lost: each will come back through
  // LoseToConflict. Returns false if nothing is in flight.
  bool Doom();
  // Returns the batches lost to a conflict, in order. Answers with errors stay with the group.
  // REQUIRES: LoseToConflict has returned true.
  std::vector<WaitingBatch> TakeLost();
  // Moves answers of later batches to the last group in flight, if there is one.
  void Join(std::vector<UpdateAnswer>& answers);
  void Recover();

  // Gives the answers of the first group, including those attached meanwhile, and removes the group. The
  // caller must call Unpark next.
  ComposedGroup Land();

  // Makes the loop wait until Release, or returns the loss that is under way. After a conflict, the caller
  // may call AwaitRecovery and retry.
  AppendOutcome Hold();
  // Blocks until the rollback of lost groups is over.
  // REQUIRES: the caller holds no lock that the log's thread takes.
  void AwaitRecovery();
  // Ends Hold. The caller must call Unpark next.
  void Release();

  // Returns true if nothing is in flight, and the loop is neither held nor parked.
  bool IsIdle() const;
  // Returns the newest snapshot in flight, or null if there is none.
  PinnedSnapshot Newest() const;
  // Returns the approximate memory of the edits in flight.
  std::size_t bytes() const;

 private:
  void JoinLocked(std::vector<UpdateAnswer>& answers) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool MustWait(std::size_t waiting) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::size_t max_batches_;
  const std::size_t max_bytes_;
  mutable Mutex mutex_;
  std::deque<ComposedGroup> groups_ ABSL_GUARDED_BY(mutex_);
  // Sums over groups_.
  std::size_t batches_ ABSL_GUARDED_BY(mutex_) = 0;
  std::size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // Outcome of the lost group that later groups are built on. groups_ is not empty while this is not durable.
  AppendOutcome loss_ ABSL_GUARDED_BY(mutex_) = absl::OkStatus();
  CondVar has_recovered_;
  bool is_held_ ABSL_GUARDED_BY(mutex_) = false;
  // True while the leadership is parked here.
  bool is_parked_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace waystar::core
