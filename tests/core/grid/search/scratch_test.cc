#include "server/core/grid/search/scratch.h"

#include <cstddef>

#include "gtest/gtest.h"

namespace waystar::core {
namespace {

GridMap Blank(int width, int height) { return *GridMap::Create(width, height, {}); }

TEST(ScratchTest, MapsOfDifferentSizesDoNotMixUp) {
  const GridMap wide = Blank(2000, 3);
  const GridMap tall = Blank(3, 2000);
  Scratch scratch(1 << 24);
  scratch.Start(wide);
  for (int x = 0; x < 2000; ++x) {
    scratch.Reach(*scratch.Find({x, 1}), x, Direction::kEast);
  }
  scratch.Start(tall);
  for (int y = 0; y < 2000; ++y) {
    ASSERT_TRUE(scratch.IsFresh(*scratch.Find({1, y}))) << y;
    scratch.Reach(*scratch.Find({1, y}), y, Direction::kSouth);
  }
  for (int y = 0; y < 2000; ++y) {
    ASSERT_EQ(scratch.Find({1, y})->g, y);
  }
}

TEST(ScratchTest, MemoryFollowsWhatIsTouched) {
  const GridMap map = Blank(8192, 8192);
  Scratch scratch(std::size_t{1} << 30);
  scratch.Start(map);
  for (int i = 0; i < 100; ++i) {
    scratch.Find({i, i});
  }
  EXPECT_LT(scratch.memory_bytes(), std::size_t{2} << 20);
}

TEST(ScratchTest, MemoryStaysBelowTheLimitAndIsUsedAgain) {
  const GridMap map = Blank(1024, 1024);
  constexpr std::size_t kLimit = 256 * 1024;
  Scratch scratch(kLimit);
  for (int round = 0; round < 3; ++round) {
    scratch.Start(map);
    int touched = 0;
    while (touched < 32 && scratch.Find({touched * 32, round * 32}) != nullptr) {
      ++touched;
    }
    EXPECT_GT(touched, 5) << "round " << round;
    EXPECT_LT(touched, 32) << "round " << round;
    EXPECT_LE(scratch.memory_bytes(), kLimit);
  }
}

}  // namespace
}  // namespace waystar::core
