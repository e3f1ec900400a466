#include "client/metrics.h"

#include <algorithm>

namespace waystar::client {

std::string LabelOf(const v1::Metric& metric, std::string_view label) {
  const auto found = metric.labels().find(std::string(label));
  return found == metric.labels().end() ? "" : found->second;
}

std::vector<const v1::Metric*> MetricsOf(const v1::GetMetricsResponse& answer, std::string_view family,
                                         const MetricLabels& labels) {
  std::vector<const v1::Metric*> metrics;
  for (const v1::MetricFamily& each : answer.families()) {
    for (int i = 0; each.name() == family && i < each.metrics_size(); ++i) {
      const v1::Metric& metric = each.metrics(i);
      if (std::all_of(labels.begin(), labels.end(), [&metric](const auto& label) {
            return LabelOf(metric, label.first) == label.second;
          })) {
        metrics.push_back(&metric);
      }
    }
  }
  return metrics;
}

double SumOf(const v1::GetMetricsResponse& answer, std::string_view family, const MetricLabels& labels) {
  double sum = 0;
  for (const v1::Metric* const metric : MetricsOf(answer, family, labels)) {
    sum += metric->has_histogram() ? static_cast<double>(metric->histogram().count()) : metric->value();
  }
  return sum;
}

}  // namespace waystar::client
