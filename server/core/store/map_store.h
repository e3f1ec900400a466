// The maps of a server: snapshots for readers, group commit for updates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/base/memory_account.h"
#include "server/base/mutex.h"
#include "server/base/stop_check.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/grid/jumps/lazily_repaired_index.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/map/map_version.h"
#include "server/core/store/durable_log.h"
#include "server/core/store/old_snapshots.h"
#include "server/core/store/recent_snapshots.h"
#include "server/core/store/store_context.h"
#include "server/core/store/store_listener.h"
#include "server/core/store/update_batch.h"
#include "server/core/store/update_log.h"

namespace waystar::core {

class MapRecord;

// Table of maps with multi-version reads: readers pin immutable snapshots, writers publish new ones.
//
// Readers hold a lock only to find the map and copy a pointer; readers and updates never wait for each other.
// Publishing holds that lock for one swap; creating or deleting a map holds it for a change of the table.
//
// With a durable log, no one learns of a change before it is durable: neither readers and listeners nor the
// client that made it. The commit loop continues while group commits are being written, up to the limits of
// the queue. If one is lost, so are those composed on it, and the map continues from its published snapshot.
//
// Updates of one map are serial. A thread that queues a batch while no thread leads becomes the leader and
// runs the commit loop: it applies its batch and those that arrive meanwhile. Otherwise it queues the batch
// and returns. Batches that wait together form a group commit: one snapshot, in which each batch has its own
// revision.
//
// Replaced snapshots that are still pinned are counted. When those of all maps together hold more than the
// allowed bytes beyond what newer ones share with them, the earliest replaced are flagged
// (MapSnapshot::eviction) and no longer counted. Updates are never refused for it.
//
// One limit covers all this memory (MemoryAccount). Where a map, an update, or the view or overlay of a query
// does not fit, the data named by MemoryDrop is dropped first; if that does not suffice, the request is
// refused.
//
// With a residence, maps may be unloaded: the store keeps the id and version, and the state is in the log. An
// unloaded map is loaded when it is used. Until then, calls that need it fail with UNAVAILABLE / MAP_LOADING,
// one of the errors of Pin. It can be deleted, replaced, and changed by other servers while unloaded.
//
// Thread safety: any method may be called from any thread, except AddListener, SetLog, SetResidence and
// OnEarlierExpiry.
class MapStore {
 public:
  explicit MapStore(StoreOptions options);
  explicit MapStore(std::size_t max_maps, std::size_t max_index_bytes = IndexMemory().max_bytes);
  MapStore(const MapStore&) = delete;
  MapStore& operator=(const MapStore&) = delete;
  ~MapStore();

  // Adds a listener, which must outlive all updates of maps.
  // REQUIRES: the store is not shared between threads yet.
  void AddListener(StoreListener* listener) { context_.listeners.push_back(listener); }

  // Makes every later creation, update and deletion durable before anyone learns of it. With a shared log,
  // changes that conflict with another server's are judged again after that one.
  //
  // The log's thread must not call Create, Delete or UpdateAndWait, which wait for it. Neither may an
  // update's `done` or a listener, which may run on that thread.
  // REQUIRES: the store is not shared between threads yet.
  // REQUIRES: the log has called the `done`s of all appends before the store is destroyed.
  void SetLog(DurableLog* log) { context_.log = log; }
  // Sets the residence, which must outlive the use of the store.
  // REQUIRES: the store is not shared between threads yet; there is a log.
  void SetResidence(MapResidence* residence) { context_.residence = residence; }
  // Adds a stored map with its epoch and revision, without logging it. Returns the errors of Create except
  // STORAGE_FAILED. Leaves the jump indexes of a large map to BuildInBackground.
  absl::Status Restore(MapState state);
  // Registers a map that is in the log at version `last` but could not be read. Its id stays taken until it
  // is deleted or replaced; all other calls report it as not found.
  // REQUIRES: SetLog was called, and the map is not in memory. The same holds for AddUnloaded.
  void AddDamaged(absl::string_view id, MapVersion last);
  // Registers a map that is in the log at version `last` as unloaded.
  // REQUIRES: SetResidence is called before the map is used.
  void AddUnloaded(absl::string_view id, MapVersion last);

  // Returns the ids of the maps in memory, least recently used first.
  std::vector<std::string> LeastRecentlyUsed() const;
  // Returns true if the map looks unloadable now; checks only what needs no lock of the map.
  bool CanUnload(absl::string_view id) const;
  // Unloads a map that can be loaded again at version `stored`. Returns false and keeps the map if it has
  // another version, a pending change or an obstacle with an expiry, or if a listener needs it.
  bool Unload(absl::string_view id, MapVersion stored);
  // Returns the version of the latest snapshot, or MAP_NOT_FOUND or MAP_LOADING. Loads nothing and does not
  // count as a use.
  absl::StatusOr<MapVersion> LatestVersion(absl::string_view id) const;
  // Returns the version of an unloaded map, or nullopt.
  std::optional<MapVersion> UnloadedVersion(absl::string_view id) const;
  // Marks an unloaded map of that version as damaged; see AddDamaged.
  void NoteDamage(absl::string_view id, MapVersion version);
  // Loads an unloaded map at its version, and unloads others for it if needed. Returns FAILED_PRECONDITION if
  // the map is not unloaded, has another version, or is being deleted or replaced; MAPS_MEMORY_FULL.
  // REQUIRES: no other thread knows the map.
  absl::Status Load(MapState state);
  struct ResidenceCounts {
    std::size_t loaded = 0;
    std::size_t unloaded = 0;
    // Number of accesses to maps that were in memory.
    std::uint64_t hits = 0;
  };
  ResidenceCounts CountResidence() const;
  // Returns true if unloading maps may free memory.
  bool CanMakeRoom() const { return context_.residence != nullptr; }
  // Returns true if maps take more than three quarters of memory. During a start, further maps then stay
  // unloaded, so that the first queries have room.
  bool IsNearlyFull() const;

  // Returns the state of a map to be stored, as of its latest snapshot, without commits that are still being
  // written. Loads nothing: returns MAP_NOT_FOUND or MAP_LOADING. Updates wait while requests are copied.
  absl::StatusOr<StoredMap> Store(absl::string_view id) const;

  // The Follow methods apply what other servers have appended to a shared log. The log's thread calls them,
  // one at a time, in log order interleaved with the `done`s of this store's appends, under the rule of
  // DurableLog. Listeners and pins see the changes as if they were made here. They return FAILED_PRECONDITION
  // if the entry does not follow the store's state, and MAPS_MEMORY_FULL. After an error the store is
  // unchanged; the caller must retry the entry or supply a new image before it follows other entries of that
  // map.
  //
  // Publishes commits of one map as one snapshot. Uses the times in the commits, not this server's clock.
  // Also returns NOT_FOUND / MAP_NOT_FOUND, and DATA_LOSS if a commit does not lead to its digest.
  // REQUIRES: `commits` is not empty.
  absl::Status FollowCommits(absl::string_view id, std::uint64_t epoch,
                             absl::Span<const LoggedCommit> commits);
  // Adds a map that another server created, or put in place of the map at version `replaced`, with its
  // remembered requests. It need not be at revision 1. The number of maps is not limited here. With a
  // residence, a map without room is left unloaded.
  // REQUIRES: no other thread knows the map.
  absl::Status FollowCreation(MapState first);
  absl::Status FollowReplacement(MapState first, MapVersion replaced);
  // Replaces a map by a later image of it, with its remembered requests, when the commits in between are
  // unknown; subscribers see a gap in the history. Also returns NOT_FOUND / MAP_NOT_FOUND. Both states are
  // briefly in memory.
  // REQUIRES: no other thread knows the map.
  absl::Status FollowImage(MapState later);
  // Deletes the map, whose last version is `last`.
  absl::Status FollowDeletion(absl::string_view id, MapVersion last);

  // Returns the time by the store's clock.
  absl::Time Now() const { return context_.options.clock->Now(); }

  // Returns OK if a map with that id could be created now, else BAD_MAP_ID, MAP_EXISTS or TOO_MANY_MAPS. Lets
  // a long upload fail early; Create decides.
  absl::Status CheckCanCreate(absl::string_view id) const;
  // Returns OK if a map could be created or replaced with that id now, else BAD_MAP_ID or TOO_MANY_MAPS.
  absl::Status CheckCanReplace(absl::string_view id) const;
  // Returns OK if the map could be deleted now, else BAD_MAP_ID or MAP_NOT_FOUND.
  absl::Status CheckCanDelete(absl::string_view id) const;

  // Builds the search data of a map, which takes several nanoseconds per cell, so that Create and Replace
  // need not. They prepare maps that this store has not prepared. Ends early once `stop` fails: the map must
  // not be used then.
  // REQUIRES: no other thread knows the map yet.
  void Prepare(AnyMap& map, const StopCheck* stop = nullptr,
               GridMap::LargeIndexes large_indexes = GridMap::LargeIndexes::kNow) const;

  // Creates a map with a new epoch, at revision 1, whatever map had the id before. Creations are serial: with
  // a log, each waits until its map is durable. Returns INVALID_ARGUMENT / BAD_MAP_ID, ALREADY_EXISTS /
  // MAP_EXISTS, RESOURCE_EXHAUSTED / TOO_MANY_MAPS or MAPS_MEMORY_FULL; with a log, UNAVAILABLE /
  // STORAGE_FAILED, or RESOURCE_EXHAUSTED / IMPORT_TOO_LARGE for a map that the log cannot hold.
  //
  // FindCreated returns the latest snapshot of a map that was created by this request; null if there is none.
  // The map remembers the request as it does those of updates. Returns INVALID_ARGUMENT / REQUEST_ID_REUSED
  // if the map remembers another request with that id, the error of CheckRequestId, and those of Pin except
  // MAP_NOT_FOUND.
  absl::StatusOr<PinnedSnapshot> Create(absl::string_view id, AnyMap map, absl::Time now,
                                        const CreationRequest& request = {});
  absl::StatusOr<PinnedSnapshot> FindCreated(absl::string_view id, const CreationRequest& request) const;

  // Atomically replaces the map with that id, or creates it if there is none: readers see either the old or
  // the new map, and so does a restart after a crash. The old map ends as by Delete. The new one has another
  // epoch and begins at revision 1. Both are briefly in memory. Returns the errors of Create except
  // MAP_EXISTS; after an error the old map is unchanged.
  absl::StatusOr<PinnedSnapshot> Replace(absl::string_view id, AnyMap map, absl::Time now);

  // Returns the latest snapshot, never one older than a Pin that has returned before on any thread. Returns
  // INVALID_ARGUMENT / BAD_MAP_ID, NOT_FOUND / MAP_NOT_FOUND, or UNAVAILABLE / MAP_LOADING (LoadingMapOf)
  // after scheduling the load.
  //
  // A listener that starts to watch a map before Pin misses nothing after the pinned snapshot, including the
  // map's deletion.
  absl::StatusOr<PinnedSnapshot> Pin(absl::string_view id) const;

  // Returns at most `limit` latest snapshots of maps in memory, ordered by id, starting after the id `after`.
  std::vector<PinnedSnapshot> List(absl::string_view after, std::size_t limit) const;
  // ListAll returns the same as List for all maps, including unloaded ones.
  struct ListedMap {
    std::string id;
    MapVersion version;
    // Null if the map is unloaded.
    PinnedSnapshot snapshot;
  };
  std::vector<ListedMap> ListAll(absl::string_view after, std::size_t limit) const;

  // Deletes a map and returns its last version. Waits for the commit in progress, and with a log also for
  // those in flight and for the deletion to be durable. Batches queued behind it fail because the map is
  // gone. May call listeners and `done`s. Returns BAD_MAP_ID, MAP_NOT_FOUND and the errors of CheckVersion.
  // With a log, may return UNAVAILABLE / STORAGE_FAILED; the map and the queued batches then continue.
  absl::StatusOr<MapVersion> Delete(absl::string_view id, const ExpectedVersion& expected = {});

  // Applies a batch as one new revision and publishes it: every Pin that starts after `done` is called sees
  // it. `done` is called exactly once, before Update returns or later, on the thread that commits. It must be
  // quick, and may call the store except for methods that wait for the log. Batches of a map are applied, and
  // their `done`s called, in the order of arrival. Only a batch that cannot be queued, because the queue is
  // full or the map is gone, is answered out of order.
  //
  // Passes to `done` the errors of Pin, CheckRequestId, CheckVersion, AppliedRequests::Find and the Apply
  // methods of the batch editors; RESOURCE_EXHAUSTED / MAPS_MEMORY_FULL if what the batch adds or paints
  // does not fit in memory; RESOURCE_EXHAUSTED / UPDATES_BUSY, with a retry delay, if the queue is full. An
  // error changes nothing, and the request_id of a refused batch is not remembered.
  //
  // With a log, passes UNAVAILABLE / STORAGE_FAILED for a batch that the log could not take, and for every
  // batch, even a refused one, that was judged on top of it. Such a batch has no effect while this store
  // lives, but may be present when the log is next read.
  void Update(absl::string_view id, UpdateBatch batch, UpdateDone done);

  // Applies a batch as Update does, and blocks until its result is known.
  absl::StatusOr<UpdateResult> UpdateAndWait(absl::string_view id, UpdateBatch batch);

  // Returns at most `max` published commits of a map, starting with revision `from`, or the errors of Pin.
  absl::StatusOr<History> ReadHistory(absl::string_view id, std::uint64_t from, std::size_t max) const;

  // Returns the snapshots of a map that were replaced within RecentSnapshots::kKept, the last replaced first.
  // They are kept from the first call until RecentSnapshots::kAskedFor after the last one. One of them may be
  // the latest snapshot, or of an earlier map with that id.
  std::vector<PastSnapshot> AskPast(absl::string_view id) const;

  // Removes the obstacles that have expired by `now`, as an ordinary batch per map, and releases snapshots
  // kept for AskPast. Returns when to call it next unless an earlier expiry is reported meanwhile;
  // InfiniteFuture() if there is none.
  absl::Time ExpireDue(absl::Time now);

  // Sets a hook that is called with an expiry earlier than the last result of ExpireDue, on the thread that
  // commits. It must be quick. Called at once if existing maps have obstacles with an expiry.
  // REQUIRES: the store is not shared between threads yet.
  void OnEarlierExpiry(std::function<void(absl::Time)> hook);

  // Builds those search indexes of a map that are too stale for searches and updates to repair
  // (GridMap::NeedsBackgroundBuild) and that searches have paid for. Returns true if there were any. Takes up
  // to several nanoseconds per cell of a large map, but delays searches and updates by microseconds at most;
  // call it on a thread of its own. Ends soon after `cancelled` is set. Returns MAP_NOT_FOUND if the map is
  // not in memory.
  absl::StatusOr<bool> BuildInBackground(absl::string_view id, CancelFlag cancelled);
  // Gives a static index, which was built from the cells of `of`, to the latest states of the same map that
  // differ little. Does nothing if there are none.
  void PutStaticIndex(const MapSnapshot& of, const std::shared_ptr<const StaticIndex>& index);

  // Returns the replaced snapshots of a map that are still pinned. The cost grows with their number and the
  // size of the map.
  OldSnapshotsInfo OldSnapshotsOf(absl::string_view id) const;
  // Returns the replaced snapshots of all maps that are still pinned.
  OldSnapshotsTotal AllOldSnapshots() const;

  // Returns the memory of all maps by category. Costs MapSnapshot::memory_bytes for each map.
  MemoryUse MeasureMemory() const;
  // Returns the account of the maps' memory.
  MemoryAccount& memory() const { return *context_.memory; }

  // Returns the number of maps in memory.
  std::size_t size() const;

 private:
  using RecordPtr = std::shared_ptr<MapRecord>;

  // A map that is in the log but not in memory.
  struct AbsentMap {
    MapVersion last;
    bool is_damaged = false;
    // True while its end is being written to the log: it cannot be loaded then.
    bool is_ending = false;
  };

  enum class IfExists { kRefuse, kReplace };

  // Returns the error of DurableLog::WhyRefusing; OK without a log.
  absl::Status WhyRefusing() const;
  absl::Status CheckCanAdd(absl::string_view id, IfExists if_exists) const;
  absl::StatusOr<PinnedSnapshot> Add(absl::string_view id, AnyMap map, absl::Time now, IfExists if_exists,
                                     const CreationRequest& request = {});
  // Reserves memory for a map. Returns MAPS_MEMORY_FULL.
  absl::Status ReserveFor(const MapSnapshot& map, MemoryAccount::Reservation& memory);
  void Insert(const RecordPtr& record) noexcept;
  // Inserts the record once the map is in the log. Returns false after a conflict.
  absl::StatusOr<bool> AddNew(const RecordPtr& record, const MapSnapshot& first,
                              const CreationRequest& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(creating_);
  // Replaces the old record by the new one, which has the snapshot `first`. Returns false if the old map has
  // ended.
  absl::StatusOr<bool> TakePlace(const RecordPtr& old, const RecordPtr& record, const MapSnapshot& first);
  // Update the table at the end of a map and call `tell`; see MapRecord::ChangeTable.
  void SwapInTable(const RecordPtr& old, const RecordPtr& record, absl::FunctionRef<void()> tell) noexcept;
  void RemoveFromTable(const RecordPtr& record, absl::FunctionRef<void()> tell) noexcept;
  // Counts the last snapshot of an ended map as an old one if it is still pinned.
  void NoteOld(const PinnedSnapshot& last);
  // Returns true if a map that another server created or replaced is to be kept in memory.
  bool HasRoomFor(const MapSnapshot& first) const;
  // Creates the record of a map that was read, or begun by another server. Reserves its memory. Returns
  // BAD_MAP_ID and MAPS_MEMORY_FULL.
  absl::StatusOr<RecordPtr> MakeRecord(MapState first, MemoryAccount::Reservation& memory);
  // Ends a map that is not in memory, if its version is as expected. Appends the end through `append`, then
  // calls `on_end` on the log's thread. Returns the map's last version, or nullopt for any other map.
  absl::StatusOr<std::optional<MapVersion>> EndAbsent(
      absl::string_view id, const ExpectedVersion& expected,
      absl::FunctionRef<void(MapVersion last, DurableLog::Done done)> append,
      absl::FunctionRef<void()> on_end) ABSL_EXCLUSIVE_LOCKS_REQUIRED(creating_);
  void TellOfExpiry(const MapRecord& record);
  void Drop(MemoryDrop what);
  // Return the error for a map that is not in memory. AskFor also schedules its load.
  absl::Status AbsenceOf(absl::string_view id) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(context_.readers);
  absl::Status AskFor(absl::string_view id, const absl::Status& absence) const;
  // Returns the record and counts a use of the map, or returns the errors of Pin.
  absl::StatusOr<RecordPtr> FindRecord(absl::string_view id) const;
  // Returns the record, or null if the map is not in memory.
  RecordPtr FindOrNull(absl::string_view id) const;
  // Returns the record of a map that has ended and that some listener does not know of yet, else null.
  RecordPtr FindEnding(absl::string_view id) const;
  bool Exists(absl::string_view id) const;
  bool IsNeeded(const MapSnapshot& latest) const;
  std::vector<RecordPtr> Records() const;
  PinnedSnapshot LatestOrNull(absl::string_view id) const;

  // Serializes creations, so that memory measured for one map is not taken by another. First in the lock
  // order.
  Mutex creating_;
  // State shared with the records, including the lock of the table.
  StoreContext context_;
  // The keys point into the records. records_ is ordered by id; by_id_ is for fast lookup by readers.
  absl::btree_map<absl::string_view, RecordPtr> records_ ABSL_GUARDED_BY(context_.readers);
  absl::flat_hash_map<absl::string_view, const MapRecord*> by_id_ ABSL_GUARDED_BY(context_.readers);
  // Maps without a record, ordered by id.
  absl::btree_map<std::string, AbsentMap, std::less<>> absent_ ABSL_GUARDED_BY(context_.readers);
  // Number of accesses to maps in memory.
  mutable std::uint64_t uses_ ABSL_GUARDED_BY(context_.readers) = 0;
};

}  // namespace waystar::core
