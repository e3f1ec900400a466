// Commit log of all maps of a server, in the files of a folder.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/core/store/durable_log.h"
#include "server/storage/folder.h"
#include "server/storage/live_maps.h"
#include "server/storage/log_entry.h"
#include "server/storage/record_file.h"

namespace waystar::storage {

enum class Durability {
  // What is acknowledged survives the loss of power.
  kSync,
  // What is acknowledged survives the end of the process; the machine's power only once it is synced.
  kRelaxed,
};

struct CommitLogOptions {
  Durability durability = Durability::kSync;
  // How long what is acknowledged may go without being synced, if relaxed.
  absl::Duration sync_interval = absl::Seconds(1);
  // How long to wait after a failure before another file is begun.
  absl::Duration retry_interval = absl::Seconds(1);
  // Called, by the log's thread, with the error when entries begin to fail, and with OK when they are taken
  // again. May be empty.
  std::function<void(const absl::Status& status)> on_status;
  // Called, by the log's thread, when a file has become as long, and again for each that much more. May be
  // empty.
  std::uint64_t file_bytes = std::uint64_t{128} << 20;
  std::function<void()> on_long_file;
  // A file that is longer takes no entries: they fail until Rotate has begun another.
  std::uint64_t max_file_bytes = std::uint64_t{512} << 20;
};

struct CommitLogStatistics {
  // OK, or why entries fail.
  absl::Status status;
  // The groups that were written since the log was started, the entries in them, and the bytes.
  std::uint64_t groups = 0;
  std::uint64_t entries = 0;
  std::uint64_t written_bytes = 0;
  // How long these entries waited, from their append until they were acknowledged.
  absl::Duration commit_time;
  // The entries that failed.
  std::uint64_t refusals = 0;
  std::uint64_t syncs = 0;
  absl::Duration sync_time;
  // How much of what was acknowledged the loss of power may undo.
  absl::Duration loss_window;
  // The age of the oldest group that was acknowledged and is not synced; zero if there is none.
  absl::Duration unsynced_age;
  // The size of the file that is written.
  std::uint64_t file_bytes = 0;
};

// Returns the name of a log file, and the number in such a name.
std::string LogFileName(std::uint64_t number);
std::optional<std::uint64_t> LogFileNumber(absl::string_view name);

// One thread takes all entries that wait, writes them as one record, syncs the file once, and calls their
// `done`s: a group commit over all maps.
//
// A file in which a write or a sync has failed is not written again. Entries fail with UNAVAILABLE /
// STORAGE_FAILED until another file can be begun, which says how much of the one before counts: what was
// known to be durable. If relaxed, what was acknowledged may be in doubt then; so after a sync that failed
// entries fail for good. The creation of a map that the log has already, because it could not be read at the
// start, fails with ALREADY_EXISTS / MAP_EXISTS.
class CommitLog final : public core::DurableLog {
 public:
  // Begins the file that `start` describes. Returns the errors of the folder, which must outlive the log.
  static absl::StatusOr<std::unique_ptr<CommitLog>> Start(Folder& folder, LogStart start,
                                                          CommitLogOptions options);
  CommitLog(const CommitLog&) = delete;
  CommitLog& operator=(const CommitLog&) = delete;
  // Stops.
  ~CommitLog() override;

  // Writes and syncs what waits, and ends the thread. REQUIRES: nothing is appended afterwards but by
  // `done`s, none of the calls below waits, and it is one thread that calls it.
  void Stop();

  // Begins another file and returns what it begins with. Returns the errors of the folder, and those for
  // which entries fail; what was acknowledged stays so.
  absl::StatusOr<LogStart> Rotate();
  // Returns once all that was acknowledged before is on stable storage, or the error for which entries fail.
  absl::Status Sync();

  CommitLogStatistics Statistics() const;

  void AppendCreation(const core::MapSnapshot& first, Done done) override;
  void AppendCommits(absl::string_view id, std::uint64_t epoch, std::vector<core::LoggedCommit> commits,
                     Done done) override;
  void AppendDeletion(absl::string_view id, core::MapVersion last, Done done) override;

 private:
  using TimePoint = std::chrono::steady_clock::time_point;

  struct Waiting {
    LogEntry entry;
    std::string bytes;
    Done done;
    TimePoint appended;
    absl::Status status;
  };

  // What Rotate and Sync ask the thread for.
  struct Request {
    bool is_rotation = false;
    absl::AnyInvocable<void(absl::StatusOr<LogStart>) &&> done;
  };

  CommitLog(Folder& folder, LogStart start, CommitLogOptions options);

  absl::StatusOr<LogStart> Ask(bool is_rotation);
  void Append(LogEntry entry, std::string bytes, Done done);

  // The rest is the thread's.
  void Run();
  // Waits for entries and returns a group of them; none when there is something else to do.
  std::vector<Waiting> TakeGroup();
  // Returns when there is something to do even if nothing is asked for.
  std::optional<TimePoint> NextTask() const;
  void AnswerRequests();
  absl::StatusOr<LogStart> Answer(bool is_rotation);
  void Commit(std::vector<Waiting>& group);
  absl::Status Write(absl::string_view record);
  absl::Status SyncFile();
  absl::Status BeginFile();
  // Begins a file if there is none.
  absl::Status RequireFile();
  LogStart NextStart() const;
  void Note(const absl::Status& status, std::size_t entries, std::size_t bytes);
  // Ends the file for good. What is beyond `end` does not count; without `end`, it is unknown what counts,
  // and there is never to be another file.
  void GiveUpFile(const absl::Status& failure, std::optional<std::uint64_t> end);

  Folder& folder_;
  const CommitLogOptions options_;

  // Of the file that is written, or of the next one if there is none.
  std::uint64_t number_;
  std::uint64_t previous_end_;
  // Null after a failure.
  std::unique_ptr<RecordWriter> file_;
  LiveMaps maps_;
  absl::Status failure_;
  // When a file may be begun; never if it is the end of time.
  TimePoint retry_at_ = TimePoint::min();
  // When to sync what is acknowledged and not synced.
  std::optional<TimePoint> sync_at_;
  // The size of the file at which on_long_file is called.
  std::uint64_t long_at_ = 0;

  mutable Mutex mutex_;
  CondVar wake_;
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  std::vector<Request> requests_ ABSL_GUARDED_BY(mutex_);
  CommitLogStatistics statistics_ ABSL_GUARDED_BY(mutex_);
  std::optional<TimePoint> unsynced_since_ ABSL_GUARDED_BY(mutex_);
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace waystar::storage
