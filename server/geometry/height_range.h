// Ranges of heights.
#pragma once

#include <limits>

namespace waystar::core {

// Heights from `low` to `high`, inclusive.
struct HeightRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  bool Overlaps(const HeightRange& other) const { return low <= other.high && other.low <= high; }
  bool IsAll() const { return *this == HeightRange(); }

  friend bool operator==(const HeightRange&, const HeightRange&) = default;
};

}  // namespace waystar::core
