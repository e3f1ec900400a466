// One map of a store: its published snapshot and its commit loop.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/base/memory_account.h"
#include "server/base/mutex.h"
#include "server/core/grid/jumps/lazily_repaired_index.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/map/map_version.h"
#include "server/core/store/applied_requests.h"
#include "server/core/store/durable_log.h"
#include "server/core/store/in_flight.h"
#include "server/core/store/lifetimes.h"
#include "server/core/store/map_editor.h"
#include "server/core/store/store_context.h"
#include "server/core/store/update_batch.h"
#include "server/core/store/update_log.h"

namespace waystar::core {

// Returns NOT_FOUND / MAP_NOT_FOUND.
absl::Status NoSuchMap(absl::string_view id);

// Calls `append` and returns the outcome that its `done` is given. If it is durable, the log's thread first
// calls `on_durable`, before it delivers other servers' changes of the map.
AppendOutcome AppendAndWait(absl::FunctionRef<void(DurableLog::Done done)> append,
                            absl::FunctionRef<void()> on_durable);

// Implements the methods of MapStore for one map; see there for contracts.
//
// With a durable log, commits are pipelined: a group commit is composed on the previous one while that is
// still being written, and the log's thread publishes it once it is durable. If a group is lost, so are all
// later ones. Once all have come back, composition restarts from the published snapshot. No client is told a
// result that depends on a lost commit.
//
// A batch for which the system has no memory is refused, and the map stays unchanged. Requests and lifetimes
// that the batch had already updated are repaired before the next batch is applied. A commit that is being
// published or written cannot be undone: if it runs out of memory, the process ends.
//
// With a shared log, a group may conflict with another server's commit. That commit is followed first: it is
// applied to the published snapshot, and everything in flight is lost. Once all lost groups have come back,
// their batches return to the front of the queue and are judged again. With a log, only its thread publishes
// and ends maps, so a step of that thread sees no other publication.
//
// Lock order: 1. ending_; 2. committing_, then that of the record that replaces this one; 3. any one other
// lock, including StoreContext::readers. No lock of level 3 is held while listeners or `done`s are called.
// Listeners learn of commits under committing_, or from the log's thread without it; they learn of the map's
// end under it. No thread waits for the log or for a rollback while holding committing_, since the log's
// thread takes it after a failure, to follow, and to end the map. The log's thread never takes ending_, which
// is held while waiting for it.
//
// Thread safety: any method may be called from any thread.
class MapRecord : public std::enable_shared_from_this<MapRecord> {
 public:
  // `context` must outlive the record and its deferred tasks.
  MapRecord(StoreContext& context, StoredMap first);
  MapRecord(const MapRecord&) = delete;
  MapRecord& operator=(const MapRecord&) = delete;
  ~MapRecord() = default;

  const std::string& id() const { return id_; }

  // Returns the published snapshot, or null once the map is deleted. A replaced map's record keeps its last
  // one. A call that starts after another has returned sees the same or a newer snapshot.
  // REQUIRES: StoreContext::readers is held.
  PinnedSnapshot Latest() const {
    context_.readers.AssertHeld();
    return published_;
  }

  // Returns the same as Latest, but takes the lock. Null also once the map is unloaded.
  PinnedSnapshot PinLatest() const;

  void Update(UpdateBatch batch, UpdateDone done);

  absl::StatusOr<History> ReadHistory(std::uint64_t from, std::size_t max) const;

  // Returns when the next obstacle expires as of the last composed commit, or when to retry its removal.
  absl::Time NextExpiry() const;
  // Removes expired obstacles, or queues their removal for the leader.
  void ExpireDue(absl::Time now);

  bool BuildInBackground(CancelFlag cancelled);
  void PutStaticIndex(const MapSnapshot& of, const std::shared_ptr<const StaticIndex>& index);

  // Forgets all request_ids beyond RequestRetention::count, to free memory for maps.
  void ForgetMostRequests();

  // Adds the memory of the latest snapshot, the request_ids and the history.
  void AddTo(MemoryUse& use) const;
  void Drop(MemoryDrop what);

  // Returns the latest snapshot if the map remembers that this request created it; else null. Returns
  // INVALID_ARGUMENT / REQUEST_ID_REUSED if the map remembers another request with that id.
  absl::StatusOr<PinnedSnapshot> FindCreated(const CreationRequest& request, absl::Time now) const;

  // Returns the latest snapshot, null once the map is deleted, and the requests up to its revision.
  StoredMap Store() const;

  struct Ended {
    // OK, or an error of CheckVersion or the log; after an error the map is unchanged.
    absl::Status status;
    // The last snapshot. Null if another thread ended the map first.
    PinnedSnapshot last;
    // Batches that were still queued; answered before End and FollowEnd return.
    std::deque<WaitingBatch> waiting;
  };
  // Appends the end of the map, given its last version, to the log.
  using AppendEnd = absl::FunctionRef<void(MapVersion last, DurableLog::Done done)>;
  // Updates the store's table once the map has ended, and calls `tell`, which notifies the listeners. Must
  // not throw. Called under committing_, so that a thread that sees the map ended under that lock also sees
  // the new table.
  using ChangeTable = absl::FunctionRef<void(absl::FunctionRef<void()> tell)>;
  // Ends the map (deletion or replacement) if its newest version, including commits in flight, is as
  // expected. With a log, calls `append` without any lock that a `done` takes, again after each conflict, and
  // calls `change_table` on the log's thread.
  Ended End(const ExpectedVersion& expected, AppendEnd append, ChangeTable change_table);
  // Hides the map from readers that still hold the record; otherwise they would get its last snapshot.
  void Unpublish() { ReplacePublished(nullptr); }
  // Calls `body` while no batch can be composed, and after the listeners have learned of an end that has
  // begun. The caller may hold committing_ of another record if no other thread has had this one yet.
  void HoldCommits(absl::FunctionRef<void()> body);

  // Ends the record but not the map, which can be loaded again from the log at version `stored`. Returns the
  // last snapshot. Returns null and changes nothing if the map has another version or has ended, if a change
  // is pending, or if an obstacle has an expiry. `change_table` updates the store's table and must not throw.
  PinnedSnapshot Unload(MapVersion stored, absl::FunctionRef<void()> change_table);

  // Records a use of the map; `uses` is the store-wide count of uses.
  // REQUIRES: StoreContext::readers is held, for both methods.
  void NoteUse(std::uint64_t uses) const {
    context_.readers.AssertHeld();
    last_use_ = uses;
  }
  std::uint64_t last_use() const {
    context_.readers.AssertHeld();
    return last_use_;
  }

  // Publishes commits of another server. Called by the thread of a shared log, as are FollowImage and
  // FollowEnd.
  absl::Status Follow(std::uint64_t epoch, absl::Span<const LoggedCommit> commits)
      ABSL_LOCKS_EXCLUDED(committing_);
  // Publishes a later image of the map when the commits in between are unknown.
  absl::Status FollowImage(StoredMap later) ABSL_LOCKS_EXCLUDED(committing_);
  // Ends the map because another server ended it, and completes the queued batches.
  Ended FollowEnd(MapVersion last, ChangeTable change_table) ABSL_LOCKS_EXCLUDED(committing_);

 private:
  // Delay before a failed removal of expired obstacles is retried.
  static constexpr absl::Duration kRetryDelayOfRemovals = absl::Seconds(1);
  // Estimated memory of id tables, trees and history per byte of edits.
  static constexpr std::size_t kTableFactor = 4;

  // Batch sizes that a thread commits. It hands the loop over when a batch of the other size comes first.
  enum class Takes : std::uint8_t { kSmall, kLarge, kAny };

  void RunCommitLoop(Takes takes) noexcept;
  bool IsLarge(const UpdateBatch& batch) const;
  // Hands the loop to another thread, suited to the first queued batch. Returns false if none takes it; the
  // caller must then run the loop.
  bool DeferLoop();
  // Composes a group of queued batches, then publishes it or appends it to the log. Returns the answers that
  // can be given now. Returns nullopt if the loop must wait for the log; the caller's leadership ends then.
  std::optional<ComposedGroup> CommitGroup(bool takes_large) ABSL_LOCKS_EXCLUDED(committing_);
  void Compose(bool takes_large, ComposedGroup& group) ABSL_EXCLUSIVE_LOCKS_REQUIRED(committing_);
  // Answers all batches of a group for which the system has no memory with MAPS_MEMORY_FULL.
  void GiveUp(ComposedGroup& group) ABSL_EXCLUSIVE_LOCKS_REQUIRED(committing_);
  // Resets the request_ids and lifetimes to the state of composed_.
  void Mend() ABSL_EXCLUSIVE_LOCKS_REQUIRED(committing_);
  // Called by the log with the outcome of the oldest group in flight.
  void OnLogged(const AppendOutcome& outcome) noexcept ABSL_LOCKS_EXCLUDED(committing_);
  bool IsShared() const { return context_.log != nullptr && context_.log->is_shared(); }
  bool HasEnded() const ABSL_LOCKS_EXCLUDED(committing_);
  // Rolls back to the published snapshot and returns the next expiry.
  absl::Time RollBack() ABSL_LOCKS_EXCLUDED(committing_);
  void GoBackToPublished() ABSL_EXCLUSIVE_LOCKS_REQUIRED(committing_);
  // Requeues the batches lost to a conflict. Returns true if the caller now leads.
  bool TryAgain() ABSL_LOCKS_EXCLUDED(committing_);
  // Makes the first group in flight report the next expiry when it lands.
  void TellNextExpiry(absl::Time next);
  // Makes the followed state the base for composition and dooms everything in flight.
  void TakeIn(ComposedGroup& group, const MapSnapshot& base, absl::Span<const LoggedCommit> commits) noexcept
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(committing_);
  // Defers the loop, or runs it here.
  void RunOrDeferLoop();
  Ended EndByLog(const ExpectedVersion& expected, AppendEnd append, ChangeTable change_table)
      ABSL_LOCKS_EXCLUDED(committing_);
  void EndLocked(Ended& ended, ChangeTable change_table) ABSL_EXCLUSIVE_LOCKS_REQUIRED(committing_);
  // Answers the batches that were queued for the map, after those in flight.
  void AnswerWaiting(Ended& ended) ABSL_LOCKS_EXCLUDED(committing_);
  // Reports an earlier expiry, and frees the snapshot that the group replaced.
  void Conclude(ComposedGroup group);
  // Adds a batch to the group; moves from its edits. The first batch that passes the checks creates `editor`.
  absl::StatusOr<UpdateResult> Apply(WaitingBatch& waiting, absl::Time now, std::optional<MapEditor>& editor,
                                     ComposedGroup& group) ABSL_EXCLUSIVE_LOCKS_REQUIRED(committing_);
  // Reserves memory for the entries that edits add to the map and to the history. The editor reserves the
  // memory of painted cells. Returns MAPS_MEMORY_FULL if the limit is reached and an edit adds to the map.
  absl::Status ReserveFor(absl::Span<const Edit> edits, std::size_t bytes_of_edits)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(committing_);
  // Publishes `snapshot`, which may be null, and returns the previous one.
  PinnedSnapshot ReplacePublished(PinnedSnapshot snapshot);
  // Returns MAP_LOADING if the map was unloaded, else MAP_NOT_FOUND.
  absl::Status Gone() const;
  void Publish(ComposedGroup& group);
  // Updates the next expiry. Returns true if an earlier one must be reported.
  bool NoteNextExpiry(bool was_due) ABSL_EXCLUSIVE_LOCKS_REQUIRED(committing_);
  void SetNextExpiry(absl::Time next) ABSL_EXCLUSIVE_LOCKS_REQUIRED(committing_);

  StoreContext& context_;
  const std::string id_;
  UpdateQueue queue_;
  UpdateLog log_;

  // Held by the thread that ends the map through this store.
  Mutex ending_;
  // Held by the leader to compose one group, and without a log to publish it; also by a thread that ends the
  // map or follows another server's commits.
  mutable Mutex committing_;
  AppliedRequests applied_ ABSL_GUARDED_BY(committing_);
  Lifetimes lifetimes_ ABSL_GUARDED_BY(committing_);
  // True if applied_ and lifetimes_ include batches that were given up.
  bool is_torn_ ABSL_GUARDED_BY(committing_) = false;
  // The last composed snapshot. Null once the map has ended.
  PinnedSnapshot composed_ ABSL_GUARDED_BY(committing_);
  // Memory of applied_ and lifetimes_, readable without the lock.
  std::atomic<std::size_t> request_bytes_ = 0;
  std::atomic<std::size_t> lifetime_bytes_ = 0;
  // The maximum value if no obstacle expires.
  std::atomic<std::int64_t> next_expiry_nanos_ = std::numeric_limits<std::int64_t>::max();

  // The snapshot that readers pin: composed_, except during publication or while commits are being written.
  PinnedSnapshot published_ ABSL_GUARDED_BY(context_.readers);
  mutable std::uint64_t last_use_ ABSL_GUARDED_BY(context_.readers) = 0;
  // Set before the queue is closed.
  std::atomic<bool> is_unloaded_ = false;

  // Empty without a log.
  InFlight in_flight_;
};

}  // namespace waystar::core
