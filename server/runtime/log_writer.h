// Writer of log lines, on a thread of its own, so that nobody who logs waits for whoever reads the log.
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

// Thread safety: Write, Flush and dropped may be called from any thread.
class LogWriter {
 public:
  // The lines that may wait take so many bytes; when there are more, the oldest are dropped.
  static constexpr std::size_t kMaxWaitingBytes = std::size_t{1} << 20;

  // Returns the line that stands in the log where so many lines are missing. Called on the writing thread.
  using DroppedLine = std::function<std::string(std::uint64_t lines)>;

  // Writes to that file descriptor, which must outlive this.
  LogWriter(int file, DroppedLine dropped_line);
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;
  // Waits for the write under way, for as long as it takes. Lines that wait are lost.
  ~LogWriter();

  // Queues a line with the newline at its end. It costs a copy and a lock, and never waits for the file.
  void Write(std::string line);

  // Waits until every line is written, but no longer than `patience` after the last that was, and no longer
  // than `most` in all. Returns whether every line is.
  bool Flush(std::chrono::nanoseconds patience, std::chrono::nanoseconds most);

  // Returns how many lines found no room, or could not be written.
  std::uint64_t dropped() const;

 private:
  void Run();
  // Waits for the next line. Returns false if it is time to stop.
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
  // Those of the dropped lines that the log tells of, the line under way included.
  std::uint64_t reported_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t reporting_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace waystar::runtime
