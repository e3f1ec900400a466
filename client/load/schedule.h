#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <random>

#include "client/load/clock.h"

namespace waystar::load {

// Schedule: when something is due, again and again.
class Schedule {
 public:
  // Makes the schedule of lane `lane` of `lanes`, which take turns at even distances, `rate` times a second.
  // Each time is computed from its number, so that no rounding adds up. REQUIRES: rate > 0.
  static Schedule Even(Time begin, double rate, int lane = 0, int lanes = 1) {
    return {begin, rate, static_cast<std::uint64_t>(lane), static_cast<std::uint64_t>(lanes)};
  }

  // Makes a schedule of times that are independent of each other, `rate` a second on average: a Poisson
  // process, as many clients make it, and several of these together. The same seed gives the same times.
  // REQUIRES: rate > 0.
  static Schedule Random(Time begin, double rate, std::uint64_t seed) {
    Schedule schedule(begin, rate, 0, 1);
    // This is not the seed that the queries of the lane are drawn from.
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
