// The group commits of one map that are on their way to its durable log.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/core/map/map_changes.h"
#include "server/core/store/durable_log.h"
#include "server/core/store/map_snapshot.h"
#include "server/core/store/store_listener.h"
#include "server/core/store/update_batch.h"
#include "server/core/store/update_queue.h"

namespace waystar::core {

// A batch that may have to be judged again, without its `done`.
struct KeptBatch {
  WaitingBatch batch;
  // What it has become, which has its edits. Null if it was refused, and has them itself.
  SharedCommit commit;
};

struct UpdateAnswer {
  UpdateDone done;
  absl::StatusOr<UpdateResult> result;
  // Null unless there is a shared log.
  std::unique_ptr<KeptBatch> kept = nullptr;
};

// Batches that were applied together.
struct ComposedGroup {
  // The snapshot that they became. Null if none has changed the map; then there are no commits, either. There
  // are none, too, if it is an image of another server's.
  PinnedSnapshot next;
  std::vector<SharedCommit> commits;
  MapChanges changes;
  // The commits with their requests, if there is a log and until it has them.
  std::vector<LoggedCommit> logged;
  std::vector<UpdateAnswer> answers;
  // How many batches there were, and about how much memory their edits take.
  std::size_t batches = 0;
  std::size_t bytes = 0;
  // What `next` has replaced, freed after the answers are given.
  PinnedSnapshot replaced;
  std::optional<absl::Time> expiry_to_tell;
};

// Keeps groups in the order in which they were appended, gives their answers in the order in which the
// batches came, and tells the commit loop when it has to wait: while too many are in flight, while the map is
// being deleted, and from the loss of a group until all that stand upon it have come back. It waits, too,
// while two groups are in flight and few batches wait for the next: one group of many costs less than many
// groups.
//
// The leadership of a loop that has to wait rests here. It passes to the caller of that method which returns
// that the loop is to be resumed.
//
// Thread safety: any method may be called from any thread, but Park and Add only by the leader of the commit
// loop, and those from First to Land only by the log's thread, while a group is in flight (but Doom at any
// time). The leader composes upon what is in flight and adds the outcome under a lock that is held to call
// Doom, TakeLost, Recover and Hold, too.
//
// What is lost for a conflict is kept until the last group comes back; its batches are judged again then.
class InFlight {
 public:
  // The loop waits once so many batches, of about so many bytes, are in flight.
  InFlight(std::size_t max_batches, std::size_t max_bytes)
      : max_batches_(max_batches), max_bytes_(max_bytes) {}

  // Returns whether the loop has to wait, now that so many batches do. Whoever adds a batch afterwards calls
  // Unpark.
  bool Park(std::size_t waiting);
  // Returns whether the loop is to be resumed, now that so many batches wait.
  bool Unpark(std::size_t waiting);
  // Takes a group in and returns true: it is to be appended to the log. Or returns false for a group that has
  // changed nothing, or that was composed upon a lost one: then its answers, of which the latter's become the
  // loss, join those of the last group in flight; they stay in the group if there is none.
  bool Add(ComposedGroup& group);

  // Returns the group that was appended first. Its `answers` are not for the caller.
  ComposedGroup& First();
  // Turns the answers of the first group into `status`. Returns whether it is the last; then the caller has
  // to go back to what is published and call Recover. Until then all that is composed is lost, too.
  bool Lose(const absl::Status& status);
  // As Lose, but the answers of the first group join those of the next, for TakeLost.
  bool LoseToConflict();
  // Notes that whatever is in flight, and what is being composed upon it, will come back by LoseToConflict.
  // Returns whether there is anything.
  bool Doom();
  // Returns the batches that a conflict has lost, in their order. REQUIRES: LoseToConflict has returned true.
  std::vector<WaitingBatch> TakeLost();
  // Leaves answers of batches that came after what is in flight to the last group, if there is one.
  void Join(std::vector<UpdateAnswer>& answers);
  void Recover();

  // Gives the answers of the first group, and those that join them meanwhile, and takes it out. Unpark is to
  // be called next.
  ComposedGroup Land();

  // Makes the loop wait until Release, or returns why what is composed is lost. After a conflict, the caller
  // may call AwaitRecovery and try again.
  AppendOutcome Hold();
  // Waits while what is in flight is lost. REQUIRES: the caller holds no lock that the log's thread takes.
  void AwaitRecovery();
  // Unpark is to be called next.
  void Release();

  // Returns whether nothing is in flight, and the loop has not to wait.
  bool IsIdle() const;
  // Returns the snapshot that was composed last, or null if none is in flight.
  PinnedSnapshot Newest() const;
  // Returns about how much memory the edits in flight take.
  std::size_t bytes() const;

 private:
  void JoinLocked(std::vector<UpdateAnswer>& answers) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool MustWait(std::size_t waiting) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::size_t max_batches_;
  const std::size_t max_bytes_;
  mutable Mutex mutex_;
  std::deque<ComposedGroup> groups_ ABSL_GUARDED_BY(mutex_);
  // The sums over the groups.
  std::size_t batches_ ABSL_GUARDED_BY(mutex_) = 0;
  std::size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // What became of a group upon which what is composed stands. While that is not durable, there are groups.
  AppendOutcome loss_ ABSL_GUARDED_BY(mutex_) = absl::OkStatus();
  CondVar has_recovered_;
  bool is_held_ ABSL_GUARDED_BY(mutex_) = false;
  // Whether the leadership rests here.
  bool is_parked_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace waystar::core
