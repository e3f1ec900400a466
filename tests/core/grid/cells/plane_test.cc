#include "server/core/grid/cells/plane.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/bit_row.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

TEST(PlaneTest, StartsWithPatternInEveryRow) {
  const Plane<std::uint8_t> plane(1000, std::vector<std::uint8_t>{1, 2, 3});
  for (const int y : {0, 1, 511, 999}) {
    EXPECT_EQ(std::vector<std::uint8_t>(plane.row(y), plane.row(y) + 3),
              (std::vector<std::uint8_t>{1, 2, 3}));
  }
}

TEST(PlaneTest, CopyClonesOnlyTheBandsItWrites) {
  const Plane<std::uint8_t> original(8192, std::vector<std::uint8_t>(8192, 0));
  const std::size_t blank = original.memory_bytes();
  EXPECT_LT(blank, 200'000U);

  Plane<std::uint8_t> copy = original;
  PlaneWriter<std::uint8_t>(copy).row(4000)[0] = 1;
  EXPECT_NE(copy.row(4000), original.row(4000));
  EXPECT_EQ(copy.row(100), original.row(100));
  EXPECT_EQ(copy.row(8191), original.row(8191));
  EXPECT_LT(copy.memory_bytes(), blank + 100'000U);
}

void ExpectTransposed(const BitPlane& turned, const BitPlane& plane) {
  ASSERT_EQ(turned.width(), plane.height());
  ASSERT_EQ(turned.height(), plane.width());
  for (int x = 0; x < plane.width(); ++x) {
    for (int y = 0; y < plane.height(); ++y) {
      ASSERT_EQ(turned.Test({y, x}), plane.Test({x, y})) << x << ", " << y;
    }
    // Nothing is set off the plane.
    for (std::size_t i = 0; i < static_cast<std::size_t>(WordsPerRow(plane.height())); ++i) {
      ASSERT_EQ(turned.word(x, i) & ~SpanMask(i, 0, plane.height()), 0U) << x;
    }
  }
}

TEST(TransposeTest, ColumnsBecomeRows) {
  Random random(1);
  for (const auto& [width, height] : {std::pair{1, 1},
                                      {1, 700},
                                      {700, 1},
                                      {62, 65},
                                      {63, 64},
                                      {64, 63},
                                      {511, 130},
                                      {512, 512},
                                      {513, 1030},
                                      {1100, 70}}) {
    SCOPED_TRACE(::testing::Message() << width << " x " << height);
    BitPlane plane(width, height, random.Chance(0.5));
    BitPlaneWriter writer(plane);
    for (int i = 0; i < width * height / 3 + 1; ++i) {
      AssignBit(writer.row(random.Between(0, height - 1)), random.Between(0, width - 1), random.Chance(0.5));
    }
    ExpectTransposed(Transposed(plane), plane);
  }
}

TEST(TransposeTest, UniformRowsStayOneBand) {
  for (const bool fill : {false, true}) {
    BitPlane plane(4096, 4096, fill);
    EXPECT_LT(Transposed(plane).memory_bytes(), 100'000U);
    AssignBit(BitPlaneWriter(plane).row(2000), 3000, !fill);
    EXPECT_LT(Transposed(plane).memory_bytes(), 100'000U);
  }
}

TEST(BitRowTest, WindowMatchesSingleBitsAcrossWordBorders) {
  constexpr int kWidth = 200;
  std::vector<Word> row(static_cast<std::size_t>(WordsPerRow(kWidth)), 0);
  for (int x = 0; x < kWidth; ++x) {
    AssignBit(row.data(), x, x % 3 == 0 || x % 7 == 2);
  }
  for (int x = 0; x < kWidth; ++x) {
    unsigned expected = 0;
    for (int offset = -1; offset <= 1; ++offset) {
      const bool inside = x + offset >= 0 && x + offset < kWidth;
      expected |= (inside && TestBit(row.data(), x + offset) ? 1U : 0U) << (offset + 1);
    }
    EXPECT_EQ(ThreeBits(row.data(), x), expected) << "x = " << x;
  }
}

TEST(BitRowTest, EmptyRowServesTheWidestMap) {
  EXPECT_EQ(ThreeBits(kEmptyRow, 0), 0U);
  EXPECT_EQ(ThreeBits(kEmptyRow, kMaxMapSide - 1), 0U);
}

TEST(BitScanTest, FindsTheNextClearBitBothWays) {
  constexpr int kWidth = 200;
  for (const int hole : {0, 1, 61, 62, 63, 64, 65, 126, 127, 128, 198, 199}) {
    std::vector<Word> row(WordsPerRow(kWidth), 0);
    for (int x = 0; x < kWidth; ++x) {
      AssignBit(row.data(), x, x != hole);
    }
    for (int x = 0; x < kWidth; ++x) {
      EXPECT_EQ(FirstClear(row.data(), x), x <= hole ? hole : kWidth) << x << " with hole " << hole;
      EXPECT_EQ(LastClear(row.data(), x), x >= hole ? hole : -1) << x << " with hole " << hole;
    }
    EXPECT_EQ(FirstClear(row.data(), kWidth), kWidth);
    EXPECT_EQ(LastClear(row.data(), -1), -1);
  }
}

}  // namespace
}  // namespace waystar::core
