#include "server/runtime/metric_sink.h"

#include <algorithm>

namespace waystar::runtime {

Histogram::Histogram(std::vector<double> bounds)
    : bounds_(std::move(bounds)),
      buckets_(std::make_unique<std::atomic<std::uint64_t>[]>(bounds_.size() + 1)) {}

void Histogram::Observe(double value) {
  const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
  buckets_[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

HistogramCounts Histogram::Counts() const {
  HistogramCounts counts{.bounds = bounds_};
  counts.cumulative.reserve(bounds_.size());
  for (std::size_t i = 0; i <= bounds_.size(); ++i) {
    counts.count += buckets_[i].load(std::memory_order_relaxed);
    if (i < bounds_.size()) {
      counts.cumulative.push_back(counts.count);
    }
  }
  counts.sum = sum_.load(std::memory_order_relaxed);
  return counts;
}

bool Histogram::has_counts() const {
  return std::any_of(
      buckets_.get(), buckets_.get() + bounds_.size() + 1,
      [](const std::atomic<std::uint64_t>& bucket) { return bucket.load(std::memory_order_relaxed) > 0; });
}

}  // namespace waystar::runtime
