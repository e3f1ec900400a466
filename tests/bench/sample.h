// A sample of measurements and what is said of it.
#pragma once

#include <cstddef>
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

}  // namespace waystar::bench
