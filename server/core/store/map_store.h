// The maps of a server, with snapshots for readers and group commit for updates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
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
#include "server/core/graph/waypoint_graph.h"
#include "server/core/jump_index/cancelled.h"
#include "server/core/map/grid_map.h"
#include "server/core/store/creation_request.h"
#include "server/core/store/durable_log.h"
#include "server/core/store/expected_version.h"
#include "server/core/store/map_residence.h"
#include "server/core/store/map_snapshot.h"
#include "server/core/store/map_version.h"
#include "server/core/store/old_snapshots.h"
#include "server/core/store/store_context.h"
#include "server/core/store/store_listener.h"
#include "server/core/store/store_options.h"
#include "server/core/store/stored_map.h"
#include "server/core/store/update_batch.h"
#include "server/core/store/update_log.h"
#include "server/core/store/update_queue.h"

namespace waystar::core {

class MapRecord;

// Readers pin a snapshot and hold a lock for as long as it takes to find the map and copy a pointer; neither
// they nor updates wait for the other. Publishing holds the lock for the length of a swap; creating or
// deleting a map holds it for a change of the table.
//
// With a durable log, nobody is told of what is not durable: neither readers and listeners nor whoever made
// the change. The commit loop goes on while group commits are on their way to storage, up to the limits of
// the queue; if one is lost, so are those that were composed upon it, and the map goes on from what is
// published.
//
// Updates of one map follow each other. A thread whose batch finds no other at work runs the commit loop: it
// applies the batch and those that come meanwhile. Batches that wait together are a group commit: one
// snapshot, in which each batch has a revision of its own. A thread that finds another at work leaves its
// batch and returns.
//
// Replaced snapshots that are still pinned are counted. When those of all maps together hold more than the
// options allow, beyond what newer ones share with them, the ones that were replaced first are flagged
// (MapSnapshot::eviction) and no longer counted. Updates are never refused for it.
//
// All of that memory has one limit (MemoryAccount). Where a map, an update, or the view or overlay of a query
// does not fit, what MemoryDrop names is dropped first; then it is refused.
//
// With a residence, maps need not be in memory. A map that is not, which is unloaded, has its id and its
// version here, and its state where the log is. It is loaded when it is asked for; until then, whatever needs
// it fails with UNAVAILABLE / MAP_LOADING, which is one of the errors of Pin. It can be deleted and replaced,
// and follow what others do to it, as it is.
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

  // REQUIRES: the store is not shared between threads yet. The listener must outlive the updates of maps.
  void AddListener(StoreListener* listener) { context_.listeners.push_back(listener); }

  // Makes every creation, update and deletion durable from now on before anybody is told of it. If the log is
  // shared, what conflicts with another server's is judged again upon that one's.
  // REQUIRES: the store is not shared between threads yet, and the log has called the `done`s of all appends
  // before the store is destroyed.
  //
  // The log's thread must not call Create, Delete or UpdateAndWait, nor may an update's `done` or a listener,
  // which may run on it: they wait for that thread.
  void SetLog(DurableLog* log) { context_.log = log; }
  // REQUIRES: the store is not shared between threads yet; there is a log. The residence must outlive the use
  // of the store.
  void SetResidence(MapResidence* residence) { context_.residence = residence; }
  // Adds a map that was stored, with its epoch and revision, which is not logged. Returns the errors of
  // Create but for STORAGE_FAILED. Jump indexes of a large map are left to BuildInBackground.
  absl::Status Restore(MapSnapshot snapshot, std::vector<AppliedRequest> requests,
                       const RequestHorizon& request_horizon);
  // Notes a map that the log has at that version, and that could not be read. Its id is taken until it is
  // deleted or replaced; to all other calls there is no such map. REQUIRES: SetLog is called before those
  // two; the map is not in memory.
  void AddDamaged(absl::string_view id, MapVersion last);
  // Notes a map that the log has at that version, which is unloaded. REQUIRES: there is a residence before
  // anybody asks for the map; it is not in memory.
  void AddUnloaded(absl::string_view id, MapVersion last);

  // Returns the ids of the maps in memory, those first that nobody has asked for the longest.
  std::vector<std::string> LeastRecentlyUsed() const;
  // Returns whether a map could be unloaded now, as far as it takes no lock of it to see.
  bool CanUnload(absl::string_view id) const;
  // Lets go of a map that can be loaded as of that version. Returns false, and the map stays, if it has
  // another version, changes, has obstacles that expire, or is needed by a listener.
  bool Unload(absl::string_view id, MapVersion stored);
  // Returns the version of the latest snapshot of a map, or the errors of Pin, but loads nothing, and it is
  // no use of the map.
  absl::StatusOr<MapVersion> LatestVersion(absl::string_view id) const;
  // Returns the version of an unloaded map, or nothing.
  std::optional<MapVersion> UnloadedVersion(absl::string_view id) const;
  // Makes an unloaded map of that version one that could not be read: see AddDamaged.
  void NoteDamage(absl::string_view id, MapVersion version);
  // Brings back an unloaded map as of its version; asks the residence for room. Returns FAILED_PRECONDITION
  // if the map is not unloaded, has another version, or is being deleted or replaced; MAPS_MEMORY_FULL.
  // REQUIRES: no other thread knows the map.
  absl::Status Load(MapSnapshot snapshot, std::vector<AppliedRequest> requests,
                    const RequestHorizon& request_horizon);
  struct ResidenceCounts {
    std::size_t loaded = 0;
    std::size_t unloaded = 0;
    // How often a map was asked for that was in memory.
    std::uint64_t hits = 0;
  };
  ResidenceCounts CountResidence() const;
  // Returns whether memory that is full may be made free by unloading maps.
  bool CanMakeRoom() const { return context_.residence != nullptr; }
  // Returns whether maps take more than three quarters of memory: a start leaves the next ones unloaded then,
  // so that the first queries have room.
  bool IsNearlyFull() const;

  // Returns what is to be stored of a map, as of its latest snapshot, or the errors of Pin, but loads
  // nothing: nothing of what is still on its way to the log. Updates wait while the requests are copied.
  absl::StatusOr<StoredMap> Store(absl::string_view id) const;

  // Follow what other servers have appended to a shared log. Its thread calls them, one at a time and between
  // the `done`s of what this store has appended, in the order of the log, under the rule of DurableLog.
  // Listeners and pins hear of it as of a change made here. They return FAILED_PRECONDITION for what does not
  // follow what the store has, and MAPS_MEMORY_FULL; after an error the store is as it was, and must follow
  // that entry, or be given the map anew, before others of that map.
  //
  // Commits of one map become one published snapshot. The times in them count, not this server's clock.
  // Returns NOT_FOUND / MAP_NOT_FOUND, too, and DATA_LOSS if they do not lead to their digests. REQUIRES:
  // `commits` are not empty.
  absl::Status FollowCommits(absl::string_view id, std::uint64_t epoch,
                             absl::Span<const LoggedCommit> commits);
  // A map that another server has created, or has put in the place of the map of that version, with the
  // requests that it remembers. It need not be at revision 1. The number of maps has no limit here. With a
  // residence, it is left unloaded if it has no room. REQUIRES:
  // no other thread knows the map.
  absl::Status FollowCreation(MapSnapshot first, std::vector<AppliedRequest> requests,
                              const RequestHorizon& request_horizon);
  absl::Status FollowReplacement(MapSnapshot first, std::vector<AppliedRequest> requests,
                                 const RequestHorizon& request_horizon, MapVersion replaced);
  // A later revision of a map, with the requests that it remembers, when the commits between are not known:
  // to its watchers it goes on with a gap in its history. Returns NOT_FOUND / MAP_NOT_FOUND, too. Both states
  // are in memory for a moment. REQUIRES: no other thread knows the map.
  absl::Status FollowImage(MapSnapshot later, std::vector<AppliedRequest> requests,
                           const RequestHorizon& request_horizon);
  // `last` is the last version of the map.
  absl::Status FollowDeletion(absl::string_view id, MapVersion last);

  // Returns the time by the store's clock.
  absl::Time Now() const { return context_.options.clock->Now(); }

  // Returns OK if a map of that id could be created now, else BAD_MAP_ID, MAP_EXISTS or TOO_MANY_MAPS. It
  // lets a long upload fail before it begins; Create decides.
  absl::Status CheckCanCreate(absl::string_view id) const;
  // As CheckCanCreate, for Replace: a map of that id is no obstacle.
  absl::Status CheckCanReplace(absl::string_view id) const;
  // Returns OK if there is a map that could be deleted now, or the errors of Pin.
  absl::Status CheckCanDelete(absl::string_view id) const;

  // Makes what searches use of a map, which takes some nanoseconds a cell, so that Create and Replace need
  // not. They prepare a map that this store has not prepared. Once `stop` fails it ends early: the map must
  // not be used then. REQUIRES: no other thread knows the map yet.
  void Prepare(AnyMap& map, const StopCheck* stop = nullptr,
               GridMap::LargeIndexes large_indexes = GridMap::LargeIndexes::kNow) const;

  // Creates a map, one after another: with a log, each waits until its map is durable. The map has an epoch
  // of its own and begins at revision 1, whatever had its id before. Returns INVALID_ARGUMENT / BAD_MAP_ID,
  // ALREADY_EXISTS / MAP_EXISTS, RESOURCE_EXHAUSTED / TOO_MANY_MAPS or MAPS_MEMORY_FULL; with a log,
  // UNAVAILABLE / STORAGE_FAILED, or RESOURCE_EXHAUSTED / IMPORT_TOO_LARGE for a map that the log cannot
  // hold.
  //
  // FindCreated returns the latest snapshot of a map that was created by this request, which remembers it as
  // it does those of updates; null if there is none. It returns INVALID_ARGUMENT / REQUEST_ID_REUSED if the
  // map remembers another request of that id, and the errors of CheckRequestId and CheckMapId.
  absl::StatusOr<PinnedSnapshot> Create(absl::string_view id, AnyMap map, absl::Time now,
                                        const CreationRequest& request = {});
  absl::StatusOr<PinnedSnapshot> FindCreated(absl::string_view id, const CreationRequest& request) const;

  // Creates a map in the place of the one that has the id, in one step: readers find the old map or the new
  // one, and so does a start after a crash. If there is no such map, it creates it. The old map ends as by
  // Delete, and the new one has another epoch and begins at revision 1; both are in memory for a moment.
  // Returns the errors of Create, but for MAP_EXISTS; after an error the old map goes on.
  absl::StatusOr<PinnedSnapshot> Replace(absl::string_view id, AnyMap map, absl::Time now);

  // Returns the latest snapshot: never one older than a Pin that has returned before, on any thread. Returns
  // INVALID_ARGUMENT / BAD_MAP_ID, NOT_FOUND / MAP_NOT_FOUND, or UNAVAILABLE / MAP_LOADING (LoadingMapOf),
  // and the map is loaded soon.
  //
  // Whoever begins to listen for a map before Pin misses nothing after what was pinned, and hears of the
  // map's deletion.
  absl::StatusOr<PinnedSnapshot> Pin(absl::string_view id) const;

  // Returns at most `limit` latest snapshots, of maps in memory, in the order of their ids, beginning after
  // the id `after`.
  std::vector<PinnedSnapshot> List(absl::string_view after, std::size_t limit) const;
  // The same of all maps.
  struct ListedMap {
    std::string id;
    MapVersion version;
    // Null if the map is unloaded.
    PinnedSnapshot snapshot;
  };
  std::vector<ListedMap> ListAll(absl::string_view after, std::size_t limit) const;

  // Deletes a map and returns its last version, or the errors of Pin; those of CheckVersion if it is not at
  // the version that is expected. It waits for the commit under way, and with a log for those in flight and
  // until the deletion is durable; batches that wait behind it fail because the map is gone. It may call
  // listeners and `done`s. With a log, it may return UNAVAILABLE / STORAGE_FAILED, and then the map stays and
  // the batches that waited go on.
  absl::StatusOr<MapVersion> Delete(absl::string_view id, const ExpectedVersion& expected = {});

  // Applies a batch as one new revision and publishes it: every Pin that starts after `done` is called sees
  // it. `done` is called exactly once, before this returns or later, on whichever thread commits; it must be
  // quick, and may call the store, except what waits for a log. Batches of a map are applied, and those
  // `done`s called, in the order in which they came; only a batch that is not queued, for want of room or of
  // the map, is answered at once.
  //
  // Passes to `done` the errors of Pin, CheckRequestId, BatchEditor::Apply and GraphBatchEditor::Apply;
  // those of CheckVersion if the map is not as expected; RESOURCE_EXHAUSTED / MAPS_MEMORY_FULL if there is no
  // memory for what the batch adds or paints; those of AppliedRequests::Find for a request_id;
  // RESOURCE_EXHAUSTED / UPDATES_BUSY, with a retry delay, if too many wait. An error changes nothing, and
  // the request_id of a refused batch is not remembered.
  //
  // With a log, passes UNAVAILABLE / STORAGE_FAILED for a batch that the log could not take, and for every
  // batch, of whatever outcome, that was judged upon such a one. That changes nothing while this store lives;
  // what is found when the log is next read may contain the batch.
  void Update(absl::string_view id, UpdateBatch batch, UpdateDone done);

  // As Update, for callers that may block.
  absl::StatusOr<UpdateResult> UpdateAndWait(absl::string_view id, UpdateBatch batch);

  // Returns at most `max` published commits of a map from revision `from` on, or the errors of Pin.
  absl::StatusOr<History> ReadHistory(absl::string_view id, std::uint64_t from, std::size_t max) const;

  // Removes the obstacles whose lifetime is over by `now`, each map's as a batch like any other. Returns when
  // to call next unless an earlier expiry is reported until then; InfiniteFuture() if there is none.
  absl::Time ExpireDue(absl::Time now);

  // Sets a hook that is called with an expiry that is earlier than ExpireDue may have returned, on whichever
  // thread commits; it must be quick. It is called at once if obstacles of maps that are there expire.
  // REQUIRES: the store is not shared between threads yet.
  void OnEarlierExpiry(std::function<void(absl::Time)> hook);

  // Makes those search indexes of a map that lag too far behind for searches and updates to make them
  // (GridMap::NeedsBackgroundBuild) and that searches have paid for; returns whether there were any. It takes
  // up to some nanoseconds a cell of a large map, but delays neither searches nor updates for more than some
  // microseconds: it is meant for a thread of its own. It ends soon once `cancelled` is set. Returns the
  // errors of Pin.
  absl::StatusOr<bool> BuildInBackground(absl::string_view id, CancelFlag cancelled);

  // Returns the replaced snapshots of a map that are still pinned. The time grows with their number and the
  // map.
  OldSnapshotsInfo OldSnapshotsOf(absl::string_view id) const;
  // Returns the replaced snapshots of all maps that are still pinned.
  OldSnapshotsTotal AllOldSnapshots() const;

  // Returns the bytes of all maps by kind. The time is that of MapSnapshot::memory_bytes for each map.
  MemoryUse MeasureMemory() const;
  // Returns the account of that memory.
  MemoryAccount& memory() const { return *context_.memory; }

  // Returns how many maps are in memory.
  std::size_t size() const;

 private:
  using RecordPtr = std::shared_ptr<MapRecord>;

  // A map that the log has and that is not in memory.
  struct AbsentMap {
    MapVersion last;
    bool is_damaged = false;
    // Whether its end is on its way to the log: it cannot be loaded then.
    bool is_ending = false;
  };

  enum class IfExists { kRefuse, kReplace };

  // Returns why changes are refused, if they are.
  absl::Status WhyRefusing() const;
  absl::Status CheckCanAdd(absl::string_view id, IfExists if_exists) const;
  absl::StatusOr<PinnedSnapshot> Add(absl::string_view id, AnyMap map, absl::Time now, IfExists if_exists,
                                     const CreationRequest& request = {});
  // Reserves room for a map. Returns MAPS_MEMORY_FULL.
  absl::Status ReserveFor(const MapSnapshot& map, MemoryAccount::Reservation& memory);
  void Insert(const RecordPtr& record) noexcept;
  // Inserts the record once the log has the map. Returns false after a conflict.
  absl::StatusOr<bool> AddNew(const RecordPtr& record, const MapSnapshot& first,
                              const CreationRequest& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(creating_);
  // Puts the record, which has that snapshot, in the place of the old one. Returns false if that has ended.
  absl::StatusOr<bool> TakePlace(const RecordPtr& old, const RecordPtr& record, const MapSnapshot& first);
  // Change the table at the end of a map, and call `tell`: see MapRecord::ChangeTable.
  void SwapInTable(const RecordPtr& old, const RecordPtr& record, absl::FunctionRef<void()> tell) noexcept;
  void RemoveFromTable(const RecordPtr& record, absl::FunctionRef<void()> tell) noexcept;
  // Counts the last snapshot of a map among the old ones if somebody else holds it.
  void NoteOld(const PinnedSnapshot& last);
  // Returns whether a map that another server has begun is to be in memory.
  bool HasRoomFor(const MapSnapshot& first) const;
  // Makes the record of a map that another server has begun.
  absl::StatusOr<RecordPtr> MakeFollowed(MapSnapshot first, std::vector<AppliedRequest> requests,
                                         const RequestHorizon& request_horizon,
                                         MemoryAccount::Reservation& memory);
  // Ends a map that is not in memory, if it is as expected, once the log has what `append` appends, and calls
  // `on_end` on the log's thread. Returns its last version, or nothing if there is no such map.
  absl::StatusOr<std::optional<MapVersion>> EndAbsent(
      absl::string_view id, const ExpectedVersion& expected,
      absl::FunctionRef<void(MapVersion last, DurableLog::Done done)> append,
      absl::FunctionRef<void()> on_end) ABSL_EXCLUSIVE_LOCKS_REQUIRED(creating_);
  void TellOfExpiry(const MapRecord& record);
  // Completes the batches that waited for a map that has ended.
  static void FailWaiting(absl::string_view id, std::deque<WaitingBatch> waiting);
  void Drop(MemoryDrop what);
  // Return what is told of a map that is asked for and not in memory; the second has it loaded.
  absl::Status AbsenceOf(absl::string_view id) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(context_.readers);
  absl::Status AskFor(absl::string_view id, const absl::Status& absence) const;
  // Returns a record for somebody who asks for the map, or the errors of Pin.
  absl::StatusOr<RecordPtr> FindRecord(absl::string_view id) const;
  // Returns null if there is no such map in memory.
  RecordPtr FindOrNull(absl::string_view id) const;
  bool Exists(absl::string_view id) const;
  bool IsNeeded(const MapSnapshot& latest) const;
  std::vector<RecordPtr> Records() const;
  PinnedSnapshot LatestOrNull(absl::string_view id) const;

  // Held to create a map, so that room measured for one is not taken by another. It is taken first.
  Mutex creating_;
  // What records use of the store, and the lock of its table.
  StoreContext context_;
  // The keys are the ids in the records. records_ is in order, by_id_ is for readers.
  absl::btree_map<absl::string_view, RecordPtr> records_ ABSL_GUARDED_BY(context_.readers);
  absl::flat_hash_map<absl::string_view, const MapRecord*> by_id_ ABSL_GUARDED_BY(context_.readers);
  // In order, too; none of them has a record.
  absl::btree_map<std::string, AbsentMap, std::less<>> absent_ ABSL_GUARDED_BY(context_.readers);
  // How often a map in memory was asked for.
  mutable std::uint64_t uses_ ABSL_GUARDED_BY(context_.readers) = 0;
};

}  // namespace waystar::core
