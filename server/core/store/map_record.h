// One map of a store: its latest snapshot and its commit loop.
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
#include "server/core/jump_index/cancelled.h"
#include "server/core/store/applied_requests.h"
#include "server/core/store/creation_request.h"
#include "server/core/store/durable_log.h"
#include "server/core/store/expected_version.h"
#include "server/core/store/in_flight.h"
#include "server/core/store/lifetimes.h"
#include "server/core/store/map_snapshot.h"
#include "server/core/store/map_version.h"
#include "server/core/store/store_context.h"
#include "server/core/store/stored_map.h"
#include "server/core/store/update_batch.h"
#include "server/core/store/update_log.h"
#include "server/core/store/update_queue.h"

namespace waystar::core {

// Makes the error NOT_FOUND / MAP_NOT_FOUND.
absl::Status NoSuchMap(absl::string_view id);

// MapStore documents what the methods do.
//
// With a durable log, a group commit is composed upon the one before while that is on its way to storage, and
// published by the log's thread once it has arrived. If it does not, neither do those after it; once all have
// come back, the state to compose upon is that of the published snapshot again, and nothing that was judged
// upon what is lost has been told as if it stood.
//
// Batches for which the system has no memory are refused, and the map stays as it was; what is forgotten of
// their beginnings is made good before the next batch is applied. A commit that is being published, or is on
// its way to storage, cannot be taken back: if it finds no memory, the process ends.
//
// If that log is shared, a group may conflict with one of another server. That one's is followed first: it is
// applied to what is published, and what is in flight is lost from then on. Once all of that has come back,
// its batches go to the front of the queue, to be judged again upon what was followed. With a log, only its
// thread publishes and ends maps, so nothing is published between two steps of it.
//
// Lock order: 1. ending_; 2. committing_, and that of the record that takes this one's place; 3. any one
// other lock, of which StoreContext::readers is one. No lock of level 3 is held while listeners or `done`s
// are called. Listeners hear of commits under committing_, or from the log's thread without it, and of the
// map's end under it. Nobody waits for the log, or for what is lost to come back, with committing_ held: the
// log's thread takes it after a failure, to follow others, and to end the map. It never takes ending_, which
// is held to wait for it.
//
// Thread safety: any method may be called from any thread.
class MapRecord : public std::enable_shared_from_this<MapRecord> {
 public:
  // The context must outlive the record and the tasks that it defers.
  MapRecord(StoreContext& context, StoredMap first);
  MapRecord(const MapRecord&) = delete;
  MapRecord& operator=(const MapRecord&) = delete;
  ~MapRecord() = default;

  const std::string& id() const { return id_; }

  // Returns null once the map is deleted; what was replaced stays as it was. Every call that starts after
  // another has returned sees that snapshot or a newer one. REQUIRES: StoreContext::readers is held.
  PinnedSnapshot Latest() const {
    context_.readers.AssertHeld();
    return published_;
  }

  void Update(UpdateBatch batch, UpdateDone done);

  absl::StatusOr<History> ReadHistory(std::uint64_t from, std::size_t max) const;

  // Returns when the next obstacle is due, as of the last commit that was composed, or when to try again to
  // remove it.
  absl::Time NextExpiry() const;
  // Removes what is due, or leaves it to the thread that runs the commit loop.
  void RemoveDue(absl::Time now);

  bool BuildInBackground(CancelFlag cancelled);

  // Forgets what it may of request_ids, to make room for maps.
  void ForgetMostRequests();

  // Adds the bytes of the latest snapshot, and of what is remembered of request_ids and commits.
  void AddTo(MemoryUse& use) const;
  void Drop(MemoryDrop what);

  // Returns the latest snapshot if the map was created by this request, and remembers that; else null.
  // Returns INVALID_ARGUMENT / REQUEST_ID_REUSED if the id is that of another request.
  absl::StatusOr<PinnedSnapshot> FindCreated(const CreationRequest& request, absl::Time now) const;

  // Returns the latest snapshot, null once the map is deleted, with the requests that led to it.
  StoredMap Store() const;

  struct Ended {
    // The error of CheckVersion or of the log, and the map is as it was; or OK.
    absl::Status status;
    // Null if another thread ended the map first.
    PinnedSnapshot last;
    // The batches that waited, which the caller has to complete.
    std::deque<WaitingBatch> waiting;
  };
  // Appends to the log how the map ends, with its last version.
  using AppendEnd = absl::FunctionRef<void(MapVersion last, DurableLog::Done done)>;
  // Changes the store's table once the map has ended, and calls `tell`, which tells the listeners. It must
  // not throw. It is called under committing_, so whoever finds the map ended finds the table changed, too.
  using ChangeTable = absl::FunctionRef<void(absl::FunctionRef<void()> tell)>;
  // Ends the map, which is deleted or replaced, if it is at the version that is expected; what is in flight
  // counts. If there is a log, `append` is called, without a lock that a `done` takes and again after each
  // conflict, and `change_table` on the log's thread.
  Ended End(const ExpectedVersion& expected, AppendEnd append, ChangeTable change_table);
  // Makes readers find no map here any more. Without it, those that have the record find its last snapshot.
  void Unpublish() { ReplacePublished(nullptr); }
  // Calls `body` while nothing is composed here. REQUIRES: nobody has had this record yet, since the lock of
  // another record may be held.
  void HoldCommits(absl::FunctionRef<void()> body);

  // Ends the record, but not the map, which is at that version in the log: it is to be read from there when
  // it is asked for. Returns the last snapshot; or null, and all is as it was, if the map has another version
  // or has ended, if a change is on its way, or if obstacles expire. `change_table` changes the store's table
  // and must not throw.
  PinnedSnapshot Unload(MapVersion stored, absl::FunctionRef<void()> change_table);

  // Notes that somebody has asked for the map, and how many have asked for one before. REQUIRES:
  // StoreContext::readers is held, for both.
  void NoteUse(std::uint64_t uses) const {
    context_.readers.AssertHeld();
    last_use_ = uses;
  }
  std::uint64_t last_use() const {
    context_.readers.AssertHeld();
    return last_use_;
  }

  // Publishes what another server has committed. Called by the thread of a shared log, as FollowEnd is.
  absl::Status Follow(std::uint64_t epoch, absl::Span<const LoggedCommit> commits)
      ABSL_LOCKS_EXCLUDED(committing_);
  // Publishes a later revision of the map, when the commits between are not known.
  absl::Status FollowImage(StoredMap later) ABSL_LOCKS_EXCLUDED(committing_);
  // Ends the map as another server has, and completes the batches that waited.
  Ended FollowEnd(MapVersion last, ChangeTable change_table) ABSL_LOCKS_EXCLUDED(committing_);

 private:
  // Batches on their way to one snapshot.
  struct Group;

  // When to try again to remove what is due.
  static constexpr absl::Duration kRetryDelayOfRemovals = absl::Seconds(1);
  // Entries of tables and trees of what has an id, and of the log, for each byte of the edits.
  static constexpr std::size_t kTableFactor = 4;

  // Which batches a thread commits. It hands the loop on where another comes first.
  enum class Takes : std::uint8_t { kSmall, kLarge, kAny };

  void RunCommitLoop(Takes takes) noexcept;
  bool IsLarge(const UpdateBatch& batch) const;
  // Lets the loop go on on another thread, the right one for the batch that waits first. Returns false, and
  // the caller has to run it, if there is none.
  bool DeferLoop();
  // Composes a group of batches that wait, and publishes it or sends it to the log. Returns what can be told
  // already, or nothing if the leader is to end because the loop has to wait for the log.
  std::optional<ComposedGroup> CommitGroup(bool takes_large) ABSL_LOCKS_EXCLUDED(committing_);
  // Answers all batches of the group with MAPS_MEMORY_FULL if the system has no memory for them.
  ComposedGroup Compose(bool takes_large) ABSL_EXCLUSIVE_LOCKS_REQUIRED(committing_);
  void ComposeInto(bool takes_large, ComposedGroup& composed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(committing_);
  void GiveUp(ComposedGroup& composed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(committing_);
  // Makes what is remembered of requests and lifetimes that of composed_ again.
  void Mend() ABSL_EXCLUSIVE_LOCKS_REQUIRED(committing_);
  ComposedGroup SendToLog(ComposedGroup group) ABSL_EXCLUSIVE_LOCKS_REQUIRED(committing_);
  // Called by the log for the first group in flight.
  void OnLogged(const AppendOutcome& outcome) noexcept ABSL_LOCKS_EXCLUDED(committing_);
  bool IsShared() const { return context_.log != nullptr && context_.log->is_shared(); }
  bool HasEnded() const ABSL_LOCKS_EXCLUDED(committing_);
  // Goes back to what is published, and returns the next expiry.
  absl::Time RollBack() ABSL_LOCKS_EXCLUDED(committing_);
  void GoBackToPublished() ABSL_EXCLUSIVE_LOCKS_REQUIRED(committing_);
  // Lets the batches that a conflict has lost wait again. Returns whether the caller leads now.
  bool TryAgain() ABSL_LOCKS_EXCLUDED(committing_);
  // Lets the first group in flight tell of it.
  void TellNextExpiry(absl::Time next);
  // Makes what was followed the state to compose upon, and what is in flight lost.
  void TakeIn(ComposedGroup& group, const MapSnapshot& base, absl::Span<const LoggedCommit> commits) noexcept
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(committing_);
  // Hands the leadership on, or runs the loop.
  void RunOrDeferLoop();
  void ResumeIfParked();
  Ended EndByLog(const ExpectedVersion& expected, AppendEnd append, ChangeTable change_table)
      ABSL_LOCKS_EXCLUDED(committing_);
  void EndLocked(Ended& ended, ChangeTable change_table) ABSL_EXCLUSIVE_LOCKS_REQUIRED(committing_);
  // Tells of the next expiry, and frees what the group replaced.
  void Conclude(ComposedGroup group);
  absl::StatusOr<UpdateResult> Apply(WaitingBatch& waiting, absl::Time now, Group& fold)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(committing_);
  // The edits take about `bytes`. They are moved from if they are applied.
  absl::StatusOr<UpdateResult> ApplyToGroup(std::vector<Edit>& edits, std::size_t bytes, absl::Time now,
                                            Group& fold) ABSL_EXCLUSIVE_LOCKS_REQUIRED(committing_);
  // Reserves memory for what edits put on the map and in its log. What they paint is reserved by the editor.
  // Returns MAPS_MEMORY_FULL if there is none and they put something.
  absl::Status ReserveFor(absl::Span<const Edit> edits, std::size_t bytes_of_edits)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(committing_);
  // Replaces what readers pin from now on, by nothing if null, and returns it.
  PinnedSnapshot ReplacePublished(PinnedSnapshot snapshot);
  // Returns null once the map is deleted or unloaded.
  PinnedSnapshot PinLatest() const;
  // Returns what is told of a map that is not here any more.
  absl::Status Gone() const;
  void Publish(ComposedGroup& group);
  // Returns whether an earlier expiry has to be reported.
  bool NoteNextExpiry(bool was_due) ABSL_EXCLUSIVE_LOCKS_REQUIRED(committing_);
  void SetNextExpiry(absl::Time next) ABSL_EXCLUSIVE_LOCKS_REQUIRED(committing_);

  StoreContext& context_;
  const std::string id_;
  UpdateQueue queue_;
  UpdateLog log_;

  // Held to end the map from here.
  Mutex ending_;
  // The leader holds it to compose one group, and without a log to publish it; the thread that ends the map,
  // or follows another server's commits, holds it, too.
  mutable Mutex committing_;
  AppliedRequests applied_ ABSL_GUARDED_BY(committing_);
  Lifetimes lifetimes_ ABSL_GUARDED_BY(committing_);
  // Whether these two have followed batches that were given up.
  bool is_torn_ ABSL_GUARDED_BY(committing_) = false;
  // The last snapshot that was composed. Null once the map has ended.
  PinnedSnapshot composed_ ABSL_GUARDED_BY(committing_);
  // The bytes of applied_ and of lifetimes_, for threads that do not hold the lock.
  std::atomic<std::size_t> request_bytes_ = 0;
  std::atomic<std::size_t> lifetime_bytes_ = 0;
  // The largest number if no obstacle expires.
  std::atomic<std::int64_t> next_expiry_nanos_ = std::numeric_limits<std::int64_t>::max();

  // What readers pin: composed_, except while it is being replaced or on its way to storage.
  PinnedSnapshot published_ ABSL_GUARDED_BY(context_.readers);
  mutable std::uint64_t last_use_ ABSL_GUARDED_BY(context_.readers) = 0;
  // Set before the queue is closed.
  std::atomic<bool> is_unloaded_ = false;

  // Empty without a log.
  InFlight in_flight_;
};

}  // namespace waystar::core
