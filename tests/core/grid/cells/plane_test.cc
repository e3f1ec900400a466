#include "server/core/grid/cells/plane.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace waystar::core {
namespace {

TEST(PlaneTest, StartsWithPatternInEveryRow) {
  const Plane<std::uint8_t> plane(1000, std::vector<std::uint8_t>{1, 2, 3});
  for (const int y : {0, 1, 511, 999}) {
    EXPECT_EQ(std::vector<std::uint8_t>(plane.row(y), plane.row(y) + 3),
              (std::vector<std::uint8_t>{1, 2, 3}));
  }
}

TEST(PlaneTest, WriteToCopyLeavesOriginalAlone) {
  const Plane<std::uint8_t> original(3000, std::vector<std::uint8_t>(100, 7));
  Plane<std::uint8_t> copy = original;
  PlaneWriter<std::uint8_t> writer(copy);
  writer.row(1234)[56] = 9;
  EXPECT_EQ(copy.row(1234)[56], 9);
  EXPECT_EQ(original.row(1234)[56], 7);
  for (int y = 0; y < 3000; ++y) {
    for (int x = 0; x < 100; ++x) {
      ASSERT_EQ(copy.row(y)[x], y == 1234 && x == 56 ? 9 : 7) << x << ", " << y;
    }
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

}  // namespace
}  // namespace waystar::core
