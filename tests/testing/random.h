// Source of random numbers that are the same on every machine.
#pragma once

#include <cstdint>
#include <random>

// Defined where a sanitizer makes each input take many times as long.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WAYSTAR_IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WAYSTAR_IS_SANITIZED 1
#endif
#endif

namespace waystar {

// Returns how many generated inputs a test tries: all, but a quarter under a sanitizer, whose findings depend
// on the kinds of inputs and not on the answer for each.
constexpr std::uint64_t Rounds(std::uint64_t all) {
#ifdef WAYSTAR_IS_SANITIZED
  return (all + 3) / 4;
#else
  return all;
#endif
}

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

}  // namespace waystar
