// Commit log in etcd, shared by the servers of a fleet.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/core/store/durable_log.h"
#include "server/core/store/map_store.h"
#include "server/storage/etcd/etcd_client.h"
#include "server/storage/etcd/etcd_watch.h"
#include "server/storage/fleet/cluster_keys.h"
#include "server/storage/fleet/cluster_reader.h"
#include "server/storage/fleet/cluster_values.h"
#include "server/storage/fleet/map_lane.h"

namespace waystar::cluster {

// Bounds the age of the server's state by etcd's answers to its requests: a server that has followed etcd up
// to the revision in an answer has all changes as of the time of the request. An unsolicited message proves
// nothing, since it may have been delayed.
//
// Thread safety: one thread.
class NewestKnown {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // Records that etcd answered with `revision` to a request sent at `asked`.
  // REQUIRES: `asked` is later than in earlier calls.
  void Note(TimePoint asked, std::int64_t revision) {
    // Maximum number of answers kept. A server that is further behind learns its age from the oldest ones.
    constexpr std::size_t kMost = 1024;
    if (answers_.size() < kMost) {
      answers_.push_back({asked, revision});
    }
  }

  // Returns the latest request time whose answer is at most `revision`; nullopt if there is none since the
  // last call.
  std::optional<TimePoint> Reach(std::int64_t revision) {
    std::optional<TimePoint> reached;
    while (!answers_.empty() && answers_.front().revision <= revision) {
      reached = answers_.front().asked;
      answers_.pop_front();
    }
    return reached;
  }

 private:
  struct Answer {
    TimePoint asked;
    std::int64_t revision = 0;
  };

  // Answers with a revision not reached yet.
  std::deque<Answer> answers_;
};

struct ClusterLogOptions {
  // Delay before a failed request is retried, and between probes of etcd while it fails.
  absl::Duration retry_interval = absl::Milliseconds(200);
  // Time without an answer after which a transaction is sent a second time.
  absl::Duration resend_interval = absl::Seconds(1);
  // Time without a message on the watch after which another etcd member is tried.
  absl::Duration quiet_timeout = absl::Seconds(5);
  // A map gets a new image once its records reach this number or this total size.
  std::uint64_t max_records = 4096;
  std::uint64_t max_record_bytes = std::uint64_t{16} << 20;
  // Maximum number and bytes of changes of one map that wait while the map is being loaded. Beyond either
  // limit everything is read again.
  std::size_t max_waiting_changes = 1024;
  std::size_t max_waiting_change_bytes = std::size_t{16} << 20;
  // Where images of maps are stored. Must outlive the log.
  ImagePlace images;
  // Called by the log's thread or StartWithoutEtcd: with the error when changes begin to fail, with OK when
  // they succeed again. May be empty.
  std::function<void(const absl::Status& status)> on_status;
  // Called once, by the log's thread, when etcd turns out to have been restored or emptied. May be empty.
  std::function<void(const absl::Status& why)> on_gone_back;
  // Called by the log's thread when a map can no longer be served, with the reason. May be empty.
  std::function<void(absl::string_view id, const absl::Status& why)> on_broken;
  // Called by the log's thread for a map that needs a new image. May be empty.
  std::function<void(absl::string_view id)> on_long;
  // Called by the loader thread before it reads a change of another server. May be empty.
  std::function<void(absl::string_view id)> on_load;
  // Called by the log's thread for each committed append, before its `done`. May be empty.
  std::function<void(absl::Duration waited)> on_commit;
  // Called by the log's thread, Start or StartWithoutEtcd with each new value of ClusterLogStatistics::heard.
  // May be empty.
  std::function<void(std::chrono::steady_clock::time_point heard)> on_heard;
  // Called by the log's thread or Start after the store has followed etcd up to a later revision and
  // listeners have been notified. May be empty.
  std::function<void(std::int64_t revision)> on_followed;
};

struct ClusterLogStatistics {
  // OK, or the reason why changes fail.
  absl::Status status;
  // True once etcd was restored or emptied: changes fail until the server is restarted.
  bool has_gone_back = false;
  // Transactions of this server that were committed, transactions that lost to another server's, and commit
  // groups of other servers that were applied.
  std::uint64_t landed = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t followed = 0;
  // Number of maps that are not served, because a change could not be applied or their state did not match.
  std::uint64_t broken = 0;
  // Revision of etcd up to which this server has applied all changes.
  std::int64_t revision = 0;
  // Number of etcd revisions received and not applied yet, plus the number of maps being loaded.
  std::int64_t lag = 0;
  // Number of lanes: existing maps, and maps with a change in flight.
  std::size_t maps = 0;
  // When etcd was asked for the newest revision that the store has since reached: the store has all changes
  // as of that time.
  std::chrono::steady_clock::time_point heard;
};

// Each map has a head. A commit is one transaction that compares the head with the one the commit was based
// on, and puts a log record and the next head. If two servers commit at once, one transaction fails: its
// store follows the other's record and retries. All waiting appends of a map go into one transaction (group
// commit), as far as they fit into one record. A value that is too large for one key is first put in parts.
//
// A transaction with an unknown outcome is sent again until its outcome is known. It is applied at most once,
// because it changes the head that it compares; the head names the append that put it there.
//
// While etcd is unreachable, appends fail at once with UNAVAILABLE / STORAGE_FAILED. While it is full, they
// fail with RESOURCE_EXHAUSTED / STORAGE_FULL, except deletions, which then put nothing. If etcd becomes
// another cluster or goes back to an earlier revision, its log no longer continues the store's state: the log
// stops following it, and all appends fail with UNAVAILABLE / STORAGE_FAILED.
//
// Maps begun by other servers, and records in parts, are read on another thread. Later changes of that map
// wait meanwhile; other maps proceed.
//
// Thread safety: any method may be called from any thread, except Start and Stop.
class ClusterLog final : public core::DurableLog {
 public:
  // `client`, `keys` and `store` must outlive the log.
  ClusterLog(etcd::Client& client, const ClusterKeys& keys, core::MapStore& store, ClusterLogOptions options);
  ClusterLog(const ClusterLog&) = delete;
  ClusterLog& operator=(const ClusterLog&) = delete;
  // Calls Stop.
  ~ClusterLog() override;

  // Registers a map read at the start. `is_broken`: the store could not load it.
  // REQUIRES: the log is not started.
  void Know(const std::string& id, const FleetMap& map, bool is_broken);
  // Follows the changes of etcd after `revision`. `read` is when the read of the registered maps began.
  // REQUIRES: all maps that existed at `revision`, the newest one of etcd, are registered.
  void Start(std::int64_t revision, std::chrono::steady_clock::time_point read);
  // Registers a map that the store has loaded from a cache because etcd is unreachable.
  // REQUIRES: the log is not started.
  void KnowCached(const std::string& id, core::MapVersion version);
  // Follows etcd once it can be reached, and refuses changes until then. `known_at` is the last time at which
  // the store was known to be up to date.
  void StartWithoutEtcd(absl::Time known_at);
  // Fails all waiting and later appends with UNAVAILABLE / STORAGE_FAILED, though some may have been
  // committed.
  void GiveUp();
  // Calls GiveUp and ends the threads.
  // REQUIRES: only `done` callbacks append afterwards.
  void Stop();

  // Restarts the count of a map's record bytes after a new image.
  void NoteImage(const std::string& id, core::MapVersion version);

  // Runs a task on the log's thread, between two changes that it applies. Returns the status of the task;
  // UNAVAILABLE if the log stops before it runs.
  // REQUIRES: the caller is not a thread of the log.
  absl::Status Call(std::function<absl::Status()> task);

  ClusterLogStatistics Statistics() const;
  // Returns the random id of this server in the fleet.
  std::uint64_t server() const { return server_; }

  bool is_shared() const override { return true; }
  absl::Status WhyRefusing() const override;
  void AppendCreation(const core::MapSnapshot& first, const core::CreationRequest& request,
                      Done done) override;
  void AppendReplacement(const core::MapSnapshot& first, core::MapVersion replaced, Done done) override;
  void AppendCommits(absl::string_view id, std::uint64_t epoch, std::vector<core::LoggedCommit> commits,
                     Done done) override;
  void AppendDeletion(absl::string_view id, core::MapVersion last, Done done) override;

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Task = absl::AnyInvocable<void() &&>;

  // Adds to a number of the statistics.
  template <typename Number>
  void Count(Number ClusterLogStatistics::*number, std::type_identity_t<Number> by = 1) {
    MutexLock lock(mutex_);
    statistics_.*number += by;
  }

  void Post(Task task);
  void PostAfter(absl::Duration delay, Task task);
  void Submit(absl::string_view id, Append append);
  // Returns the lane of a map; creates it if needed.
  MapLane& LaneOf(const std::string& id);
  // Returns the lane of a map, or null if there is none.
  MapLane* FindLane(const std::string& id);
  // Returns the ids of all lanes, sorted.
  std::vector<std::string> LaneIds() const;
  // Returns the lane if it has that transaction in flight; else null.
  MapLane* LaneThatSends(const std::string& id, AppendName name);
  // Erases the lanes of deleted maps.
  void ForgetEnded();

  void StartThread(Task first);

  // The methods below run on the log's thread.
  void Run();
  // Moves submitted appends into the lanes. Called after the store has followed another server, it takes all
  // appends that the store made before.
  void TakeSubmitted();
  void DriveSubmitted();
  // Sends the waiting appends, unless a transaction is in flight.
  void Drive(const std::string& id);
  // Returns the transaction for the first waiting appends.
  Sending Compose(const std::string& id, MapLane& lane);
  void ComposeBeginning(const std::string& id, Append& append, const MapLane& lane, Sending& sending);
  void ComposeCommits(const std::string& id, MapLane& lane, Sending& sending);
  void Send(const std::string& id);
  void OnPart(const std::string& id, AppendName name, const absl::StatusOr<etcd::TxnResult>& result);
  void OnFile(const std::string& id, AppendName name, const absl::Status& status);
  void OnTxn(const std::string& id, AppendName name, const absl::StatusOr<etcd::TxnResult>& result);
  // Puts parts again that were deleted before the transaction ran.
  void SendPartsAgain(const std::string& id);
  // Deletes parts of a transaction that was not committed. Parts that remain only take space.
  void DeleteParts(const Sending& sending);
  void OnFailure(const std::string& id, const absl::Status& status);
  // Finds out whether a transaction refused for lack of space was applied: etcd can apply it and still answer
  // NOSPACE if it became full meanwhile.
  void LookWhetherApplied(const std::string& id, const absl::Status& refusal);
  // Runs a task after the retry interval if the transaction is still in flight then. SendLater sends it
  // again.
  void RetryLater(const std::string& id, AppendName name, Task task);
  void SendLater(const std::string& id, AppendName name);
  // Land marks the appends in flight as committed and calls their `done`s. OnLanded also sends the next ones.
  void Land(const std::string& id, std::int64_t revision);
  void OnLanded(const std::string& id, std::int64_t revision);
  // Completes all waiting appends with `outcome`. Appends made by their callbacks are not affected.
  void Answer(const std::string& id, const core::AppendOutcome& outcome);
  void AnswerAll(const absl::Status& status);
  // Completes all waiting appends with a conflict after the store has followed another server: they were
  // based on a state that is lost.
  void Conflict(const std::string& id);
  // If the first waiting append does not follow the store's version, fails all waiting ones with the outcome
  // of the append they were based on.
  void DropLost(const std::string& id);

  void BeginWatch(std::int64_t revision);
  // Records that the store was up to date at `at`.
  void NoteHeard(TimePoint at);
  // Interval at which etcd is asked for its newest revision: a tenth of `quiet_timeout`.
  absl::Duration AskInterval() const;
  // Takes the answer of AskNewest. `known` is the newest revision received before it was asked; a smaller
  // `newest` means that etcd has gone back.
  void OnNewest(TimePoint asked, std::int64_t known, std::int64_t newest, std::uint64_t cluster);
  // Stops the watch and fails all changes for good, after etcd has gone back or was replaced.
  void StopFollowing(const absl::Status& why);
  void AskNewest();
  // Records that the store has all changes up to that revision.
  void NoteFollowed(std::int64_t revision);
  void OnEvents(std::int64_t revision, std::vector<etcd::WatchEvent> events);
  void OnChange(const std::string& id, MapChange change);
  // Returns true if this server made the change.
  static bool IsOwn(const MapLane& lane, const MapChange& change, const absl::StatusOr<MapHead>& head);
  // Applies a record of another server to the store.
  void Follow(const std::string& id, std::int64_t revision, const MapHead& head, const std::string& record);
  // Updates the lane after a change of another server was applied, or failed to be.
  void OnFollowed(const std::string& id, std::int64_t revision, core::MapVersion after,
                  const absl::Status& status, bool is_record);
  // Result of a load, passed from the loader thread to the log's thread: the function that applies it, or an
  // error.
  using Taking = absl::AnyInvocable<absl::Status() &&>;
  struct Loading {
    std::uint64_t number = 0;
    std::int64_t revision = 0;
    // Version after the change. A change is a record or the beginning of a map.
    core::MapVersion after;
    bool is_record = false;
    std::function<absl::StatusOr<Taking>()> fetch;
  };
  // Starts to load a change of another server on the loader thread.
  void BeginLoading(const std::string& id, Loading loading);
  void Load(const std::string& id, const Loading& loading);
  absl::StatusOr<storage::MapState> Fetch(const std::string& id, std::int64_t revision) const;
  void OnLoaded(const std::string& id, const Loading& loading, absl::StatusOr<Taking> taking);
  void LetWait(MapLane& lane, MapChange change) const;
  // Drops the loading of a map and the changes that wait for it.
  void StopLoading(MapLane& lane);
  void EndLoading(MapLane& lane);
  // Advances the followed revision to the newest one received, unless a map is being loaded.
  void NoteAllSeen();
  // Gives the store a map from its image: a new map, or a later revision of the one it has.
  absl::Status Take(const std::string& id, storage::MapState map);
  // Reads all maps again after the watch has missed changes.
  void ReadAfresh();
  // Brings a map to the state that was read; deletes it if etcd no longer has it. Returns an error only if
  // etcd could not be read.
  // REQUIRES: the map has a lane.
  absl::Status Renew(const std::string& id, const FleetMaps& found);
  absl::Status CatchUp(const std::string& id, const FleetMap& map, std::int64_t revision);
  // Returns true if the store's map matches its head. Only the version of an unloaded map is compared.
  bool IsAt(const std::string& id, const MapHead& head) const;
  // Stops serving a map. `after` is the version to which its log leads.
  void Break(const std::string& id, const absl::Status& why, core::MapVersion after);
  void SetStatus(const absl::Status& status);
  // Every `quiet_timeout`, probes etcd if nothing was heard for longer than that.
  void Listen();
  // Periodically resends transactions without an answer, for example after an etcd leader has died.
  void SendSlowOnesAgain();
  // Probe writes a key to test whether etcd accepts writes, and repeats that while changes fail.
  void Probe();
  void ProbeLater();

  etcd::Client& client_;
  const ClusterKeys& keys_;
  core::MapStore& store_;
  const ClusterLogOptions options_;
  const ClusterReader reader_;
  // Random id of this server.
  const std::uint64_t server_;

  std::uint64_t appends_ = 0;
  std::uint64_t loads_ = 0;
  // Number of lanes with a map being loaded.
  std::size_t loading_lanes_ = 0;
  // Newest etcd revision with a change seen, and newest revision up to which etcd has reported everything.
  std::int64_t seen_revision_ = 0;
  std::int64_t told_revision_ = 0;
  NewestKnown newest_;
  absl::flat_hash_map<std::string, std::unique_ptr<MapLane>> lanes_;
  // Maps with new appends, and maps that may be gone.
  std::vector<std::string> to_drive_;
  std::vector<std::string> ended_;
  std::unique_ptr<etcd::Watch> watch_;
  bool is_probing_ = false;
  // True from when the watch has missed changes until everything is read again.
  bool has_gap_ = false;
  bool has_given_up_ = false;
  // Id of the cluster that answers; 0 before the first answer. `gone_back_` is an error once etcd has gone
  // back or was replaced.
  std::uint64_t cluster_ = 0;
  absl::Status gone_back_;

  mutable Mutex mutex_;
  CondVar wake_;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::pair<std::string, Append>> submitted_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::pair<TimePoint, Task>> timers_ ABSL_GUARDED_BY(mutex_);
  // True once the thread has ended; later tasks are dropped.
  bool has_ended_ ABSL_GUARDED_BY(mutex_) = false;
  ClusterLogStatistics statistics_ ABSL_GUARDED_BY(mutex_);
  // True if `statistics_.status` is an error.
  std::atomic<bool> refuses_ = false;
  std::atomic<bool> is_stopping_ = false;
  // Threads that write image files and load changes of other servers.
  TaskThread writer_{"image-writer"};
  TaskThread loader_{"map-loader"};
  std::thread thread_;
};

}  // namespace waystar::cluster
