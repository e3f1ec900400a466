// Measurements: how long something takes, and what is said of a sample.
#pragma once

#include <chrono>
#include <cstddef>
#include <ctime>
#include <vector>

namespace waystar::bench {

class Sample {
 public:
  void Add(double value) { values_.push_back(value); }
  void Append(const Sample& other) {
    values_.insert(values_.end(), other.values_.begin(), other.values_.end());
  }

  std::size_t size() const { return values_.size(); }
  // 0 for an empty sample.
  double Mean() const;
  // The smallest value that is not below `fraction` of the sample, 0 < fraction <= 1; 0 for an empty one.
  double Percentile(double fraction);

 private:
  std::vector<double> values_;
};

// Returns how long one call of function() takes, in microseconds.
template <typename Function>
double MicrosOf(Function function) {
  const auto begin = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

// Returns the same, but the time that this thread had a processor: what runs beside it counts only by what it
// pushes out of the caches. A call takes a few tenths of a microsecond by itself.
template <typename Function>
double ThreadMicrosOf(Function function) {
  const auto now = [] {
    std::timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
  };
  const double begin = now();
  function();
  return now() - begin;
}

}  // namespace waystar::bench
