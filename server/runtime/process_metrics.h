// Metrics of this process from the operating system.
#pragma once

#include <optional>

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

// Returns nullopt if the operating system does not provide it.
std::optional<ProcessUsage> ReadProcessUsage();

// Exports the process_* metrics common to Prometheus client libraries (CPU time, memory, open files, threads,
// start time), the build, and the number of lost log lines. Omits metrics that the operating system does not
// provide.
class ProcessMetrics final : public MetricSource {
 public:
  void Collect(MetricSink& sink) const override;
};

}  // namespace waystar::runtime
