// Writes log lines on a thread of its own, so that logging never waits for the reader of the log.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <thread>

#include "server/base/mutex.h"

namespace waystar::runtime {

// Queue of lines and its writer. Thread safety: Write, Flush and dropped may be called from any thread.
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
