#include "server/core/search/random_draws.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"

namespace waystar::core {

std::vector<std::int64_t> Draw(std::int64_t count, std::int64_t total, SplitMix& random) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < count; ++i) {
    numbers.push_back(static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(total))));
  }
  return numbers;
}

// Fisher-Yates shuffle that stops after the wanted numbers: Durstenfeld, "Algorithm 235: Random Permutation"
// (1964).
std::vector<std::int64_t> DrawDistinct(std::int64_t count, std::int64_t total, SplitMix& random) {
  std::vector<std::int64_t> numbers;
  // Number at each position that does not hold its own.
  absl::flat_hash_map<std::int64_t, std::int64_t> moved;
  const auto at = [&](std::int64_t place) {
    const auto found = moved.find(place);
    return found == moved.end() ? place : found->second;
  };
  for (std::int64_t i = 0; i < std::min(count, total); ++i) {
    const auto place = i + static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(total - i)));
    numbers.push_back(at(place));
    moved[place] = at(i);
  }
  return numbers;
}

}  // namespace waystar::core
