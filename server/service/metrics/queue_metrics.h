// Metrics of how many calls wait for workers, and for how long.
#pragma once

#include "server/runtime/metric_sink.h"
#include "server/service/admission/client_calls.h"
#include "server/service/admission/executor.h"

namespace waystar::rpc {

// They are by lane: those of small calls, of large ones, and of large updates. Thread safety: any.
class QueueMetrics final : public runtime::MetricSource {
 public:
  // Both must outlive this.
  QueueMetrics(const Executor& executor, const ClientCalls& client_calls)
      : executor_(executor), client_calls_(client_calls) {}

  void Collect(runtime::MetricSink& sink) const override;

 private:
  const Executor& executor_;
  const ClientCalls& client_calls_;
};

}  // namespace waystar::rpc
