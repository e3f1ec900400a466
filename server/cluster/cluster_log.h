// The commit log that the servers of a fleet share, in etcd.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/cluster/cluster_keys.h"
#include "server/cluster/cluster_reader.h"
#include "server/cluster/cluster_values.h"
#include "server/cluster/fleet_images.h"
#include "server/cluster/map_lane.h"
#include "server/cluster/newest_known.h"
#include "server/cluster/task_thread.h"
#include "server/core/store/durable_log.h"
#include "server/core/store/map_store.h"
#include "server/etcd/etcd_client.h"
#include "server/etcd/etcd_watch.h"

namespace waystar::cluster {

struct ClusterLogOptions {
  // How long after a failure it is tried again, and etcd asked whether it is there.
  absl::Duration retry_interval = absl::Milliseconds(200);
  // How long a transaction may get no answer before it is sent again beside.
  absl::Duration resend_interval = absl::Seconds(1);
  // How long the watch may be quiet before another member is tried.
  absl::Duration quiet_timeout = absl::Seconds(5);
  // A map gets a new image once its records are as many, or have as many bytes together.
  std::uint64_t max_records = 4096;
  std::uint64_t max_record_bytes = std::uint64_t{16} << 20;
  // While a map is loaded that others have begun, so many of their changes to it wait, of so many bytes.
  std::size_t max_waiting_changes = 1024;
  std::size_t max_waiting_change_bytes = std::size_t{16} << 20;
  // Where images of maps are put. It must outlive the log.
  ImagePlace images;
  // Called, by the log's thread or StartWithoutEtcd, with the error when changes begin to fail, and with OK
  // when they are taken again. May be empty.
  std::function<void(const absl::Status& status)> on_status;
  // Called, by the log's thread, once, when etcd is not what it was. May be empty.
  std::function<void(const absl::Status& why)> on_gone_back;
  // Called, by the log's thread, with a map that is not served any more and why. May be empty.
  std::function<void(absl::string_view id, const absl::Status& why)> on_broken;
  // Called, by the log's thread, with a map that needs a new image. May be empty.
  std::function<void(absl::string_view id)> on_long;
  // Called, by the thread that loads, before it reads what others have done to a map. May be empty.
  std::function<void(absl::string_view id)> on_load;
  // Called, by the log's thread, for each append that has landed, before its `done`. May be empty.
  std::function<void(absl::Duration waited)> on_commit;
  // Called, by the log's thread or those that start it, with the latest time as of which the store is known
  // to have all that etcd has: ClusterLogStatistics::heard. May be empty.
  std::function<void(std::chrono::steady_clock::time_point heard)> on_heard;
  // Called, by the log's thread or Start, when the store has followed etcd up to a later revision, and
  // listeners have been told. May be empty.
  std::function<void(std::int64_t revision)> on_followed;
};

struct ClusterLogStatistics {
  // OK, or why changes fail.
  absl::Status status;
  // True once etcd was restored or emptied: changes fail until the server is started again.
  bool has_gone_back = false;
  // Transactions of this server that landed, those that lost to others', and groups of commits of others
  // that were followed.
  std::uint64_t landed = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t followed = 0;
  // Maps that are not served, since they did not come out as they should.
  std::uint64_t broken = 0;
  // The revision of etcd up to which this server has followed it.
  std::int64_t revision = 0;
  // How many revisions of etcd it has been told of and has not applied yet.
  std::int64_t lag = 0;
  // Of so many maps something is kept here: of those that there are, and those that a change is on its way
  // to.
  std::size_t maps = 0;
  // When etcd was last asked for its newest revision, of the asks whose answer the store has followed: as of
  // then it has all.
  std::chrono::steady_clock::time_point heard;
};

// Each map has a head, and a commit is one transaction that compares the head with the one that the commit
// was composed upon, and puts a record of the log and the next head. So of two servers that commit at once
// one conflicts: its store follows the other's record and tries again. All appends of a map that wait go into
// one transaction, as far as a record has room for them. What one value has no room for is put in parts
// before.
//
// A transaction whose outcome is unknown is sent again, until it is known: it is applied at most once, since
// it changes the head that it compares with, and the head names the append that put it there.
//
// While etcd cannot be reached, appends fail with UNAVAILABLE / STORAGE_FAILED at once. While it is full,
// they fail with RESOURCE_EXHAUSTED / STORAGE_FULL, but for deletions: these put nothing then. Once etcd is
// another cluster than before, or at an earlier revision, nothing that the store has can be trusted to follow
// from what is there: the log follows nothing any more, and all appends fail with UNAVAILABLE /
// STORAGE_FAILED.
//
// A map that others have begun is read and prepared on another thread, and so is what one record has no room
// for. What else happens to the map waits meanwhile; other maps go on.
//
// Thread safety: any method may be called from any thread, except Start and Stop.
class ClusterLog final : public core::DurableLog {
 public:
  // The client, the keys and the store must outlive the log.
  ClusterLog(etcd::Client& client, const ClusterKeys& keys, core::MapStore& store, ClusterLogOptions options);
  ClusterLog(const ClusterLog&) = delete;
  ClusterLog& operator=(const ClusterLog&) = delete;
  // Stops.
  ~ClusterLog() override;

  // Knows a map that the store has, or that it cannot have, as it was read. REQUIRES: the log is not started.
  void Know(const std::string& id, const FleetMap& map, bool is_broken);
  // Follows the log from there on. `read` is when the read of those maps began. REQUIRES: the maps that there
  // were at that revision of etcd, its newest, are known.
  void Start(std::int64_t revision, std::chrono::steady_clock::time_point read);
  // Knows a map that the store has, though etcd cannot be asked for it. REQUIRES: the log is not started.
  void KnowCached(const std::string& id, core::MapVersion version);
  // Follows the log once etcd is there, and refuses changes until then. `known_at` is when etcd told last
  // that the store has all.
  void StartWithoutEtcd(absl::Time known_at);
  // Answers all that waits, and all that is appended afterwards, with UNAVAILABLE / STORAGE_FAILED, though it
  // may have been applied.
  void GiveUp();
  // Gives up and ends the threads. REQUIRES: nothing is appended afterwards but by `done`s.
  void Stop();

  // Has the log count records from its newest image on.
  void NoteImage(const std::string& id, core::MapVersion version);

  // Runs a task on the log's thread, between two entries that it follows. Returns what the task returns;
  // UNAVAILABLE if the log stops before it runs. REQUIRES: the caller is no thread of the log.
  absl::Status Call(std::function<absl::Status()> task);

  ClusterLogStatistics Statistics() const;
  // Returns the number by which this server is known in the fleet.
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

  void Post(Task task);
  void PostAfter(absl::Duration delay, Task task);
  void Submit(absl::string_view id, Append append);
  // Returns the lane of a map, which is new if there is none.
  MapLane& LaneOf(const std::string& id);
  // Returns null if there is none.
  MapLane* FindLane(const std::string& id);
  // Returns the lane if that transaction is on its way there; else null.
  MapLane* LaneThatSends(const std::string& id, AppendName name);
  // Erases the lanes of maps that are gone.
  void ForgetEnded();

  void StartThread(Task first);

  // The rest is the thread's.
  void Run();
  // Moves what was submitted into the lanes. Once the store has followed another server, all that it has
  // appended before is there.
  void TakeSubmitted();
  void DriveSubmitted();
  // Sends what waits, unless something is on its way.
  void Drive(const std::string& id);
  // Makes the transaction of the first appends that wait.
  Sending Compose(const std::string& id, MapLane& lane);
  void ComposeBeginning(const std::string& id, Append& append, const MapLane& lane, Sending& sending);
  void ComposeCommits(const std::string& id, MapLane& lane, Sending& sending);
  void Send(const std::string& id);
  void OnPart(const std::string& id, AppendName name, const absl::StatusOr<etcd::TxnResult>& result);
  void OnFile(const std::string& id, AppendName name, const absl::Status& status);
  void OnTxn(const std::string& id, AppendName name, const absl::StatusOr<etcd::TxnResult>& result);
  // Puts parts again that were deleted before the transaction came.
  void SendPartsAgain(const std::string& id);
  // Deletes parts that are not needed after all. What stays takes space, and does no other harm.
  void DeleteParts(const Sending& sending);
  void OnFailure(const std::string& id, const absl::Status& status);
  // Finds out what became of a transaction that was refused for want of space: etcd may have applied it all
  // the same, if it was full only when it came to that.
  void LookWhetherApplied(const std::string& id, const absl::Status& refusal);
  void SendLater(const std::string& id, AppendName name);
  // Takes note of appends that have landed, and tells their `done`s; OnLanded sends the next, too.
  void Land(const std::string& id, std::int64_t revision);
  void OnLanded(const std::string& id, std::int64_t revision);
  // Gives all that waits the outcome; what they append again is not part of it.
  void Answer(const std::string& id, const core::AppendOutcome& outcome);
  void AnswerAll(const absl::Status& status);
  // Gives all that waits a conflict, once the store has followed others: what it has appended before is lost,
  // whatever it seems to follow.
  void Conflict(const std::string& id);
  // Gives appends that do not follow what the store has the outcome of those that they were made upon.
  void DropLost(const std::string& id);

  void BeginWatch(std::int64_t revision);
  // Takes note that the store had all at that time.
  void NoteHeard(TimePoint at);
  // Asks etcd for its newest revision, again and again. At rest, the store is known to have all as of three
  // intervals ago at the latest.
  absl::Duration AskInterval() const;
  // Takes the answer. `known` is a revision that etcd had told before it was asked.
  void OnNewest(TimePoint asked, std::int64_t known, std::int64_t newest, std::uint64_t cluster);
  // Ends all that depends on etcd being what it was.
  void StopFollowing(const absl::Status& why);
  void AskNewest();
  // Takes note that the store has all up to that revision.
  void NoteFollowed(std::int64_t revision);
  void OnEvents(std::int64_t revision, std::vector<etcd::WatchEvent> events);
  void OnChange(const std::string& id, MapChange change);
  // Whether this server has made the change.
  static bool IsOwn(const MapLane& lane, const MapChange& change, const absl::StatusOr<MapHead>& head);
  // Has the store follow the record of others.
  void Follow(const std::string& id, std::int64_t revision, const MapHead& head, const std::string& record);
  // Takes note of what was followed, which has led there, or has failed.
  void OnFollowed(const std::string& id, std::int64_t revision, core::MapVersion after,
                  const absl::Status& status, bool is_record);
  // What is read from etcd on a thread of its own: what the log's thread does with it, or an error.
  using Taking = absl::AnyInvocable<absl::Status() &&>;
  struct Loading {
    std::uint64_t number = 0;
    std::int64_t revision = 0;
    // Where it leads, and whether as a record or as a beginning.
    core::MapVersion after;
    bool is_record = false;
    std::function<absl::StatusOr<Taking>()> fetch;
  };
  // Begins to load what others have done to a map.
  void BeginLoading(const std::string& id, Loading loading);
  void Load(const std::string& id, const Loading& loading);
  absl::StatusOr<storage::MapState> Fetch(const std::string& id, std::int64_t revision) const;
  void OnLoaded(const std::string& id, const Loading& loading, absl::StatusOr<Taking> taking);
  void LetWait(MapLane& lane, MapChange change) const;
  // Forgets what waits for a map to be loaded.
  void StopLoading(MapLane& lane);
  void EndLoading(MapLane& lane);
  // Takes note of what is known up to the latest revision that was told, unless a map of it is being loaded.
  void NoteAllSeen();
  // Gives the store a map as of its image: a new one, or a later revision of the one that it has.
  absl::Status Take(const std::string& id, storage::MapState map);
  // Reads all afresh, after the watch has missed something.
  void ReadAfresh();
  // Brings a map to what was read; null if there is none now. Returns an error if etcd could not be read.
  absl::Status Renew(const std::string& id, const FleetMaps& found);
  absl::Status CatchUp(const std::string& id, const FleetMap& map, std::int64_t revision);
  // Returns whether the store has the map as its head says. Of an unloaded map it has the version alone.
  bool IsAt(const std::string& id, const MapHead& head) const;
  // Serves a map no more, whose log leads to that version.
  void Break(const std::string& id, const absl::Status& why, core::MapVersion after);
  void SetStatus(const absl::Status& status);
  // Probes each time when nothing was heard for too long.
  void Listen();
  // Sends transactions again, from time to time, that get no answer, as when a leader has died with them.
  void SendSlowOnesAgain();
  // Look whether etcd takes anything, again and again while it does not.
  void Probe();
  void ProbeLater();

  etcd::Client& client_;
  const ClusterKeys& keys_;
  core::MapStore& store_;
  const ClusterLogOptions options_;
  const ClusterReader reader_;
  // Of this server.
  const std::uint64_t server_;

  std::uint64_t appends_ = 0;
  std::uint64_t loads_ = 0;
  // The lanes that have a loading.
  std::size_t loading_lanes_ = 0;
  // The latest revision of etcd of which something was seen, and the one up to which all was told.
  std::int64_t seen_revision_ = 0;
  std::int64_t told_revision_ = 0;
  NewestKnown newest_;
  absl::flat_hash_map<std::string, std::unique_ptr<MapLane>> lanes_;
  // The maps with something new that waits, and those that may be gone.
  std::vector<std::string> to_drive_;
  std::vector<std::string> ended_;
  std::unique_ptr<etcd::Watch> watch_;
  bool is_probing_ = false;
  // From when the watch has missed something until all is read.
  bool has_gap_ = false;
  bool has_given_up_ = false;
  // The cluster that answers; 0 before the first answer. An error if it has gone back.
  std::uint64_t cluster_ = 0;
  absl::Status gone_back_;

  mutable Mutex mutex_;
  CondVar wake_;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::pair<std::string, Append>> submitted_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::pair<TimePoint, Task>> timers_ ABSL_GUARDED_BY(mutex_);
  // Whether the thread has ended, and takes no tasks any more.
  bool has_ended_ ABSL_GUARDED_BY(mutex_) = false;
  ClusterLogStatistics statistics_ ABSL_GUARDED_BY(mutex_);
  // Whether the status is an error.
  std::atomic<bool> refuses_ = false;
  std::atomic<bool> is_stopping_ = false;
  // Write images to files, and load maps that others have begun.
  TaskThread writer_{"image-writer"};
  TaskThread loader_{"map-loader"};
  std::thread thread_;
};

}  // namespace waystar::cluster
