#include "tests/bench/sample.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace waystar::bench {

double Sample::Mean() const {
  return values_.empty()
             ? 0.0
             : std::accumulate(values_.begin(), values_.end(), 0.0) / static_cast<double>(values_.size());
}

double Sample::Percentile(double fraction) {
  if (values_.empty()) {
    return 0.0;
  }
  const auto rank = static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(values_.size())));
  const auto nth = values_.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::nth_element(values_.begin(), nth, values_.end());
  return *nth;
}

}  // namespace waystar::bench
