// How the parts of a server tell what they count, whoever asks.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace waystar::runtime {

// Names and values, in the order in which they are to be shown. Values must come from a set that no client
// can make grow: each is kept for as long as whoever collects keeps anything.
using MetricLabels = std::vector<std::pair<std::string, std::string>>;

// How many observations there were up to each bound, those below it included.
struct HistogramCounts {
  // Ascending. What is beyond the last one is in `count` alone.
  std::vector<double> bounds;
  std::vector<std::uint64_t> cumulative;
  std::uint64_t count = 0;
  double sum = 0;
};

// Takes what one collection finds. Metrics of one name have one help text and differ in their labels. Names
// are as Prometheus wants them: base units (seconds, bytes), counters ending with _total.
//
// Thread safety: one thread at a time.
class MetricSink {
 public:
  virtual ~MetricSink() = default;

  // Only ever grows while the process lives.
  virtual void AddCounter(absl::string_view name, absl::string_view help, MetricLabels labels,
                          double value) = 0;
  virtual void AddGauge(absl::string_view name, absl::string_view help, MetricLabels labels,
                        double value) = 0;
  virtual void AddHistogram(absl::string_view name, absl::string_view help, MetricLabels labels,
                            const HistogramCounts& counts) = 0;
};

// Something that is counted.
//
// Thread safety: Collect from any thread, while what is counted goes on.
class MetricSource {
 public:
  virtual ~MetricSource() = default;

  // Adds everything there is to tell, under names that no other source has.
  virtual void Collect(MetricSink& sink) const = 0;
};

}  // namespace waystar::runtime
