// Tells Prometheus what CallStatistics count.
#pragma once

#include "server/rpc/admission/call_statistics.h"
#include "server/runtime/metric_sink.h"

namespace waystar::rpc {

// The metrics that gRPC servers in other languages have by the same names (grpc_server_started_total and so
// on). The methods that are none of this program's count as one, whose service and method are "unknown".
//
// Thread safety: any.
class CallMetrics final : public runtime::MetricSource {
 public:
  // The statistics must outlive this.
  explicit CallMetrics(const CallStatistics& statistics) : statistics_(statistics) {}

  void Collect(runtime::MetricSink& sink) const override;

 private:
  const CallStatistics& statistics_;
};

}  // namespace waystar::rpc
