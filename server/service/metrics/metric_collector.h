// Collects all metrics of a server, for Prometheus and for GetMetrics.
#pragma once

#include <string>
#include <vector>

#include "server/base/mutex.h"
#include "server/runtime/metric_sink.h"
#include "server/service/auth/caller.h"
#include "server/service/metrics/store_metrics.h"
#include "waystar/v1/server_service.pb.h"

namespace waystar::rpc {

// Thread safety: any.
class MetricCollector {
 public:
  // `maps` must outlive this.
  explicit MetricCollector(const MapMetrics& maps) : maps_(maps) {}

  // Adds sources, in order. They must outlive all calls of the methods below.
  void Add(const std::vector<const runtime::MetricSource*>& sources);

  // Returns all metrics in Prometheus' text format.
  std::string PrometheusText() const;

  // Answers GetMetrics, except the uptime.
  void Fill(const v1::GetMetricsRequest& request, const Caller& caller, v1::GetMetricsResponse& out) const;

 private:
  std::vector<const runtime::MetricSource*> Sources() const {
    MutexLock lock(mutex_);
    return sources_;
  }

  const MapMetrics& maps_;
  mutable Mutex mutex_;
  std::vector<const runtime::MetricSource*> sources_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::rpc
