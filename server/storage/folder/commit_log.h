// Commit log of all maps of a server, stored in files of one folder.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/base/thread.h"
#include "server/core/store/durable_log.h"
#include "server/storage/folder/folder.h"
#include "server/storage/folder/log_entry.h"
#include "server/storage/folder/record_file.h"

namespace waystar::storage {

inline constexpr absl::string_view kMarkName = "MARK";

// Mark of the end of the log, by which the next start detects that the end was cut off. Each commit
// overwrites it before it is acknowledged, but only the start and the end of a log sync it. So the mark is
// exact after the end of the process, and may be old after a power failure.
struct LogMark {
  // Number of the current log file; 0 if there is none yet.
  std::uint64_t file = 0;
  // Valid bytes of that file.
  std::uint64_t end = 0;
  // True if acknowledged commits may not be on stable storage yet.
  bool is_relaxed = false;
  // True if the log was stopped properly and the mark was synced.
  bool is_ended = false;
  // Result of Folder::SystemRun when the mark was written.
  std::string run;
};

// Returns a line of text that fits into a sector. All marks have the same length.
std::string EncodeMark(const LogMark& mark);
// Returns nullopt if the bytes are not from EncodeMark.
std::optional<LogMark> DecodeMark(absl::string_view bytes);

enum class Durability {
  // Acknowledged commits survive a power failure.
  kSync,
  // Acknowledged commits survive the end of the process. They survive a power failure only once they are
  // synced.
  kRelaxed,
};

struct CommitLogOptions {
  Durability durability = Durability::kSync;
  // With relaxed durability: longest time until an acknowledged commit is synced.
  absl::Duration sync_interval = absl::Seconds(1);
  // Delay after a failure before a new file is created.
  absl::Duration retry_interval = absl::Seconds(1);
  // Called by the log's thread: with the error when entries begin to fail, with OK when they succeed again.
  // May be empty.
  std::function<void(const absl::Status& status)> on_status;
  // Thresholds above which the log counts as long: bytes of all files beyond the maps listed at the start of
  // the last one, number of files, and replay work as counted by WorkOfCommit (about one second).
  std::uint64_t long_bytes = std::uint64_t{64} << 20;
  std::uint64_t long_files = 16;
  std::uint64_t long_work = std::uint64_t{1} << 29;
  // Called by the log's thread when the current file exceeds `long_bytes` or `long_work`, and again after
  // each further such amount. May be empty.
  std::function<void()> on_long;
  // Called by the log's thread after each sync of a file, failed or not, with its duration. May be empty.
  std::function<void(absl::Duration took)> on_sync;
  // Called by the log's thread for each written entry, before its `done`, with the time since its append. May
  // be empty.
  std::function<void(absl::Duration waited)> on_commit;
  // Called once by the log's thread when it ends: with OK if everything acknowledged is on stable storage and
  // the mark says so, else with the error. May be empty.
  std::function<void(const absl::Status& status)> on_end;
  // Limit on the size of all files. Entries fail while it is exceeded.
  std::uint64_t max_bytes = std::uint64_t{256} << 20;
  // Maximum size of an entry. A record holds it and its length of up to 16 bytes.
  std::size_t max_entry_bytes = kMaxRecordBytes - 16;
};

// A log file that is not written any more.
struct OldLogFile {
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;
  // Work to replay its commits, as counted by WorkOfCommit.
  std::uint64_t work = 0;
};

struct CommitLogStatistics {
  // OK, or the reason why entries fail.
  absl::Status status;
  // Bytes of entries written since the start of the log.
  std::uint64_t written_bytes = 0;
  // Entries that failed: creations, replacements, deletions and groups of updates.
  std::uint64_t refusals = 0;
  // How much acknowledged time a power failure may undo.
  absl::Duration loss_window;
  // Age of the oldest entry that is waiting, or acknowledged and not yet on stable storage; zero if there is
  // none.
  absl::Duration unsynced_age;
  // Number and total size of the log files.
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  // Work to replay the log files, as counted by WorkOfCommit.
  std::uint64_t work = 0;
};

// LogFileName returns the name of a log file; LogFileNumber parses one, and returns nullopt for other names.
std::string LogFileName(std::uint64_t number);
std::optional<std::uint64_t> LogFileNumber(absl::string_view name);
// Returns true if any of the names is that of a log file.
bool HasLogFile(const std::vector<std::string>& names);

// One thread takes all waiting entries, writes them as one record, syncs the file once, and calls their
// `done`s: a group commit over all maps.
//
// After a failed write or sync, a file is never written again. Entries fail with UNAVAILABLE / STORAGE_FAILED
// until a new file can be created; its first record says how much of the previous file counts: the part known
// to be durable. With relaxed durability, a failed sync leaves acknowledged commits in doubt, so entries then
// fail for good. They also fail for good if a file was removed or changed by someone else. An entry above
// `max_entry_bytes` fails with RESOURCE_EXHAUSTED / IMPORT_TOO_LARGE.
//
// Before entries are acknowledged, the end of the log is written to the folder's LogMark.
class CommitLog final : public core::DurableLog {
 public:
  // Creates the file that `start` describes, after the `old` ones. If that fails, it is retried, and entries
  // fail meanwhile. The folder must outlive the log.
  CommitLog(Folder& folder, const LogStart& start, std::vector<OldLogFile> old, CommitLogOptions options);
  CommitLog(const CommitLog&) = delete;
  CommitLog& operator=(const CommitLog&) = delete;
  // Calls Stop.
  ~CommitLog() override { Stop(); }

  // Writes and syncs all waiting entries, and ends the thread.
  // REQUIRES: only `done` callbacks append afterwards.
  // REQUIRES: no call of Rotate or Sync is in progress.
  // REQUIRES: only one thread calls this.
  void Stop() { thread_.Stop(mutex_); }

  // Starts a new file and returns its start. Returns the errors of the folder, and the reason why entries
  // fail. Acknowledged commits stay valid in either case.
  absl::StatusOr<LogStart> Rotate();
  // Returns true if images should be made so that files can be removed.
  bool IsLong() const;
  // Removes all files with a smaller number.
  absl::Status RemoveFilesBefore(std::uint64_t number);
  // Waits until everything acknowledged before is on stable storage. Returns the start that a next file would
  // have, or the reason why entries fail.
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

  // A call of Rotate or Sync that waits for the thread.
  struct Request {
    bool is_rotation = false;
    absl::AnyInvocable<void(absl::StatusOr<LogStart>) &&> done;
  };

  absl::StatusOr<LogStart> Ask(bool is_rotation);
  void Append(EncodedEntry entry, Done done);

  // The methods below run on the log's thread.
  void Run();
  // Waits for work and returns the next group of entries; empty if there is only other work.
  std::vector<Waiting> TakeGroup();
  // Returns the time of the next sync or retry.
  std::optional<TimePoint> NextTask() const;
  void AnswerRequests();
  absl::StatusOr<LogStart> Answer(bool is_rotation);
  void Commit(std::vector<Waiting>& group);
  absl::Status Write(absl::string_view record);
  absl::Status SyncFile();
  absl::Status BeginFile();
  // Opens, writes and syncs the mark.
  absl::Status BeginMark();
  absl::Status WriteMark();
  absl::Status End();
  // True if both the file and the mark are open.
  bool IsOpen() const { return file_ != nullptr && mark_file_ != nullptr; }
  // Opens the file and the mark if they are not open.
  absl::Status RequireFile();
  // Calls RequireFile, and returns the reason why entries fail.
  absl::Status CheckIsReady();
  LogStart NextStart() const;
  // Returns the error of an entry that failed with `status`.
  absl::Status Refusal(const absl::Status& status) const;
  void Note(const absl::Status& status, std::size_t written_bytes = 0, std::uint64_t work = 0);
  // Closes the file for good. Bytes beyond `end` do not count. Without `end` it is unknown what counts, and
  // no other file is ever created.
  void GiveUpFile(const absl::Status& failure, std::optional<std::uint64_t> end);
  // Returns true if the log has a file or will retry to create one.
  bool MayRecover() const { return file_ != nullptr || retry_at_ != TimePoint::max(); }

  Folder& folder_;
  const CommitLogOptions options_;

  // Number of the current file, or of the next one if there is none, and how much of the file before it
  // counts.
  std::uint64_t number_;
  std::uint64_t previous_end_;
  // Null after a failure.
  std::unique_ptr<RecordWriter> file_;
  std::unique_ptr<SectorFile> mark_file_;
  LogMark mark_;
  LiveMaps maps_;
  absl::Status failure_;
  // When to retry to create a file; TimePoint::max() means never.
  TimePoint retry_at_ = TimePoint::min();
  // When to sync acknowledged entries; unset if all are synced.
  std::optional<TimePoint> sync_at_;
  // Size of the file and replay work at which on_long is called next.
  std::uint64_t long_at_ = 0;
  std::uint64_t long_at_work_ = 0;

  mutable Mutex mutex_;
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  std::vector<Request> requests_ ABSL_GUARDED_BY(mutex_);
  CommitLogStatistics statistics_ ABSL_GUARDED_BY(mutex_);
  // Append time of the oldest entry being written, and of the oldest one acknowledged but not synced.
  std::optional<TimePoint> writing_since_ ABSL_GUARDED_BY(mutex_);
  std::optional<TimePoint> unsynced_since_ ABSL_GUARDED_BY(mutex_);
  std::vector<OldLogFile> old_files_ ABSL_GUARDED_BY(mutex_);
  // Size of the current file, size of its start, and work to replay it.
  std::uint64_t file_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t start_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t file_work_ ABSL_GUARDED_BY(mutex_) = 0;
  // True if files were removed since the thread last checked the size limit.
  bool has_less_files_ ABSL_GUARDED_BY(mutex_) = false;
  StoppableThread thread_;
};

}  // namespace waystar::storage
