// Collects all metrics of a server, for Prometheus and for GetMetrics.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "server/base/mutex.h"
#include "server/runtime/metric_sink.h"
#include "server/service/auth/caller.h"
#include "server/service/metrics/store_metrics.h"
#include "server/service/transport/http/http_handler.h"
#include "server/service/transport/http/http_server.h"
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

// HTTP server that answers GET /metrics in Prometheus' text format, and probes (http::ProbeAnswer), until it
// is destroyed. Without encryption or authentication. Beyond 64 connections it closes idle ones first.
class MetricsServer final : private http::HttpHandler {
 public:
  // `listen` is an address in the format of net::Listener. The answer is `text`, and /readyz that of
  // `is_ready`; both are called on the server's thread until the server is destroyed. Returns
  // INVALID_ARGUMENT for an invalid address, UNAVAILABLE if it cannot listen.
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(const std::string& listen,
                                                              std::function<std::string()> text,
                                                              std::function<bool()> is_ready);

  int port() const { return server_->port(); }

 private:
  MetricsServer(std::function<std::string()> text, std::function<bool()> is_ready)
      : text_(std::move(text)), is_ready_(std::move(is_ready)) {}

  std::variant<http::HttpAcceptance, http::HttpAnswer> Judge(const http::HttpClient& client,
                                                             const http::RequestHead& head) override;
  void Serve(http::HttpRequest request, std::shared_ptr<http::Exchange> exchange) override;

  const std::function<std::string()> text_;
  const std::function<bool()> is_ready_;
  // It stands last, as its thread uses the above.
  std::unique_ptr<http::HttpServer> server_;
};

}  // namespace waystar::rpc
