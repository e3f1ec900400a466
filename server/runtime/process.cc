#include "server/runtime/process.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "server/runtime/logging.h"

namespace waystar::runtime {
namespace {

std::string ReadWhole(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Indexes of fields in /proc/self/stat, counted after the program's name, which may contain anything.
constexpr std::size_t kUserTicks = 11;
constexpr std::size_t kSystemTicks = 12;
constexpr std::size_t kThreads = 17;
constexpr std::size_t kStartTicks = 19;
constexpr std::size_t kVirtualBytes = 20;
constexpr std::size_t kResidentPages = 21;

std::vector<double> StatFields() {
  const std::string text = ReadWhole("/proc/self/stat");
  const std::size_t name_end = text.rfind(')');
  std::vector<double> fields;
  if (name_end == std::string::npos) {
    return fields;
  }
  for (const absl::string_view word :
       absl::StrSplit(absl::string_view(text).substr(name_end + 1), ' ', absl::SkipWhitespace())) {
    double value = 0;
    // The state is a letter, and stays 0.
    static_cast<void>(absl::SimpleAtod(word, &value));
    fields.push_back(value);
  }
  return fields;
}

// Returns the time at which the machine booted, in seconds since 1970.
std::optional<double> BootTime() {
  const std::string text = ReadWhole("/proc/stat");
  constexpr absl::string_view kKey = "\nbtime ";
  const std::size_t begin = text.find(kKey.data(), 0, kKey.size());
  double seconds = 0;
  if (begin == std::string::npos ||
      !absl::SimpleAtod(absl::string_view(text).substr(begin + kKey.size(),
                                                       text.find('\n', begin + 1) - begin - kKey.size()),
                        &seconds)) {
    return std::nullopt;
  }
  return seconds;
}

std::optional<std::int64_t> OpenFiles() {
  std::error_code error;
  std::int64_t count = 0;
  for (std::filesystem::directory_iterator file("/proc/self/fd", error), end; !error && file != end;
       file.increment(error)) {
    ++count;
  }
  // One entry is the folder being read.
  return error ? std::nullopt : std::optional<std::int64_t>(count - 1);
}

}  // namespace

std::optional<ProcessUsage> ReadProcessUsage() {
  const std::vector<double> fields = StatFields();
  if (fields.size() <= kResidentPages) {
    return std::nullopt;
  }
  const auto ticks_a_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const auto page_bytes = static_cast<double>(::sysconf(_SC_PAGESIZE));
  return ProcessUsage{.cpu_seconds = (fields[kUserTicks] + fields[kSystemTicks]) / ticks_a_second,
                      .resident_bytes = fields[kResidentPages] * page_bytes,
                      .virtual_bytes = fields[kVirtualBytes],
                      .threads = fields[kThreads],
                      .seconds_after_boot = fields[kStartTicks] / ticks_a_second};
}

namespace {

void CollectStat(MetricSink& sink) {
  const std::optional<ProcessUsage> usage = ReadProcessUsage();
  if (!usage.has_value()) {
    return;
  }
  sink.AddCounter("process_cpu_seconds_total", "Processor time that the process has used.",
                  usage->cpu_seconds);
  sink.AddGauge("process_resident_memory_bytes", "Memory of the process that is in use.",
                usage->resident_bytes);
  sink.AddGauge("process_virtual_memory_bytes", "Memory that the process has asked for.",
                usage->virtual_bytes);
  sink.AddGauge("process_threads", "Threads of the process.", usage->threads);
  if (const std::optional<double> boot = BootTime()) {
    sink.AddGauge("process_start_time_seconds", "When the process was started, in seconds since 1970.",
                  *boot + usage->seconds_after_boot);
  }
}

}  // namespace

void ProcessMetrics::Collect(MetricSink& sink) const {
  sink.AddGauge("waystar_build_info", "Which build this is; always 1.", 1,
                {{"version", std::string(Version())}});
  sink.AddCounter("waystar_log_lines_dropped_total",
                  "Lines that are not in the log, because it could not be written for too long or at all.",
                  DroppedLogLines());
  CollectStat(sink);
  if (const std::optional<std::int64_t> open = OpenFiles()) {
    sink.AddGauge("process_open_fds", "Files and sockets that are open.", *open);
  }
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    sink.AddGauge("process_max_fds", "Files and sockets that may be open.", limit.rlim_cur);
  }
}

namespace {

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

}  // namespace

void BlockStopSignals() {
  // A shell may start background programs with SIGINT ignored.
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

bool IsStopAsked() {
  sigset_t pending;
  sigemptyset(&pending);
  sigpending(&pending);
  return sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1;
}

int WaitForStop() {
  const sigset_t signals = StopSignals();
  int signal = 0;
  while (sigwait(&signals, &signal) != 0) {
  }
  // The default action, which ends the process, applies to the next signal.
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  return signal;
}

namespace {

// Returns the smallest of `least` and the limits in `file` of the group and its ancestors up to `groups`.
std::size_t LeastLimit(const std::filesystem::path& groups, std::filesystem::path group,
                       const std::string& file, std::size_t least) {
  for (;; group = group.parent_path()) {
    // "max" does not parse, and means no limit.
    std::size_t limit = 0;
    if (std::ifstream(groups / group / file) >> limit && limit > 0) {
      least = std::min(least, limit);
    }
    if (group.empty()) {
      return least;
    }
  }
}

}  // namespace

std::size_t MemoryLimit(const std::filesystem::path& root) {
  std::size_t least =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::filesystem::path groups = root / "sys/fs/cgroup";
  // One line per hierarchy: NUMBER:CONTROLLERS:/GROUP. Version 2 is number 0 and has no controllers.
  std::ifstream hierarchies(root / "proc/self/cgroup");
  for (std::string line; std::getline(hierarchies, line);) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) {
      continue;
    }
    const std::filesystem::path group = std::filesystem::path(parts[2]).relative_path();
    if (parts[1].empty()) {
      least = LeastLimit(groups, group, "memory.max", least);
    } else if (absl::StrContains(parts[1], "memory")) {
      least = LeastLimit(groups / "memory", group, "memory.limit_in_bytes", least);
    }
  }
  return least;
}

absl::string_view Version() { return WAYSTAR_VERSION; }

}  // namespace waystar::runtime
