#include "server/storage/folder/commit_log.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "server/base/error.h"
#include "server/base/random_id.h"

namespace waystar::storage {
namespace {

constexpr absl::string_view kLogPrefix = "log-";
constexpr std::size_t kDigits = 12;

// A group is closed at this size.
constexpr std::size_t kMaxGroupBytes = std::size_t{64} << 20;

absl::Status StorageFailed(absl::string_view message) {
  return MakeError(ErrorReason::kStorageFailed, "", message);
}

void NoteMinimum(std::optional<std::chrono::steady_clock::time_point> candidate,
                 std::optional<std::chrono::steady_clock::time_point>& minimum) {
  if (candidate && (!minimum || *candidate < *minimum)) {
    minimum = candidate;
  }
}

absl::Status IsTooLarge(absl::string_view id) {
  return MakeError(ErrorReason::kImportTooLarge, "",
                   absl::StrCat("map \"", id, "\" is too large for the log"));
}

}  // namespace

std::string LogFileName(std::uint64_t number) {
  return absl::StrFormat("%s%0*d", kLogPrefix, kDigits, number);
}

std::optional<std::uint64_t> LogFileNumber(absl::string_view name) {
  std::uint64_t number = 0;
  const bool is_number = absl::SimpleAtoi(absl::StripPrefix(name, kLogPrefix), &number);
  return is_number && LogFileName(number) == name ? std::optional(number) : std::nullopt;
}

bool HasLogFile(const std::vector<std::string>& names) {
  return std::ranges::any_of(names, [](const std::string& name) { return LogFileNumber(name).has_value(); });
}

CommitLog::CommitLog(Folder& folder, const LogStart& start, std::vector<OldLogFile> old,
                     CommitLogOptions options)
    : folder_(folder),
      options_(std::move(options)),
      number_(start.number),
      previous_end_(start.previous_end),
      mark_{.is_relaxed = options_.durability == Durability::kRelaxed, .run = folder.SystemRun()},
      maps_(start),
      old_files_(std::move(old)) {
  Note(RequireFile());
  thread_.Start("commit-log", [this] { Run(); });
}

void CommitLog::AppendCreation(const core::MapSnapshot& first, const core::CreationRequest& request,
                               Done done) {
  Append(EncodeCreation(first, request), std::move(done));
}

void CommitLog::AppendReplacement(const core::MapSnapshot& first, core::MapVersion replaced, Done done) {
  Append(EncodeReplacement(first, replaced), std::move(done));
}

void CommitLog::AppendCommits(absl::string_view id, std::uint64_t epoch,
                              std::vector<core::LoggedCommit> commits, Done done) {
  Append(EncodeCommits(id, epoch, commits), std::move(done));
}

void CommitLog::AppendDeletion(absl::string_view id, core::MapVersion last, Done done) {
  Append(EncodeDeletion(id, last), std::move(done));
}

void CommitLog::Append(EncodedEntry entry, Done done) {
  const TimePoint now = std::chrono::steady_clock::now();
  MutexLock lock(mutex_);
  waiting_.push_back({.entry = std::move(entry.entry),
                      .bytes = std::move(entry.bytes),
                      .done = std::move(done),
                      .appended = now});
  thread_.Wake();
}

absl::StatusOr<LogStart> CommitLog::Rotate() { return Ask(true); }

absl::StatusOr<LogStart> CommitLog::Sync() { return Ask(false); }

absl::StatusOr<LogStart> CommitLog::Ask(bool is_rotation) {
  return CallAndWait<absl::StatusOr<LogStart>>([&](auto done) {
    MutexLock lock(mutex_);
    requests_.push_back({.is_rotation = is_rotation, .done = std::move(done)});
    thread_.Wake();
  });
}

void CommitLog::Run() {
  while (true) {
    std::vector<Waiting> group = TakeGroup();
    if (!group.empty()) {
      Commit(group);
      for (Waiting& waiting : group) {
        std::move(waiting.done)(std::move(waiting.status));
      }
    }
    if (file_ != nullptr && sync_at_ && std::chrono::steady_clock::now() >= *sync_at_) {
      if (const absl::Status status = SyncFile(); !status.ok()) {
        GiveUpFile(status, std::nullopt);
      }
    }
    // Reports a recovery even if no entry arrives.
    Note(CheckIsReady());
    AnswerRequests();
    MutexLock lock(mutex_);
    if (thread_.is_stopping() && waiting_.empty()) {
      break;
    }
  }
  const absl::Status ended = End();
  Note(ended);
  if (options_.on_end) {
    options_.on_end(ended);
  }
}

absl::Status CommitLog::End() {
  if (!IsOpen()) {
    return failure_;
  }
  WAYSTAR_RETURN_IF_ERROR(SyncFile());
  // An empty record proves that everything before it was synced: a later mismatch is damage, not a torn
  // write.
  WAYSTAR_RETURN_IF_ERROR(file_->Append(""));
  WAYSTAR_RETURN_IF_ERROR(SyncFile());
  mark_.is_ended = true;
  WAYSTAR_RETURN_IF_ERROR(WriteMark());
  return mark_file_->Sync();
}

std::optional<CommitLog::TimePoint> CommitLog::NextTask() const {
  if (IsOpen()) {
    return sync_at_;
  }
  return retry_at_ == TimePoint::max() ? std::nullopt : std::optional(retry_at_);
}

std::vector<CommitLog::Waiting> CommitLog::TakeGroup() {
  const std::optional<TimePoint> next_task = NextTask();
  std::vector<Waiting> group;
  MutexLock lock(mutex_);
  while (waiting_.empty() && requests_.empty() && !thread_.is_stopping() && !has_less_files_) {
    if (!next_task) {
      thread_.Wait(mutex_);
    } else if (std::chrono::steady_clock::now() < *next_task) {
      thread_.WaitUntil(mutex_, *next_task);
    } else {
      break;
    }
  }
  has_less_files_ = false;
  std::size_t bytes = 0;
  while (!waiting_.empty() && (group.empty() || bytes + waiting_.front().bytes.size() <= kMaxGroupBytes)) {
    bytes += waiting_.front().bytes.size();
    group.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  if (!group.empty()) {
    writing_since_ = group.front().appended;
  }
  return group;
}

void CommitLog::AnswerRequests() {
  std::vector<Request> requests;
  {
    MutexLock lock(mutex_);
    requests.swap(requests_);
  }
  for (Request& request : requests) {
    absl::StatusOr<LogStart> answer = Answer(request.is_rotation);
    Note(CheckIsReady());
    std::move(request.done)(std::move(answer));
  }
}

absl::StatusOr<LogStart> CommitLog::Answer(bool is_rotation) {
  WAYSTAR_RETURN_IF_ERROR(RequireFile());
  if (file_->synced() < file_->size()) {
    if (const absl::Status status = SyncFile(); !status.ok()) {
      GiveUpFile(status, std::nullopt);
      return status;
    }
  }
  if (is_rotation) {
    // Creation may fail after the new file was published, so the old one must not be written any more.
    GiveUpFile(absl::OkStatus(), file_->size());
    retry_at_ = TimePoint::min();
    WAYSTAR_RETURN_IF_ERROR(RequireFile());
  }
  return NextStart();
}

void CommitLog::Commit(std::vector<Waiting>& group) {
  absl::Status status = CheckIsReady();
  std::string record;
  std::uint64_t work = 0;
  std::vector<LiveMaps::Before> before;
  for (Waiting& waiting : group) {
    waiting.status = status;
    if (status.ok() && waiting.bytes.size() > options_.max_entry_bytes) {
      waiting.status = IsTooLarge(waiting.entry.map);
    }
    if (waiting.status.ok()) {
      absl::StatusOr<LiveMaps::Before> followed = maps_.Follow(waiting.entry);
      waiting.status = followed.status();
      if (followed.ok()) {
        before.push_back(*std::move(followed));
        AddEntry(waiting.bytes, record);
        work += waiting.entry.work;
      }
    }
  }
  if (!record.empty()) {
    status = Write(record);
  }
  if (!status.ok()) {
    for (; !before.empty(); before.pop_back()) {
      maps_.TakeBack(std::move(before.back()));
    }
  }
  const TimePoint now = std::chrono::steady_clock::now();
  std::uint64_t refusals = 0;
  for (Waiting& waiting : group) {
    if (waiting.status.ok()) {
      waiting.status = status;
    }
    if (waiting.status.ok()) {
      if (options_.on_commit) {
        options_.on_commit(absl::FromChrono(now - waiting.appended));
      }
    } else if (ErrorReasonOf(waiting.status).empty()) {
      ++refusals;
      waiting.status = Refusal(waiting.status);
    }
  }
  if (status.ok()) {
    Note(status, record.size(), work);
  } else {
    Note(status);
  }
  MutexLock lock(mutex_);
  statistics_.refusals += refusals;
  writing_since_.reset();
}

absl::Status CommitLog::Refusal(const absl::Status& status) const {
  return MayRecover() ? WithRetryDelay(StorageFailed(status.message()), options_.retry_interval)
                      : StorageFailed(absl::StrCat(status.message(),
                                                   "; changes are refused until the server is restarted"));
}

absl::Status CommitLog::Write(absl::string_view record) {
  const std::uint64_t end = file_->size();
  if (const absl::Status is_there = file_->CheckIsThere(); !is_there.ok()) {
    GiveUpFile(is_there, std::nullopt);
    return is_there;
  }
  if (const absl::Status written = file_->Append(record); !written.ok()) {
    // Entries acknowledged before may still become durable.
    const bool is_safe = file_->synced() == end || SyncFile().ok();
    GiveUpFile(written, is_safe ? std::optional(end) : std::nullopt);
    return written;
  }
  if (options_.durability == Durability::kRelaxed) {
    if (!sync_at_) {
      sync_at_ = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(options_.sync_interval);
    }
    {
      MutexLock lock(mutex_);
      NoteMinimum(writing_since_, unsynced_since_);
    }
  } else if (const absl::Status synced = SyncFile(); !synced.ok()) {
    GiveUpFile(synced, end);
    return synced;
  }
  if (const absl::Status marked = WriteMark(); !marked.ok()) {
    GiveUpFile(marked, file_->synced() == file_->size() ? std::optional(end) : std::nullopt);
    return marked;
  }
  return absl::OkStatus();
}

absl::Status CommitLog::WriteMark() {
  mark_.file = number_;
  mark_.end = file_->size();
  return mark_file_->Overwrite(EncodeMark(mark_));
}

absl::Status CommitLog::SyncFile() {
  sync_at_.reset();
  const TimePoint begin = std::chrono::steady_clock::now();
  const absl::Status status = file_->Sync();
  if (options_.on_sync) {
    options_.on_sync(absl::FromChrono(std::chrono::steady_clock::now() - begin));
  }
  if (status.ok()) {
    MutexLock lock(mutex_);
    unsynced_since_.reset();
  }
  return status;
}

absl::Status CommitLog::RequireFile() {
  if (IsOpen()) {
    return absl::OkStatus();
  }
  if (std::chrono::steady_clock::now() < retry_at_) {
    return failure_;
  }
  const absl::Status begun = file_ == nullptr ? BeginFile() : BeginMark();
  if (!begun.ok()) {
    failure_ = begun;
    retry_at_ = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(options_.retry_interval);
  }
  return begun;
}

absl::Status CommitLog::CheckIsReady() {
  WAYSTAR_RETURN_IF_ERROR(RequireFile());
  return Statistics().bytes <= options_.max_bytes
             ? absl::OkStatus()
             : absl::ResourceExhaustedError(
                   "the log is at its limit, since images of maps are not made as fast as it grows");
}

absl::Status CommitLog::BeginFile() {
  WAYSTAR_ASSIGN_OR_RETURN(std::unique_ptr<RecordWriter> file,
                           RecordWriter::Create(folder_, LogFileName(number_), FileKind::kLog, RandomId()));
  WAYSTAR_RETURN_IF_ERROR(file->Append(EncodeStart(NextStart())));
  WAYSTAR_RETURN_IF_ERROR(file->Publish());
  file_ = std::move(file);
  long_at_ = file_->size() + options_.long_bytes;
  long_at_work_ = options_.long_work;
  {
    MutexLock lock(mutex_);
    start_bytes_ = file_->size();
    file_bytes_ = start_bytes_;
  }
  if (mark_file_ == nullptr) {
    return BeginMark();
  }
  if (const absl::Status marked = WriteMark(); !marked.ok()) {
    GiveUpFile(marked, file_->size());
    return marked;
  }
  return absl::OkStatus();
}

// Called only once the first file exists: that file records the maps' current epochs. Until then, the old
// mark is the reason for their new epochs.
absl::Status CommitLog::BeginMark() {
  WAYSTAR_ASSIGN_OR_RETURN(mark_file_, folder_.OpenSector(kMarkName));
  absl::Status status = WriteMark();
  if (status.ok()) {
    status = mark_file_->Sync();
  }
  if (status.ok()) {
    // The file may be new.
    status = folder_.SyncNames();
  }
  if (!status.ok()) {
    mark_file_.reset();
  }
  return status;
}

LogStart CommitLog::NextStart() const {
  return {.number = number_, .previous_end = previous_end_, .maps = maps_.All()};
}

void CommitLog::Note(const absl::Status& status, std::size_t written_bytes, std::uint64_t work) {
  const std::uint64_t file_bytes = file_ == nullptr ? 0 : file_->size();
  std::uint64_t file_work = 0;
  bool has_turned = false;
  {
    MutexLock lock(mutex_);
    has_turned = statistics_.status.ok() != status.ok();
    statistics_.status = status;
    file_bytes_ = file_bytes;
    file_work_ += work;
    file_work = file_work_;
    statistics_.written_bytes += written_bytes;
  }
  if (has_turned && options_.on_status) {
    options_.on_status(status);
  }
  if ((file_bytes > long_at_ || file_work > long_at_work_) && options_.on_long) {
    long_at_ = file_bytes + options_.long_bytes;
    long_at_work_ = file_work + options_.long_work;
    options_.on_long();
  }
}

CommitLogStatistics CommitLog::Statistics() const {
  MutexLock lock(mutex_);
  CommitLogStatistics statistics = statistics_;
  statistics.loss_window =
      options_.durability == Durability::kRelaxed ? options_.sync_interval : absl::ZeroDuration();
  std::optional<TimePoint> oldest = unsynced_since_;
  NoteMinimum(writing_since_, oldest);
  if (!waiting_.empty()) {
    NoteMinimum(waiting_.front().appended, oldest);
  }
  if (oldest) {
    statistics.unsynced_age = absl::FromChrono(std::chrono::steady_clock::now() - *oldest);
  }
  statistics.files = old_files_.size() + (file_bytes_ > 0 ? 1 : 0);
  statistics.bytes = file_bytes_;
  statistics.work = file_work_;
  for (const OldLogFile& file : old_files_) {
    statistics.bytes += file.bytes;
    statistics.work += file.work;
  }
  return statistics;
}

bool CommitLog::IsLong() const {
  const CommitLogStatistics statistics = Statistics();
  MutexLock lock(mutex_);
  return statistics.bytes > start_bytes_ + options_.long_bytes || statistics.files > options_.long_files ||
         statistics.work > options_.long_work;
}

absl::Status CommitLog::RemoveFilesBefore(std::uint64_t number) {
  std::vector<OldLogFile> old;
  {
    MutexLock lock(mutex_);
    old = old_files_;
  }
  for (const OldLogFile& file : old) {
    if (file.number < number) {
      WAYSTAR_RETURN_IF_ERROR(RemoveIfThere(folder_, LogFileName(file.number)));
      MutexLock lock(mutex_);
      std::erase_if(old_files_, [&](const OldLogFile& one) { return one.number == file.number; });
      has_less_files_ = true;
      thread_.Wake();
    }
  }
  return absl::OkStatus();
}

void CommitLog::GiveUpFile(const absl::Status& failure, std::optional<std::uint64_t> end) {
  failure_ = failure;
  sync_at_.reset();
  {
    MutexLock lock(mutex_);
    old_files_.push_back({.number = number_, .bytes = file_->size(), .work = file_work_});
    file_bytes_ = 0;
    file_work_ = 0;
    start_bytes_ = 0;
  }
  file_.reset();
  if (end) {
    ++number_;
    previous_end_ = *end;
    retry_at_ = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(options_.retry_interval);
  } else {
    retry_at_ = TimePoint::max();
  }
}

namespace {

constexpr absl::string_view kTitle = "waystar-mark-1";
constexpr absl::string_view kNoRun = "-";
constexpr int kTextBytes = 151;
constexpr std::size_t kMarkBytes = kTextBytes + 9;

// Fields: title, file, end, durability, ended or open, run.
constexpr std::size_t kFields = 6;

std::string ChecksumOf(absl::string_view text) { return absl::StrFormat("%08x", Crc32c(text)); }

}  // namespace

std::string EncodeMark(const LogMark& mark) {
  const std::string run = mark.run.empty() || mark.run.size() > 64 ? std::string(kNoRun) : mark.run;
  const std::string fields =
      absl::StrCat(kTitle, " ", mark.file, " ", mark.end, " ", mark.is_relaxed ? "relaxed" : "sync", " ",
                   mark.is_ended ? "ended" : "open", " ", run);
  const std::string text = absl::StrFormat("%-*s", kTextBytes, fields);
  return absl::StrCat(text, ChecksumOf(text), "\n");
}

std::optional<LogMark> DecodeMark(absl::string_view bytes) {
  if (bytes.size() != kMarkBytes) {
    return std::nullopt;
  }
  const absl::string_view text = bytes.substr(0, kTextBytes);
  if (bytes.substr(kTextBytes) != absl::StrCat(ChecksumOf(text), "\n")) {
    return std::nullopt;
  }
  const std::vector<absl::string_view> fields = absl::StrSplit(absl::StripTrailingAsciiWhitespace(text), ' ');
  LogMark mark;
  if (fields.size() != kFields || fields[0] != kTitle || !absl::SimpleAtoi(fields[1], &mark.file) ||
      !absl::SimpleAtoi(fields[2], &mark.end)) {
    return std::nullopt;
  }
  mark.is_relaxed = fields[3] == "relaxed";
  mark.is_ended = fields[4] == "ended";
  if (fields[5] != kNoRun) {
    mark.run = std::string(fields[5]);
  }
  return mark;
}

}  // namespace waystar::storage
