#include "server/base/striped_mutex.h"

#include <atomic>
#include <bit>
#include <set>
#include <thread>
#include <vector>

#include "gmock/gmock.h"

namespace waystar {
namespace {

TEST(StripedMutexTest, HasAStripeAProcessorWithinBounds) {
  const std::size_t stripes = StripedMutex().stripes();
  EXPECT_TRUE(std::has_single_bit(stripes));
  EXPECT_GE(stripes, 1U);
  EXPECT_LE(stripes, StripedMutex::kMaxStripes);
}

TEST(StripedMutexTest, StripesAreGivenInTurnAndKept) {
  const StripedMutex mutex(8);
  std::set<std::size_t> stripes;
  for (int i = 0; i < 8; ++i) {
    std::thread([&] {
      const std::size_t stripe = mutex.OwnStripe();
      EXPECT_LT(stripe, 8U);
      EXPECT_EQ(mutex.OwnStripe(), stripe);
      stripes.insert(stripe);
    }).join();
  }
  EXPECT_EQ(stripes.size(), 8U);
}

TEST(StripedMutexTest, ReadersOfOtherStripesNeedNotWait) {
  StripedMutex mutex(4);
  StripedReaderLock lock(mutex);
  int others = 0;
  for (int i = 0; i < 4; ++i) {
    std::thread([&] {
      if (mutex.OwnStripe() != lock.stripe()) {
        StripedReaderLock other(mutex);
        EXPECT_NE(other.stripe(), lock.stripe());
        ++others;
      }
    }).join();
  }
  EXPECT_EQ(others, 3);
}

struct Pair {
  StripedMutex mutex;
  int first ABSL_GUARDED_BY(mutex) = 0;
  int second ABSL_GUARDED_BY(mutex) = 0;

  explicit Pair(std::size_t stripes) : mutex(stripes) {}
};

class StripedMutexExclusionTest : public ::testing::TestWithParam<std::size_t> {};

TEST_P(StripedMutexExclusionTest, ReadersNeverSeeHalfOfAWrite) {
  constexpr int kWriters = 2;
  constexpr int kWrites = 2000;
  Pair pair(GetParam());
  std::atomic<int> newest = 0;
  std::atomic<int> writing = kWriters;
  std::vector<std::thread> threads;
  for (int i = 0; i < kWriters; ++i) {
    threads.emplace_back([&] {
      for (int write = 0; write < kWrites; ++write) {
        StripedWriterLock lock(pair.mutex);
        ++pair.first;
        ++pair.second;
      }
      --writing;
    });
  }
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      do {
        const int seen = newest.load();
        StripedReaderLock lock(pair.mutex);
        ASSERT_EQ(pair.first, pair.second);
        // Not older than what a reader of any stripe has read.
        ASSERT_GE(pair.first, seen);
        for (int before = seen; before < pair.first && !newest.compare_exchange_weak(before, pair.first);) {
        }
      } while (writing > 0);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  StripedReaderLock lock(pair.mutex);
  EXPECT_EQ(pair.first, kWriters * kWrites);
}

INSTANTIATE_TEST_SUITE_P(Stripes, StripedMutexExclusionTest, ::testing::Values(1, 2, 16));

}  // namespace
}  // namespace waystar
