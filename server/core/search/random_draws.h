// Random draws that are the same on every machine.
#pragma once

#include <cstdint>
#include <vector>

namespace waystar::core {

// Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators" (2014). The same numbers everywhere,
// as those of the standard library's distributions are not.
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}

  // Returns a number from 0 to bound - 1, with equal chances. REQUIRES: bound > 0.
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

// Return numbers from 0 to total - 1 in random order, with equal chances: `count` of them; or, all distinct,
// at most `total`. REQUIRES: total > 0.
std::vector<std::int64_t> Draw(std::int64_t count, std::int64_t total, SplitMix& random);
std::vector<std::int64_t> DrawDistinct(std::int64_t count, std::int64_t total, SplitMix& random);

}  // namespace waystar::core
