#include "server/core/grid/cells/world_frame.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "gmock/gmock.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

using ::waystar::testing::Random;

TEST(WorldFrameTest, BordersBelongToTheLargerCell) {
  const WorldFrame frame{.origin = {-10.0, 5.0, 2.0}, .cell_size = 0.5};
  EXPECT_EQ(frame.CellAt({-10.0, 5.0}), (Cell{0, 0}));
  EXPECT_EQ(frame.CellAt({-9.5, 5.5}), (Cell{1, 1}));
  EXPECT_EQ(frame.CellAt({std::nextafter(-9.5, -10.0), std::nextafter(5.5, 0.0)}), (Cell{0, 0}));
  EXPECT_EQ(frame.CellAt({-10.1, 4.9}), (Cell{-1, -1}));
  EXPECT_EQ(frame.CenterOf({0, 0}), (WorldPoint{-9.75, 5.25, 2.0}));
}

TEST(WorldFrameTest, FarAwayIsOffEveryMap) {
  const WorldFrame frame{.cell_size = kMinCellSize};
  constexpr double kFar = std::numeric_limits<double>::max();
  EXPECT_LT(frame.CellAt({-kFar, 0}).x, -8192);
  EXPECT_GT(frame.CellAt({kFar, kFar}).y, 8192);
}

// Whatever the rounding of the division, the edges decide.
TEST(WorldFrameTest, EdgesDecideAndCentresComeBack) {
  Random random(5);
  for (int i = 0; i < 100'000; ++i) {
    const WorldFrame frame{
        .origin = {random.Between(-1000000, 1000000) / 7.0, random.Between(-1000, 1000) * 1e6},
        .cell_size = random.Between(1, 5000) / 1000.0};
    const Cell cell{random.Between(0, 8191), random.Between(0, 8191)};
    ASSERT_EQ(frame.CellAt(frame.CenterOf(cell)), cell);
    const double edge = std::fma(cell.x, frame.cell_size, frame.origin.x);
    const double middle = frame.CenterOf(cell).y;
    ASSERT_EQ(frame.CellAt({edge, middle}), cell);
    ASSERT_EQ(frame.CellAt({std::nextafter(edge, -1e300), middle}).x, cell.x - 1);
  }
}

}  // namespace
}  // namespace waystar::core
