#include "client/load/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace waystar::load {
namespace {

TEST(HistogramTest, AgreesWithSortedSamples) {
  std::mt19937_64 random(1);
  for (const int size : {1, 2, 100, 10'000}) {
    Histogram histogram;
    std::vector<std::int64_t> samples;
    for (int i = 0; i < size; ++i) {
      const auto sample =
          static_cast<std::int64_t>(std::exp(std::uniform_real_distribution<double>(0, 40)(random)));
      samples.push_back(sample);
      histogram.Add(sample);
    }
    std::sort(samples.begin(), samples.end());
    for (const double percent : {0.01, 1.0, 50.0, 90.0, 99.0, 99.9, 99.99, 100.0}) {
      const auto rank = static_cast<std::size_t>(std::ceil(percent / 100 * size - 1e-6));
      const std::int64_t exact = samples[std::max<std::size_t>(rank, 1) - 1];
      EXPECT_GE(histogram.Percentile(percent), exact) << percent << "% of " << size;
      EXPECT_LE(histogram.Percentile(percent), exact + exact / 128) << percent << "% of " << size;
    }
    EXPECT_EQ(histogram.max(), samples.back());
    EXPECT_EQ(histogram.count(), samples.size());
  }
}

TEST(HistogramTest, SmallValuesAreExact) {
  Histogram histogram;
  for (int value = 0; value < 256; ++value) {
    histogram.Add(value);
  }
  EXPECT_EQ(histogram.Percentile(50), 127);
  EXPECT_EQ(histogram.Percentile(100), 255);
  EXPECT_DOUBLE_EQ(histogram.Mean(), 127.5);
}

TEST(HistogramTest, KeepsTheLargestAndTheSmallest) {
  Histogram histogram;
  EXPECT_EQ(histogram.Percentile(99), 0);
  EXPECT_EQ(histogram.Mean(), 0);
  histogram.Add(-5);
  histogram.Add(INT64_MAX);
  EXPECT_EQ(histogram.Percentile(50), 0);
  EXPECT_EQ(histogram.Percentile(100), INT64_MAX);
}

TEST(HistogramTest, MergesAndWeighs) {
  Histogram one;
  one.Add(10, 3);
  Histogram other;
  other.Add(1000);
  one.Merge(other);
  EXPECT_EQ(one.count(), 4);
  EXPECT_EQ(one.max(), 1000);
  EXPECT_EQ(one.Percentile(75), 10);
  EXPECT_EQ(one.Mean(), 257.5);
}

TEST(HistogramTest, OctavesCountExactly) {
  Histogram histogram;
  for (const int value : {0, 1, 2, 3, 1023, 1024, 1025, 2047, 2048}) {
    histogram.Add(value);
  }
  const auto octaves = histogram.Octaves();
  ASSERT_EQ(octaves.size(), 12);
  EXPECT_EQ(octaves[0].count, 2);
  EXPECT_EQ(octaves[1].count, 2);
  EXPECT_EQ(octaves[9].count, 1);
  EXPECT_EQ(octaves[10].from, 1024);
  EXPECT_EQ(octaves[10].count, 3);
  EXPECT_EQ(octaves[11].count, 1);
}

}  // namespace
}  // namespace waystar::load
