#include "server/service/metrics/metrics_server.h"

#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/service/transport/http/exchange.h"

namespace waystar::rpc {
namespace {

using http::HttpAcceptance;
using http::HttpAnswer;
constexpr std::size_t kMostConnections = 64;

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Start(const std::string& listen,
                                                                    std::function<std::string()> text) {
  auto metrics = std::unique_ptr<MetricsServer>(new MetricsServer(std::move(text)));
  auto server = http::HttpServer::Start(
      {.listen = {listen},
       .limits = {.max_connections = kMostConnections, .max_network_connections = kMostConnections}},
      *metrics);
  if (!server.ok()) {
    return absl::Status(server.status().code(), absl::StrCat("--metrics_listen=", server.status().message()));
  }
  metrics->server_ = *std::move(server);
  return metrics;
}

std::variant<HttpAcceptance, HttpAnswer> MetricsServer::Judge(const http::HttpClient& /*client*/,
                                                              const http::RequestHead& head) {
  if (head.path != "/metrics") {
    return HttpAnswer{.code = 404, .content_type = "text/plain", .body = "Metrics are at /metrics.\n"};
  }
  if (head.method != "GET") {
    return HttpAnswer{.code = 405, .content_type = "text/plain", .body = "Metrics are read with GET.\n"};
  }
  return HttpAcceptance{};
}

void MetricsServer::Serve(http::HttpRequest /*request*/, std::shared_ptr<http::Exchange> exchange) {
  exchange->Answer({.content_type = "text/plain; version=0.0.4", .body = text_()});
}

}  // namespace waystar::rpc
