// What the system knows of this process.
#pragma once

#include <optional>

#include "server/runtime/metric_sink.h"

namespace waystar::runtime {

struct ProcessUsage {
  // Of all its threads together, since it was started.
  double cpu_seconds = 0;
  double resident_bytes = 0;
  double virtual_bytes = 0;
  double threads = 0;
  // When it was started, counted from the start of the machine.
  double seconds_after_boot = 0;
};

// Nothing where the system does not tell.
std::optional<ProcessUsage> ReadProcessUsage();

// The process_* metrics that all of Prometheus' client libraries have: processor time, memory, open files,
// threads, when it was started; and which build it is. What the system does not tell is left out.
class ProcessMetrics final : public MetricSource {
 public:
  void Collect(MetricSink& sink) const override;
};

}  // namespace waystar::runtime
