#include "server/runtime/log_writer.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "absl/strings/string_view.h"
#include "server/base/thread.h"

namespace waystar::runtime {
namespace {

// Writes the whole text. Returns false if a write failed.
bool WriteAll(int file, absl::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (written < 0 && errno == EAGAIN) {
      // Another process with the same file has made it non-blocking.
      pollfd writable = {.fd = file, .events = POLLOUT, .revents = 0};
      ::poll(&writable, 1, -1);
    } else if (written < 0 && errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace

LogWriter::LogWriter(int file, DroppedLine dropped_line)
    : file_(file), dropped_line_(std::move(dropped_line)) {
  // Blocks all signals in the writer thread, which may start before the process blocks them itself.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = StartThread("log", [this] { Run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

LogWriter::~LogWriter() {
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
    has_lines_.NotifyAll();
  }
  thread_.join();
}

void LogWriter::Write(std::string line) {
  MutexLock lock(mutex_);
  waiting_bytes_ += line.size();
  waiting_.push_back(std::move(line));
  while (waiting_bytes_ > kMaxWaitingBytes) {
    waiting_bytes_ -= waiting_.front().size();
    waiting_.pop_front();
    ++dropped_;
  }
  if (!is_writing_) {
    has_lines_.NotifyOne();
  }
}

bool LogWriter::Flush(std::chrono::nanoseconds patience, std::chrono::nanoseconds most) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + most;
  Clock::time_point give_up = std::min(Clock::now() + patience, end);
  MutexLock lock(mutex_);
  std::uint64_t seen = written_;
  while (is_writing_ || !waiting_.empty()) {
    if (Clock::now() >= give_up) {
      return false;
    }
    has_written_.WaitUntil(mutex_, give_up);
    if (written_ != seen) {
      seen = written_;
      give_up = std::min(Clock::now() + patience, end);
    }
  }
  return true;
}

std::uint64_t LogWriter::dropped() const {
  MutexLock lock(mutex_);
  return dropped_;
}

void LogWriter::Run() {
  std::string text;
  while (Take(text)) {
    NoteWritten(WriteAll(file_, text));
  }
}

bool LogWriter::Take(std::string& text) {
  MutexLock lock(mutex_);
  while (waiting_.empty() && !is_stopping_) {
    has_lines_.Wait(mutex_);
  }
  if (is_stopping_) {
    return false;
  }
  text.clear();
  reporting_ = dropped_ - reported_;
  if (reporting_ > 0) {
    text = dropped_line_(reporting_);
  }
  text += waiting_.front();
  waiting_bytes_ -= waiting_.front().size();
  waiting_.pop_front();
  is_writing_ = true;
  return true;
}

void LogWriter::NoteWritten(bool is_written) {
  MutexLock lock(mutex_);
  is_writing_ = false;
  if (is_written) {
    reported_ += reporting_;
    ++written_;
  } else {
    ++dropped_;
  }
  has_written_.NotifyAll();
}

}  // namespace waystar::runtime
