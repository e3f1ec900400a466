#pragma once

#include <cstdint>
#include <vector>

namespace waystar::load {

// Counts values, from 0 to 2^63 - 1, in buckets whose width is at most 1/128 of what they hold: any number of
// values in 60 KB, each added in constant time. The scheme is that of HdrHistogram (Gil Tene, 2012).
//
// Not thread-safe.
class Histogram {
 public:
  Histogram();

  // Negative ones count as 0.
  void Add(std::int64_t value, std::uint64_t times = 1);
  void Merge(const Histogram& other);

  std::uint64_t count() const { return count_; }
  // Exact, as the mean is. 0 if there are none.
  std::int64_t max() const { return max_; }
  double Mean() const;

  // The smallest value that at least `percent` of 100 are not above: never too small, and too large by less
  // than 1/128. 0 if there are none. REQUIRES: 0 < percent <= 100.
  std::int64_t Percentile(double percent) const;

  // How many are from `from` to 2 * from - 1, exactly.
  struct Octave {
    std::int64_t from = 0;
    std::uint64_t count = 0;
  };
  // From the first that is not empty to the last; what is below 1 counts as 1.
  std::vector<Octave> Octaves() const;

 private:
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  std::int64_t max_ = 0;
  double sum_ = 0;
};

}  // namespace waystar::load
