// Prometheus metrics of what CallStatistics count.
#pragma once

#include "server/runtime/metric_sink.h"
#include "server/service/admission/call_statistics.h"

namespace waystar::rpc {

// They are those that gRPC servers in other languages have by the same names (grpc_server_started_total and
// so on). Methods that are unknown to this program count as one, with service and method "unknown".
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
