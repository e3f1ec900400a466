// Metrics: histograms, and the interfaces by which parts of a server report them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
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

  // Adds a value that never decreases while the process lives. Values are numbers, true or false, or atomic.
  template <typename Value>
  void AddCounter(absl::string_view name, absl::string_view help, const Value& value,
                  MetricLabels labels = {}) {
    AddNumber(name, help, static_cast<double>(value), std::move(labels), /*is_counter=*/true);
  }
  template <typename Value>
  void AddGauge(absl::string_view name, absl::string_view help, const Value& value,
                MetricLabels labels = {}) {
    AddNumber(name, help, static_cast<double>(value), std::move(labels), /*is_counter=*/false);
  }
  // Adds a gauge of a condition that needs attention: the condition lasts while the value is not 0, and
  // `text` says what is wrong.
  template <typename Value>
  void AddCondition(absl::string_view name, absl::string_view help, const Value& value,
                    absl::string_view text, MetricLabels labels = {}) {
    AddGauge(name, help, value, std::move(labels));
    if (value != 0) {
      NoteCondition(name, text);
    }
  }
  virtual void AddHistogram(absl::string_view name, absl::string_view help, const HistogramCounts& counts,
                            MetricLabels labels = {}) = 0;

 private:
  virtual void AddNumber(absl::string_view name, absl::string_view help, double value, MetricLabels labels,
                         bool is_counter) = 0;
  virtual void NoteCondition(absl::string_view /*name*/, absl::string_view /*text*/) {}
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

// Histogram of observed values. Observe is lock-free: two atomic additions and a binary search, about 20 ns.
//
// Thread safety: any method may be called from any thread. Concurrent Counts may miss some observations.
class Histogram {
 public:
  // REQUIRES: `bounds` are in ascending order.
  explicit Histogram(std::vector<double> bounds);

  void Observe(double value);

  HistogramCounts Counts() const;

  // Returns true if anything was observed.
  bool has_counts() const;

 private:
  const std::vector<double> bounds_;
  // One bucket per bound, and one for larger values.
  const std::unique_ptr<std::atomic<std::uint64_t>[]> buckets_;
  std::atomic<double> sum_ = 0;
};

}  // namespace waystar::runtime
