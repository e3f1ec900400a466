// HTTP server of metrics for Prometheus.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "server/service/transport/http/http_handler.h"
#include "server/service/transport/http/http_server.h"

namespace waystar::rpc {

// Answers GET /metrics in Prometheus' text format, until it is destroyed. Without encryption or
// authentication. Beyond 64 connections it closes idle ones first.
class MetricsServer final : private http::HttpHandler {
 public:
  // `listen` is an address in the format of net::Listener. The answer is `text`, which is called on
  // the server's thread until the server is destroyed. Returns INVALID_ARGUMENT for an invalid address,
  // UNAVAILABLE if it cannot listen.
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(const std::string& listen,
                                                              std::function<std::string()> text);

  int port() const { return server_->port(); }

 private:
  explicit MetricsServer(std::function<std::string()> text) : text_(std::move(text)) {}

  std::variant<http::HttpAcceptance, http::HttpAnswer> Judge(const http::HttpClient& client,
                                                             const http::RequestHead& head) override;
  void Serve(http::HttpRequest request, std::shared_ptr<http::Exchange> exchange) override;

  const std::function<std::string()> text_;
  // It stands last, as its thread uses the above.
  std::unique_ptr<http::HttpServer> server_;
};

}  // namespace waystar::rpc
