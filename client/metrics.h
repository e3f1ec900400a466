// Reads the answers of GetMetrics.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "waystar/v1/server_service.pb.h"

namespace waystar::client {

using MetricLabels = std::vector<std::pair<std::string_view, std::string_view>>;

// Returns "" if the metric does not have the label.
std::string LabelOf(const v1::Metric& metric, std::string_view label);

// Returns the metrics of a family that have these labels, and perhaps others. They point into the answer.
std::vector<const v1::Metric*> MetricsOf(const v1::GetMetricsResponse& answer, std::string_view family,
                                         const MetricLabels& labels = {});

// Returns the sum of their values or, for histograms, of their counts.
double SumOf(const v1::GetMetricsResponse& answer, std::string_view family, const MetricLabels& labels = {});

}  // namespace waystar::client
