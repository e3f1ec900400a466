// The interfaces by which parts of a server report their metrics.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace waystar::runtime {

// Names and values, in the order in which they are shown. Values must come from a set that clients cannot
// make grow, because collectors keep each value as long as anything.
using MetricLabels = std::vector<std::pair<std::string, std::string>>;

// The number of observations up to each bound, including those below.
struct HistogramCounts {
  // The bounds ascend. What is beyond the last one is only in `count`.
  std::vector<double> bounds;
  std::vector<std::uint64_t> cumulative;
  std::uint64_t count = 0;
  double sum = 0;
};

// Receives the values of one collection. Metrics of one name have one help text and differ in their labels.
// Names follow Prometheus: base units (seconds, bytes), counters ending with _total.
//
// Thread safety: one thread at a time.
class MetricSink {
 public:
  virtual ~MetricSink() = default;

  // Adds a value that only grows while the process lives.
  virtual void AddCounter(absl::string_view name, absl::string_view help, MetricLabels labels,
                          double value) = 0;
  virtual void AddGauge(absl::string_view name, absl::string_view help, MetricLabels labels,
                        double value) = 0;
  virtual void AddHistogram(absl::string_view name, absl::string_view help, MetricLabels labels,
                            const HistogramCounts& counts) = 0;
};

// A source of metrics.
//
// Thread safety: Collect may be called from any thread, while counting goes on.
class MetricSource {
 public:
  virtual ~MetricSource() = default;

  // Adds all metrics of the source, under names that no other source has.
  virtual void Collect(MetricSink& sink) const = 0;
};

}  // namespace waystar::runtime
