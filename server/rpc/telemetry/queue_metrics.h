// How many calls wait for workers, and for how long.
#pragma once

#include "server/rpc/admission/executor.h"
#include "server/runtime/metric_sink.h"

namespace waystar::rpc {

// By lane: that of small calls and that of large ones. Thread safety: any.
class QueueMetrics final : public runtime::MetricSource {
 public:
  // The executor must outlive this.
  explicit QueueMetrics(const Executor& executor) : executor_(executor) {}

  void Collect(runtime::MetricSink& sink) const override;

 private:
  const Executor& executor_;
};

}  // namespace waystar::rpc
