// Interfaces by which parts of a server report metrics.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace waystar::runtime {

// Label names and values, in display order. Values must come from a set that clients cannot grow, because
// collectors keep every value.
using MetricLabels = std::vector<std::pair<std::string, std::string>>;

// Cumulative counts of a histogram, by upper bound.
struct HistogramCounts {
  // In ascending order. Larger values are only in `count`.
  std::vector<double> bounds;
  std::vector<std::uint64_t> cumulative;
  std::uint64_t count = 0;
  double sum = 0;
};

// Receives the values of one collection. Metrics of one name share a help text and differ in labels. Names
// follow Prometheus: base units (seconds, bytes), counters end with _total.
//
// Thread safety: one thread at a time.
class MetricSink {
 public:
  virtual ~MetricSink() = default;

  // Adds a value that never decreases while the process lives.
  virtual void AddCounter(absl::string_view name, absl::string_view help, MetricLabels labels,
                          double value) = 0;
  virtual void AddGauge(absl::string_view name, absl::string_view help, MetricLabels labels,
                        double value) = 0;
  virtual void AddHistogram(absl::string_view name, absl::string_view help, MetricLabels labels,
                            const HistogramCounts& counts) = 0;
};

// A source of metrics.
//
// Thread safety: Collect may be called from any thread, concurrently with updates.
class MetricSource {
 public:
  virtual ~MetricSource() = default;

  // Adds all metrics of the source. No other source uses their names.
  virtual void Collect(MetricSink& sink) const = 0;
};

}  // namespace waystar::runtime
