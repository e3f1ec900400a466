// Metrics of queue lengths and waiting times.
#pragma once

#include "server/runtime/metric_sink.h"
#include "server/service/admission/client_calls.h"
#include "server/service/admission/executor.h"

namespace waystar::rpc {

// Labelled by lane: small, large, updates or imports. Thread safety: any.
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
