#include "server/core/grid/cells/bit_row.h"

#include <cstddef>
#include <vector>

#include "gtest/gtest.h"

namespace waystar::core {
namespace {

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
