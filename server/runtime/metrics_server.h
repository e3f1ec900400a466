// An HTTP server of metrics for Prometheus.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/runtime/metric_sink.h"

namespace prometheus {
class Collectable;
class Exposer;
}  // namespace prometheus

namespace waystar::runtime {

// Answers GET /metrics in Prometheus' text format, on two threads of its own, until it is destroyed. It has
// no encryption, and answers anyone who reaches the address.
class MetricsServer {
 public:
  // `listen` is HOST:PORT, or PORT for all addresses of the machine; port 0 takes a free one. Each request
  // collects from `sources`, in that order; they must outlive the server. Returns UNAVAILABLE if it cannot
  // listen.
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(const std::string& listen,
                                                              std::vector<const MetricSource*> sources);

  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;
  ~MetricsServer();

  int port() const;

 private:
  MetricsServer(std::shared_ptr<prometheus::Collectable> collectable,
                std::unique_ptr<prometheus::Exposer> exposer);

  const std::shared_ptr<prometheus::Collectable> collectable_;
  const std::unique_ptr<prometheus::Exposer> exposer_;
};

}  // namespace waystar::runtime
