// Buckets for latencies, whose widths grow with the latency.
#pragma once

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace waystar::runtime {

// There are four buckets for each doubling, from a microsecond to 64 seconds: bucket i holds what took at
// least (4 + i % 4) * 2^(i / 4) quarters of a microsecond, and less than the next. The first also holds what
// took less, the last what took more.
inline constexpr std::size_t kLatencyBuckets = 104;

// Returns the bucket of a latency, in some instructions and without a branch that is hard to predict.
constexpr std::size_t LatencyBucketOf(std::chrono::nanoseconds time) {
  const std::int64_t quarters = time.count() / 250;
  if (quarters < 4) {
    return 0;
  }
  const auto value = static_cast<std::uint64_t>(quarters);
  const auto doublings = static_cast<std::size_t>(std::bit_width(value)) - 3;
  const std::size_t bucket = doublings * 4 + static_cast<std::size_t>(value >> doublings) - 4;
  return bucket < kLatencyBuckets ? bucket : kLatencyBuckets - 1;
}

}  // namespace waystar::runtime
