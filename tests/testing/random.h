// Source of random numbers that are the same on every machine.
#pragma once

#include <cstdint>
#include <random>

namespace waystar::testing {

// The same seed gives the same numbers with every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  // Returns a number from `low` to `high`, both included.
  int Between(int low, int high) {
    // Not std::uniform_int_distribution, whose results differ between standard libraries.
    return low + static_cast<int>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }

  bool Chance(double probability) {
    return static_cast<double>(engine_() >> 11) < probability * 9007199254740992.0;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace waystar::testing
