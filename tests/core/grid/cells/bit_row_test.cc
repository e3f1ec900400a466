#include "server/core/grid/cells/bit_row.h"

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

}  // namespace
}  // namespace waystar::core
