#include "server/runtime/logging.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "server/base/thread.h"
#include "spdlog/pattern_formatter.h"
#include "spdlog/sinks/base_sink.h"
#include "spdlog/spdlog.h"

namespace waystar::runtime {
namespace {

constexpr std::chrono::seconds kFlushPatience{1};
constexpr std::chrono::seconds kLongestFlush{5};

std::unique_ptr<spdlog::pattern_formatter> MakeFormatter() {
  return std::make_unique<spdlog::pattern_formatter>("ts=%Y-%m-%dT%H:%M:%S.%eZ level=%l %v",
                                                     spdlog::pattern_time_type::utc);
}

std::string Format(spdlog::formatter& formatter, const spdlog::details::log_msg& message) {
  spdlog::memory_buf_t line;
  formatter.format(message, line);
  return {line.data(), line.size()};
}

LogWriter& Writer() {
  // Never destroyed: its thread may be blocked in a write forever.
  static auto* const writer = new LogWriter(
      STDERR_FILENO, [formatter = std::shared_ptr<spdlog::formatter>(MakeFormatter())](std::uint64_t lines) {
        const std::string text = FormatLogLine("log_lines_dropped", {{"lines", lines}});
        return Format(*formatter, {"waystar", spdlog::level::warn, text});
      });
  return *writer;
}

class WriterSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  WriterSink() : base_sink(MakeFormatter()) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    Writer().Write(Format(*formatter_, message));
  }
  void flush_() override {}
};

spdlog::logger& Logger() {
  static auto* const logger = new spdlog::logger("waystar", std::make_shared<WriterSink>());
  return *logger;
}

// Levels in the order of LogLevel.
constexpr std::array kLevels = {spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
                                spdlog::level::err};

spdlog::level::level_enum SpdlogLevel(LogLevel level) { return kLevels.at(static_cast<std::size_t>(level)); }

bool IsPlain(char c) {
  return absl::ascii_isgraph(static_cast<unsigned char>(c)) && c != '"' && c != '=' && c != '\\';
}

std::string Quoted(absl::string_view value) {
  if (!value.empty() && std::all_of(value.begin(), value.end(), IsPlain)) {
    return std::string(value);
  }
  return absl::StrCat("\"", absl::CHexEscape(value), "\"");
}

}  // namespace

absl::Status StartLogging(absl::string_view level) {
  for (const LogLevel known : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning, LogLevel::kError}) {
    const spdlog::string_view_t name = spdlog::level::to_string_view(SpdlogLevel(known));
    if (level == absl::string_view(name.data(), name.size())) {
      Logger().set_level(SpdlogLevel(known));
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the log level is debug, info, warning or error, not \"", absl::CHexEscape(level), "\""));
}

void SecureStandardFiles() {
  for (int file = ::open("/dev/null", O_RDWR); file >= 0; file = ::open("/dev/null", O_RDWR)) {
    if (file > STDERR_FILENO) {
      ::close(file);
      break;
    }
  }
  std::signal(SIGPIPE, SIG_IGN);
}

LogLevel CurrentLogLevel() {
  return static_cast<LogLevel>(std::ranges::find(kLevels, Logger().level()) - kLevels.begin());
}

void SetLogLevel(LogLevel level) { Logger().set_level(SpdlogLevel(level)); }

std::string FormatLogLine(absl::string_view event, std::initializer_list<LogField> fields) {
  std::string line = absl::StrCat("event=", event);
  for (const LogField& field : fields) {
    absl::StrAppend(&line, " ", field.key, "=", Quoted(field.value));
  }
  return line;
}

void Log(LogLevel level, absl::string_view event, std::initializer_list<LogField> fields) {
  spdlog::logger& logger = Logger();
  if (logger.should_log(SpdlogLevel(level))) {
    logger.log(SpdlogLevel(level), FormatLogLine(event, fields));
  }
}

void FlushLog() { Writer().Flush(kFlushPatience, kLongestFlush); }

std::uint64_t DroppedLogLines() { return Writer().dropped(); }

std::optional<std::uint64_t> LineLimit::Admit() {
  const absl::Time now = clock_.Now();
  MutexLock lock(mutex_);
  if (now - second_begin_ >= absl::Seconds(1)) {
    second_begin_ = now;
    lines_ = 0;
  }
  if (lines_ == kLines) {
    ++left_out_;
    return std::nullopt;
  }
  ++lines_;
  return std::exchange(left_out_, 0);
}

void LineLimit::LeaveOut() {
  MutexLock lock(mutex_);
  ++left_out_;
}

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
