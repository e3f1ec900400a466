// Prometheus metrics of calls and of the queues in which they wait.
#pragma once

#include "server/runtime/metric_sink.h"
#include "server/service/admission/call_slots.h"
#include "server/service/admission/call_statistics.h"
#include "server/service/admission/executor.h"

namespace waystar::rpc {

// Has the metric names of gRPC servers in other languages (grpc_server_started_total and so on). Methods
// unknown to this program are merged, as service and method "unknown".
//
// Thread safety: any.
class CallMetrics final : public runtime::MetricSource {
 public:
  // `statistics` must outlive this.
  explicit CallMetrics(const CallStatistics& statistics) : statistics_(statistics) {}

  void Collect(runtime::MetricSink& sink) const override;

 private:
  const CallStatistics& statistics_;
};

// Metrics of queue lengths and waiting times, labelled by lane: small, large, updates or imports. Thread
// safety: any.
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
