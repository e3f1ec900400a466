// HTTP server of metrics for Prometheus.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "server/runtime/metric_sink.h"
#include "server/service/transport/http/http_handler.h"
#include "server/service/transport/http/http_server.h"

namespace waystar::rpc {

// Answers GET /metrics in Prometheus' text format, until it is destroyed. Without encryption or
// authentication. Beyond 64 connections it closes idle ones first.
class MetricsServer final : private http::HttpHandler {
 public:
  // `listen` is an address in the format of net::Listener. Each request collects from `sources`, in order;
  // they must outlive the server. Returns INVALID_ARGUMENT for an invalid address, UNAVAILABLE if it cannot
  // listen.
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(
      const std::string& listen, std::vector<const runtime::MetricSource*> sources);

  int port() const { return server_->port(); }

 private:
  explicit MetricsServer(std::vector<const runtime::MetricSource*> sources) : sources_(std::move(sources)) {}

  std::variant<http::HttpAcceptance, http::HttpAnswer> Judge(const http::HttpClient& client,
                                                             const http::RequestHead& head) override;
  void Serve(http::HttpRequest request, std::shared_ptr<http::Exchange> exchange) override;

  const std::vector<const runtime::MetricSource*> sources_;
  // It stands last, as its thread uses the above.
  std::unique_ptr<http::HttpServer> server_;
};

}  // namespace waystar::rpc
