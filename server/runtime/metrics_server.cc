#include "server/runtime/metrics_server.h"

#include <cstddef>
#include <exception>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "prometheus/collectable.h"
#include "prometheus/exposer.h"
#include "prometheus/metric_family.h"

namespace waystar::runtime {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

// Metrics of one name make one family, whoever added them, in the order of the first of each.
class Families final : public MetricSink {
 public:
  void AddCounter(absl::string_view name, absl::string_view help, MetricLabels labels,
                  double value) override {
    Add(name, help, MetricType::Counter, std::move(labels)).counter.value = value;
  }

  void AddGauge(absl::string_view name, absl::string_view help, MetricLabels labels, double value) override {
    Add(name, help, MetricType::Gauge, std::move(labels)).gauge.value = value;
  }

  void AddHistogram(absl::string_view name, absl::string_view help, MetricLabels labels,
                    const HistogramCounts& counts) override {
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

class Sources final : public prometheus::Collectable {
 public:
  explicit Sources(std::vector<const MetricSource*> sources) : sources_(std::move(sources)) {}

  std::vector<MetricFamily> Collect() const override {
    Families families;
    for (const MetricSource* const source : sources_) {
      source->Collect(families);
    }
    return std::move(families).Take();
  }

 private:
  const std::vector<const MetricSource*> sources_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Start(
    const std::string& listen, std::vector<const MetricSource*> sources) {
  auto collectable = std::make_shared<Sources>(std::move(sources));
  // The library throws what it cannot do.
  try {
    auto exposer = std::make_unique<prometheus::Exposer>(listen, /*num_threads=*/2);
    exposer->RegisterCollectable(collectable);
    return std::unique_ptr<MetricsServer>(new MetricsServer(std::move(collectable), std::move(exposer)));
  } catch (const std::exception& error) {
    return absl::UnavailableError(
        absl::StrCat("cannot serve metrics on --metrics_listen ", listen, ": ", error.what()));
  }
}

MetricsServer::MetricsServer(std::shared_ptr<prometheus::Collectable> collectable,
                             std::unique_ptr<prometheus::Exposer> exposer)
    : collectable_(std::move(collectable)), exposer_(std::move(exposer)) {}

MetricsServer::~MetricsServer() = default;

int MetricsServer::port() const {
  const std::vector<int> ports = exposer_->GetListeningPorts();
  return ports.empty() ? 0 : ports.front();
}

}  // namespace waystar::runtime
