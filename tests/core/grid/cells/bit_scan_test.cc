#include <vector>

#include "gtest/gtest.h"
#include "server/core/grid/cells/bit_row.h"

namespace waystar::core {
namespace {

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
