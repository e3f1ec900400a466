#pragma once

#include <cmath>
#include <cstdint>

#include "client/load/clock.h"

namespace waystar::load {

// Arrivals at even distances. The time of each is computed from its number, so that no rounding adds up.
class Schedule {
 public:
  // REQUIRES: rate > 0, in arrivals a second.
  Schedule(Time begin, double rate) : begin_(begin), rate_(rate) {}

  // Of arrival `number`, counted from 0.
  Time DueAt(std::uint64_t number) const {
    return begin_ + Nanos(std::llround(static_cast<double>(number) * 1e9 / rate_));
  }

  // How many arrivals are due before `end`.
  std::uint64_t CountBefore(Time end) const {
    if (end <= begin_) {
      return 0;
    }
    const double seconds = std::chrono::duration<double>(end - begin_).count();
    auto number = static_cast<std::uint64_t>(seconds * rate_);
    while (number > 0 && DueAt(number - 1) >= end) {
      --number;
    }
    while (DueAt(number) < end) {
      ++number;
    }
    return number;
  }

 private:
  Time begin_;
  double rate_;
};

}  // namespace waystar::load
