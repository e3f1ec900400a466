// This process: its build, stop signals, memory limit and resource use.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>

#include "absl/strings/string_view.h"
#include "server/runtime/metric_sink.h"

namespace waystar::runtime {

struct ProcessUsage {
  // CPU time of all threads since the process started.
  double cpu_seconds = 0;
  double resident_bytes = 0;
  double virtual_bytes = 0;
  double threads = 0;
  // Start time, in seconds since the machine booted.
  double seconds_after_boot = 0;
};

// Returns the resource use of this process, or nullopt if the operating system does not provide it.
std::optional<ProcessUsage> ReadProcessUsage();

// Exports the process_* metrics common to Prometheus client libraries (CPU time, memory, open files, threads,
// start time), the build, and the number of lost log lines. Omits metrics that the operating system does not
// provide.
class ProcessMetrics final : public MetricSource {
 public:
  void Collect(MetricSink& sink) const override;
};

// Routes SIGTERM and SIGINT to WaitForStop. Call it before any thread starts, since threads inherit the mask.
void BlockStopSignals();

// Returns true if such a signal is pending, so that WaitForStop would return at once; false if
// BlockStopSignals was not called.
bool IsStopAsked();

// Blocks until SIGTERM or SIGINT arrives, and returns its number. A second such signal then ends the process
// at once.
// REQUIRES: BlockStopSignals was called.
int WaitForStop();

// Returns the machine's memory in bytes, or the smallest limit of this process's control groups and their
// ancestors, version 1 or 2. Containers and systemd set these. `root` is the parent of proc and sys;
// invisible groups have no limit.
std::size_t MemoryLimit(const std::filesystem::path& root = "/");

// Returns the version of this build, such as "0.1.0".
absl::string_view Version();

}  // namespace waystar::runtime
