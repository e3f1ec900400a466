#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "client/load/settings.h"

namespace waystar::load {

// Histogram of values from 0 to 2^63 - 1, in buckets whose width is at most 1/128 of what they hold. It takes
// 60 KB for any number of values, and adds each in constant time. The scheme is that of HdrHistogram (Gil
// Tene, 2012).
//
// Thread safety: one thread.
class Histogram {
 public:
  Histogram();

  // Negative values count as 0.
  void Add(std::int64_t value, std::uint64_t times = 1);
  void Merge(const Histogram& other);

  std::uint64_t count() const { return count_; }
  // The largest value and the mean are exact, and 0 if there are no values.
  std::int64_t max() const { return max_; }
  double Mean() const;

  // Returns the smallest value that at least `percent` of 100 values do not exceed. It is never too small,
  // and too large by less than 1/128; it is 0 if there are no values. REQUIRES: 0 < percent <= 100.
  std::int64_t Percentile(double percent) const;

  // How many values are from `from` to 2 * from - 1, exactly.
  struct Octave {
    std::int64_t from = 0;
    std::uint64_t count = 0;
  };
  // Returns the octaves from the first that is not empty to the last. Values below 1 count as 1.
  std::vector<Octave> Octaves() const;

 private:
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  std::int64_t max_ = 0;
  double sum_ = 0;
};

// Failures with the same cause: their number, and the server's message for one of them.
struct Failures {
  std::uint64_t count = 0;
  std::string message;

  void Add(const Failures& others);
};

// Tally of the results of queries, or of batches of edits. Thread safety: one thread.
struct Tally {
  std::uint64_t answered = 0;
  // Answered queries by outcome, other than a complete path.
  std::uint64_t without_path = 0;
  // Failures by code name and reason, which may be empty.
  std::map<std::pair<std::string, std::string>, Failures> failures;
  // Latency of answered queries, in nanoseconds.
  Histogram latency;
  // End of the last one.
  Time last_end = Time::min();

  std::uint64_t failed() const;
  void AddFailure(const absl::Status& status, std::uint64_t count);
  void Merge(const Tally& other);
};

}  // namespace waystar::load
