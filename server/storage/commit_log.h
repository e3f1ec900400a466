// Commit log of all maps of a server, in the files of a folder.
#pragma once

#include <chrono>
#include <cstddef>
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
#include "server/storage/log_mark.h"
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
  // The log is long when its files hold more bytes together than these and the maps that the last one begins
  // with, or are more, or when a replay takes more work, counted as WorkOfCommit: about a second of it.
  std::uint64_t long_bytes = std::uint64_t{64} << 20;
  std::uint64_t long_files = 16;
  std::uint64_t long_work = std::uint64_t{1} << 29;
  // Called, by the log's thread, when the file that is written has become as long, and again for each that
  // much more. May be empty.
  std::function<void()> on_long;
  // Called, by the log's thread, after each sync of a file with how long it took, whether or not it failed.
  // May be empty.
  std::function<void(absl::Duration took)> on_sync;
  // Called, by the log's thread, for each entry that was written, before its `done`, with how long it waited
  // since its append. May be empty.
  std::function<void(absl::Duration waited)> on_commit;
  // Called once, by the log's thread, when it ends: with OK if all that was acknowledged is on stable storage
  // and the next start will know that, else with the error for which it may not be. May be empty.
  std::function<void(const absl::Status& status)> on_end;
  // While all files together are longer, entries fail.
  std::uint64_t max_bytes = std::uint64_t{256} << 20;
  // The longest entry that is taken: a record must hold it, and its length in up to 16 bytes.
  std::size_t max_entry_bytes = kMaxRecordBytes - 16;
};

// A file of the log, but for the one that is written.
struct OldLogFile {
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;
  // What it takes to replay its commits, counted as WorkOfCommit.
  std::uint64_t work = 0;
};

struct CommitLogStatistics {
  // OK, or why entries fail.
  absl::Status status;
  // The bytes that were written since the log was started.
  std::uint64_t written_bytes = 0;
  // The entries that failed: creations, replacements, deletions and groups of updates.
  std::uint64_t refusals = 0;
  // How much of what was acknowledged the loss of power may undo.
  absl::Duration loss_window;
  // The age of the oldest entry that waits to be acknowledged, or was acknowledged and is not known to be on
  // stable storage; zero if there is none.
  absl::Duration unsynced_age;
  // The files, and their sizes together.
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  // What it takes to replay them, counted as WorkOfCommit.
  std::uint64_t work = 0;
};

// Returns the name of a log file, and the number in such a name.
std::string LogFileName(std::uint64_t number);
std::optional<std::uint64_t> LogFileNumber(absl::string_view name);
// Returns whether one of the names is that of a log file.
bool HasLogFile(const std::vector<std::string>& names);

// One thread takes all entries that wait, writes them as one record, syncs the file once, and calls their
// `done`s: a group commit over all maps.
//
// A file in which a write or a sync has failed is not written again. Entries fail with UNAVAILABLE /
// STORAGE_FAILED until another file can be begun, which says how much of the one before counts: what was
// known to be durable. If relaxed, what was acknowledged may be in doubt then; so after a sync that failed
// entries fail for good. So they do when a file was removed or changed under the log. The creation of a map
// that no record can hold fails with RESOURCE_EXHAUSTED / IMPORT_TOO_LARGE.
//
// Before entries are acknowledged, the folder's LogMark says how far the log goes.
class CommitLog final : public core::DurableLog {
 public:
  // Begins the file that `start` describes, which follows the `old` ones. If it cannot be begun, entries fail
  // until it can. The folder must outlive the log.
  CommitLog(Folder& folder, const LogStart& start, std::vector<OldLogFile> old, CommitLogOptions options);
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
  // Returns whether images should be made, so that files can be removed.
  bool IsLong() const;
  // Removes the files before the one of that number.
  absl::Status RemoveFilesBefore(std::uint64_t number);
  // Returns once all that was acknowledged before is on stable storage, with what the next file would begin
  // with, or the error for which entries fail.
  absl::StatusOr<LogStart> Sync();

  CommitLogStatistics Statistics() const;

  void AppendCreation(const core::MapSnapshot& first, const core::CreationRequest& request,
                      Done done) override;
  void AppendReplacement(const core::MapSnapshot& first, core::MapVersion replaced, Done done) override;
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
  // Opens the mark, and writes and syncs it.
  absl::Status BeginMark();
  absl::Status WriteMark();
  absl::Status End();
  // Whether there are a file and a mark to write to.
  bool IsOpen() const { return file_ != nullptr && mark_file_ != nullptr; }
  // Begins what there is not.
  absl::Status RequireFile();
  // Does that, and returns why entries fail if they do.
  absl::Status CheckIsReady();
  LogStart NextStart() const;
  // Returns what an entry fails with.
  absl::Status Refusal(const absl::Status& status) const;
  void Note(const absl::Status& status, std::size_t written_bytes = 0, std::uint64_t work = 0);
  // Ends the file for good. What is beyond `end` does not count; without `end`, it is unknown what counts,
  // and there is never to be another file.
  void GiveUpFile(const absl::Status& failure, std::optional<std::uint64_t> end);
  // Whether another file is begun by itself.
  bool MayRecover() const { return file_ != nullptr || retry_at_ != TimePoint::max(); }

  Folder& folder_;
  const CommitLogOptions options_;

  // Of the file that is written, or of the next one if there is none.
  std::uint64_t number_;
  std::uint64_t previous_end_;
  // Null after a failure.
  std::unique_ptr<RecordWriter> file_;
  std::unique_ptr<SectorFile> mark_file_;
  LogMark mark_;
  LiveMaps maps_;
  absl::Status failure_;
  // When a file may be begun; never if it is the end of time.
  TimePoint retry_at_ = TimePoint::min();
  // When to sync what is acknowledged and not synced.
  std::optional<TimePoint> sync_at_;
  // The size of the file, and the work of replaying it, at which on_long is called.
  std::uint64_t long_at_ = 0;
  std::uint64_t long_at_work_ = 0;

  mutable Mutex mutex_;
  CondVar wake_;
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  std::vector<Request> requests_ ABSL_GUARDED_BY(mutex_);
  CommitLogStatistics statistics_ ABSL_GUARDED_BY(mutex_);
  // When the first of the entries was appended that are being written, and of those that were acknowledged
  // and are not synced.
  std::optional<TimePoint> writing_since_ ABSL_GUARDED_BY(mutex_);
  std::optional<TimePoint> unsynced_since_ ABSL_GUARDED_BY(mutex_);
  std::vector<OldLogFile> old_files_ ABSL_GUARDED_BY(mutex_);
  // The bytes of the file that is written, and of its start; and the work of replaying it.
  std::uint64_t file_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t start_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t file_work_ ABSL_GUARDED_BY(mutex_) = 0;
  // Whether some were removed since the thread has looked whether entries fail.
  bool has_less_files_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace waystar::storage
