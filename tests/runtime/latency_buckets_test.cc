#include <chrono>
#include <cstddef>
#include <cstdint>

#include "gtest/gtest.h"
#include "server/runtime/metric_sink.h"

namespace waystar::runtime {
namespace {

// In nanoseconds, as the contract says it.
std::int64_t BeginOf(std::size_t bucket) {
  return 250 * ((4 + static_cast<std::int64_t>(bucket) % 4) << (bucket / 4));
}

TEST(LatencyBucketsTest, EachBeginsWhereTheContractSays) {
  for (std::size_t bucket = 1; bucket < kLatencyBuckets; ++bucket) {
    EXPECT_EQ(LatencyBucketOf(std::chrono::nanoseconds(BeginOf(bucket))), bucket);
    EXPECT_EQ(LatencyBucketOf(std::chrono::nanoseconds(BeginOf(bucket) - 1)), bucket - 1);
  }
}

TEST(LatencyBucketsTest, WhatIsShorterOrLongerIsInTheFirstAndTheLast) {
  EXPECT_EQ(LatencyBucketOf(std::chrono::nanoseconds(0)), 0);
  EXPECT_EQ(LatencyBucketOf(std::chrono::nanoseconds(-5)), 0);
  EXPECT_EQ(LatencyBucketOf(std::chrono::nanoseconds(999)), 0);
  EXPECT_EQ(LatencyBucketOf(std::chrono::hours(24 * 365)), kLatencyBuckets - 1);
}

}  // namespace
}  // namespace waystar::runtime
