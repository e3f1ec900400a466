// What the system knows of this process.
#pragma once

#include "server/runtime/metric_sink.h"

namespace waystar::runtime {

// The process_* metrics that all of Prometheus' client libraries have: processor time, memory, open files,
// threads, when it was started; and which build it is. What the system does not tell is left out.
class ProcessMetrics final : public MetricSource {
 public:
  void Collect(MetricSink& sink) const override;
};

}  // namespace waystar::runtime
