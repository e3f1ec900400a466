// Random draws that are the same on every machine.
#pragma once

#include <cstdint>
#include <vector>

namespace waystar::core {

// SplitMix64 generator: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators" (2014). Results
// are the same on every machine, unlike those of the standard library's distributions.
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}

  // Returns a uniformly distributed number from 0 to bound - 1.
  // REQUIRES: bound > 0.
  std::uint64_t Below(std::uint64_t bound) {
    const std::uint64_t uneven = (0 - bound) % bound;
    std::uint64_t number = Next();
    while (number < uneven) {
      number = Next();
    }
    return number % bound;
  }

 private:
  std::uint64_t Next() {
    state_ += 0x9E3779B97F4A7C15;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB;
    return mixed ^ mixed >> 31;
  }

  std::uint64_t state_;
};

// Return uniformly distributed numbers from 0 to total - 1 in random order. Draw returns `count` numbers;
// DrawDistinct returns min(count, total) distinct ones.
// REQUIRES: total > 0.
std::vector<std::int64_t> Draw(std::int64_t count, std::int64_t total, SplitMix& random);
std::vector<std::int64_t> DrawDistinct(std::int64_t count, std::int64_t total, SplitMix& random);

}  // namespace waystar::core
