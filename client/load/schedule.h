#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <random>

#include "client/load/settings.h"

namespace waystar::load {

// When something is due, again and again, from the first time on.
class Schedule {
 public:
  // Lane `lane` of `lanes`, which take turns in times at even distances, `rate` a second. Each time is
  // computed from its number, so that no rounding adds up. REQUIRES: rate > 0.
  static Schedule Even(Time begin, double rate, int lane = 0, int lanes = 1) {
    return {begin, rate, static_cast<std::uint64_t>(lane), static_cast<std::uint64_t>(lanes)};
  }

  // Times that know nothing of each other, `rate` a second on the average: a Poisson process, as many clients
  // make it, and several of these together. The same for the same seed. REQUIRES: rate > 0.
  static Schedule Random(Time begin, double rate, std::uint64_t seed) {
    Schedule schedule(begin, rate, 0, 1);
    // Not what the queries of a lane of that seed are drawn from.
    schedule.random_.emplace(~seed);
    schedule.Next();
    return schedule;
  }

  Time due() const {
    return begin_ + Nanos(std::llround(random_ ? nanos_ : static_cast<double>(number_) * 1e9 / rate_));
  }

  void Next() {
    if (random_) {
      nanos_ += std::exponential_distribution<double>(rate_ / 1e9)(*random_);
    } else {
      number_ += step_;
    }
  }

 private:
  Schedule(Time begin, double rate, std::uint64_t first, std::uint64_t step)
      : begin_(begin), rate_(rate), number_(first), step_(step) {}

  Time begin_;
  double rate_;
  std::uint64_t number_;
  std::uint64_t step_;
  // If times are random: where they come from, and how long after the beginning the next is due.
  std::optional<std::mt19937_64> random_;
  double nanos_ = 0;
};

}  // namespace waystar::load
