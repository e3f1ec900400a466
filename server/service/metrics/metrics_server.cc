#include "server/service/metrics/metrics_server.h"

#include <cstddef>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "prometheus/metric_family.h"
#include "prometheus/text_serializer.h"
#include "server/service/transport/http/exchange.h"

namespace waystar::rpc {
namespace {

using http::HttpAcceptance;
using http::HttpAnswer;
using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using runtime::HistogramCounts;
using runtime::MetricLabels;

constexpr std::size_t kMostConnections = 64;

// Metrics with the same name form one family, whatever their source, in order of first appearance.
class Families final : public runtime::MetricSink {
 public:
  void AddHistogram(absl::string_view name, absl::string_view help, const HistogramCounts& counts,
                    MetricLabels labels) override {
    ClientMetric::Histogram& histogram = Add(name, help, MetricType::Histogram, std::move(labels)).histogram;
    histogram.sample_count = counts.count;
    histogram.sample_sum = counts.sum;
    histogram.bucket.reserve(counts.bounds.size());
    for (std::size_t i = 0; i < counts.bounds.size(); ++i) {
      histogram.bucket.push_back({.cumulative_count = counts.cumulative[i], .upper_bound = counts.bounds[i]});
    }
  }

  std::vector<MetricFamily> Take() && { return std::move(families_); }

 private:
  void AddNumber(absl::string_view name, absl::string_view help, double value, MetricLabels labels,
                 bool is_counter) override {
    ClientMetric& metric =
        Add(name, help, is_counter ? MetricType::Counter : MetricType::Gauge, std::move(labels));
    (is_counter ? metric.counter.value : metric.gauge.value) = value;
  }

  ClientMetric& Add(absl::string_view name, absl::string_view help, MetricType type, MetricLabels labels) {
    const auto [found, is_new] = by_name_.try_emplace(name, families_.size());
    if (is_new) {
      families_.push_back({.name = std::string(name), .help = std::string(help), .type = type});
    }
    ClientMetric& metric = families_[found->second].metric.emplace_back();
    metric.label.reserve(labels.size());
    for (auto& [label, value] : labels) {
      metric.label.push_back({.name = std::move(label), .value = std::move(value)});
    }
    return metric;
  }

  std::vector<MetricFamily> families_;
  absl::flat_hash_map<std::string, std::size_t> by_name_;
};

std::string Scrape(const std::vector<const runtime::MetricSource*>& sources) {
  Families families;
  for (const runtime::MetricSource* const source : sources) {
    source->Collect(families);
  }
  return prometheus::TextSerializer().Serialize(std::move(families).Take());
}

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Start(
    const std::string& listen, std::vector<const runtime::MetricSource*> sources) {
  auto metrics = std::unique_ptr<MetricsServer>(new MetricsServer(std::move(sources)));
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
  exchange->Answer({.content_type = "text/plain; version=0.0.4", .body = Scrape(sources_)});
}

}  // namespace waystar::rpc
