#include "server/runtime/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "server/runtime/logging.h"
#include "server/runtime/version.h"

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
  sink.AddCounter("process_cpu_seconds_total", "Processor time that the process has used.", {},
                  usage->cpu_seconds);
  sink.AddGauge("process_resident_memory_bytes", "Memory of the process that is in use.", {},
                usage->resident_bytes);
  sink.AddGauge("process_virtual_memory_bytes", "Memory that the process has asked for.", {},
                usage->virtual_bytes);
  sink.AddGauge("process_threads", "Threads of the process.", {}, usage->threads);
  if (const std::optional<double> boot = BootTime()) {
    sink.AddGauge("process_start_time_seconds", "When the process was started, in seconds since 1970.", {},
                  *boot + usage->seconds_after_boot);
  }
}

}  // namespace

void ProcessMetrics::Collect(MetricSink& sink) const {
  sink.AddGauge("waystar_build_info", "Which build this is; always 1.", {{"version", std::string(Version())}},
                1);
  sink.AddCounter("waystar_log_lines_dropped_total",
                  "Lines that are not in the log, because it could not be written for too long or at all.",
                  {}, static_cast<double>(DroppedLogLines()));
  CollectStat(sink);
  if (const std::optional<std::int64_t> open = OpenFiles()) {
    sink.AddGauge("process_open_fds", "Files and sockets that are open.", {}, static_cast<double>(*open));
  }
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    sink.AddGauge("process_max_fds", "Files and sockets that may be open.", {},
                  static_cast<double>(limit.rlim_cur));
  }
}

}  // namespace waystar::runtime
