// Latency buckets whose widths grow with the latency.
#pragma once

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace waystar::runtime {

// Four buckets per doubling, from 1 us to 64 s. Bucket i begins at (4 + i % 4) * 2^(i / 4) quarters of a
// microsecond. The first bucket also counts shorter latencies, the last one longer ones.
inline constexpr std::size_t kLatencyBuckets = 104;

// Returns the bucket of a latency, in a few instructions.
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
