// Prometheus metrics of CallStatistics.
#pragma once

#include "server/runtime/metric_sink.h"
#include "server/service/admission/call_statistics.h"

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

}  // namespace waystar::rpc
