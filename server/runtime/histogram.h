// Histogram of observed values.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "server/runtime/metric_sink.h"

namespace waystar::runtime {

// Observe is lock-free: two atomic additions and a binary search, about 20 ns.
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
