// Structured log lines on standard error, in logfmt:
//
// ts=2026-01-31T12:00:00.123Z level=info event=map_loaded map=arena width=49 height=49
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/clock.h"
#include "server/base/mutex.h"

namespace waystar::runtime {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };

struct LogField {
  LogField(absl::string_view name, const absl::AlphaNum& content) : key(name), value(content.Piece()) {}

  std::string key;
  std::string value;
};

// Starts logging at level "debug", "info", "warning" or "error". Returns INVALID_ARGUMENT for any other name.
// Before this call, lines of level info and above are written.
absl::Status StartLogging(absl::string_view level);

// Opens /dev/null for each closed standard file, so that no socket gets its number; and ignores SIGPIPE, so
// that writes to a closed pipe fail instead of ending the process. Call it before opening anything.
void SecureStandardFiles();

// Sets the lowest level that Log writes.
//
// Thread safety: may be called from any thread.
void SetLogLevel(LogLevel level);
LogLevel CurrentLogLevel();

// Queues one line for the writer thread without blocking (LogWriter). Values with a space, quote, equals
// sign, backslash or unprintable byte are quoted and escaped, so no value can forge a field or a line.
//
// Thread safety: may be called from any thread.
void Log(LogLevel level, absl::string_view event, std::initializer_list<LogField> fields);

// Waits until all lines are written, but at most one second without progress and five seconds in all. Call it
// before the process ends.
//
// Thread safety: may be called from any thread.
void FlushLog();

// Returns the number of lost lines.
std::uint64_t DroppedLogLines();

// Returns the part of a line after time and level.
std::string FormatLogLine(absl::string_view event, std::initializer_list<LogField> fields);

// Rate limit for one kind of log line that clients can cause. Admits kLines lines per second. The next
// admitted line reports how many were suppressed.
//
// Thread safety: any method may be called from any thread.
class LineLimit {
 public:
  static constexpr int kLines = 10;

  // The clock must outlive this.
  explicit LineLimit(const Clock& clock = Clock::Steady()) : clock_(clock) {}

  // Decides on a line. Returns nullopt if it must be suppressed; otherwise how many were suppressed since the
  // last admitted one.
  std::optional<std::uint64_t> Admit();
  // Counts a line that was suppressed for another reason.
  void LeaveOut();

 private:
  const Clock& clock_;
  Mutex mutex_;
  absl::Time second_begin_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  int lines_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t left_out_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Queue of lines, and the thread that writes them: logging never waits for the reader of the log.
//
// Thread safety: Write, Flush and dropped may be called from any thread.
class LogWriter {
 public:
  // Maximum bytes of waiting lines. Beyond it, the oldest lines are dropped.
  static constexpr std::size_t kMaxWaitingBytes = std::size_t{1} << 20;

  // Returns the log line that reports a number of dropped lines. Called on the writer thread.
  using DroppedLine = std::function<std::string(std::uint64_t lines)>;

  // Writes to that file descriptor, which must outlive this.
  LogWriter(int file, DroppedLine dropped_line);
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;
  // Waits for the current write, however long it takes. Waiting lines are lost.
  ~LogWriter();

  // Queues a line, which must end with a newline. Does not wait for the file.
  void Write(std::string line);

  // Waits until all lines are written, but at most `patience` after the last progress and at most `most` in
  // all. Returns true if all lines were written.
  bool Flush(std::chrono::nanoseconds patience, std::chrono::nanoseconds most);

  // Returns the number of lines dropped for lack of room or by a failed write.
  std::uint64_t dropped() const;

 private:
  void Run();
  // Waits for the next line. Returns false when stopping.
  bool Take(std::string& text);
  void NoteWritten(bool is_written);

  const int file_;
  const DroppedLine dropped_line_;
  mutable Mutex mutex_;
  CondVar has_lines_;
  CondVar has_written_;
  std::deque<std::string> waiting_ ABSL_GUARDED_BY(mutex_);
  std::size_t waiting_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t written_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t dropped_ ABSL_GUARDED_BY(mutex_) = 0;
  // Dropped lines already reported in the log, and those reported by the line being written.
  std::uint64_t reported_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t reporting_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace waystar::runtime
