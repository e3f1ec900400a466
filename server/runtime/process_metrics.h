// Metrics of this process that the system keeps.
#pragma once

#include <optional>

#include "server/runtime/metric_sink.h"

namespace waystar::runtime {

struct ProcessUsage {
  // The processor time of all its threads together, since it was started.
  double cpu_seconds = 0;
  double resident_bytes = 0;
  double virtual_bytes = 0;
  double threads = 0;
  // When it was started, counted from the start of the machine.
  double seconds_after_boot = 0;
};

// Returns nothing where the system does not tell.
std::optional<ProcessUsage> ReadProcessUsage();

// The process_* metrics that all of Prometheus' client libraries have: processor time, memory, open files,
// threads and start time; the build, and what its log lacks. What the system does not tell is left out.
class ProcessMetrics final : public MetricSource {
 public:
  void Collect(MetricSink& sink) const override;
};

}  // namespace waystar::runtime
