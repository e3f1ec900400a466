#include "server/service/metrics/metric_collector.h"

#include <cstddef>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "prometheus/metric_family.h"
#include "prometheus/text_serializer.h"

namespace waystar::rpc {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using runtime::HistogramCounts;
using runtime::MetricLabels;

// Metrics with the same name form one family, whatever their source, in order of first appearance.
class Families final : public runtime::MetricSink {
 public:
  // Adds conditions to `conditions` unless it is null.
  explicit Families(google::protobuf::RepeatedPtrField<v1::Condition>* conditions = nullptr)
      : conditions_(conditions) {}

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

  void NoteCondition(absl::string_view name, absl::string_view text) override {
    if (conditions_ != nullptr) {
      v1::Condition& condition = *conditions_->Add();
      condition.set_metric(std::string(name));
      condition.set_text(std::string(text));
    }
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

  google::protobuf::RepeatedPtrField<v1::Condition>* const conditions_;
  std::vector<MetricFamily> families_;
  absl::flat_hash_map<std::string, std::size_t> by_name_;
};

void FillFamily(const MetricFamily& family, v1::MetricFamily& out) {
  out.set_name(family.name);
  out.set_help(family.help);
  out.set_type(family.type == MetricType::Counter ? v1::METRIC_TYPE_COUNTER
               : family.type == MetricType::Gauge ? v1::METRIC_TYPE_GAUGE
                                                  : v1::METRIC_TYPE_HISTOGRAM);
  for (const ClientMetric& metric : family.metric) {
    v1::Metric& filled = *out.add_metrics();
    for (const ClientMetric::Label& label : metric.label) {
      (*filled.mutable_labels())[label.name] = label.value;
    }
    if (family.type != MetricType::Histogram) {
      filled.set_value(family.type == MetricType::Counter ? metric.counter.value : metric.gauge.value);
      continue;
    }
    v1::Histogram& histogram = *filled.mutable_histogram();
    histogram.set_count(metric.histogram.sample_count);
    histogram.set_sum(metric.histogram.sample_sum);
    for (const ClientMetric::Bucket& bucket : metric.histogram.bucket) {
      histogram.add_cumulative(bucket.cumulative_count);
      if (out.metrics_size() == 1) {
        out.add_bounds(bucket.upper_bound);
      }
    }
  }
}

}  // namespace

void MetricCollector::Add(const std::vector<const runtime::MetricSource*>& sources) {
  MutexLock lock(mutex_);
  sources_.insert(sources_.end(), sources.begin(), sources.end());
}

std::string MetricCollector::PrometheusText() const {
  Families families;
  for (const runtime::MetricSource* const source : Sources()) {
    source->Collect(families);
  }
  maps_.Collect(families);
  return prometheus::TextSerializer().Serialize(std::move(families).Take());
}

void MetricCollector::Fill(const v1::GetMetricsRequest& request, const Caller& caller,
                           v1::GetMetricsResponse& out) const {
  Families families(out.mutable_conditions());
  for (const runtime::MetricSource* const source : Sources()) {
    source->Collect(families);
  }
  maps_.CollectFor(caller, families);
  const absl::flat_hash_set<absl::string_view> wanted(request.families().begin(), request.families().end());
  for (const MetricFamily& family : std::move(families).Take()) {
    if (wanted.empty() || wanted.contains(family.name)) {
      FillFamily(family, *out.add_families());
    }
  }
}

namespace {

using http::HttpAcceptance;
using http::HttpAnswer;
constexpr std::size_t kMostConnections = 64;

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Start(const std::string& listen,
                                                                    std::function<std::string()> text,
                                                                    std::function<bool()> is_ready) {
  auto metrics = std::unique_ptr<MetricsServer>(new MetricsServer(std::move(text), std::move(is_ready)));
  auto server = http::HttpServer::Start(
      {.listen = listen,
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
  if (std::optional<HttpAnswer> probe = http::ProbeAnswer(head, is_ready_); probe.has_value()) {
    return *std::move(probe);
  }
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
