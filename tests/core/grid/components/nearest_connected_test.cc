#include <cstdint>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/components/components.h"
#include "server/core/grid/map/grid_map.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/flood.h"
#include "tests/testing/generator.h"
#include "tests/testing/rules.h"

namespace waystar::core {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::waystar::testing::DrawMap;
using ::waystar::testing::Flood;
using ::waystar::testing::Generator;
using ::waystar::testing::kAdjacencies;

std::vector<Cell> Nearest(const BitPlane& cells, Adjacency adjacency, Cell start, Cell goal) {
  NearestConnectedBuffer buffer;
  std::vector<Cell> nearest;
  NearestConnected(Components(cells, adjacency), start, goal, buffer, nearest);
  return nearest;
}

std::vector<Cell> NearestByTryingAll(const Flood& flood, Adjacency adjacency, const BitPlane& cells,
                                     Cell start, Cell goal) {
  std::vector<Cell> nearest;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (int y = 0; y < cells.height(); ++y) {
    for (int x = 0; x < cells.width(); ++x) {
      const std::int64_t dx = x - goal.x;
      const std::int64_t dy = y - goal.y;
      const std::int64_t squared_distance =
          dx * dx + dy * dy + (adjacency == Adjacency::kHexagonal ? dx * dy : 0);
      if (squared_distance <= least && flood.AreConnected(start, {x, y})) {
        if (squared_distance < least) {
          nearest.clear();
        }
        least = squared_distance;
        nearest.push_back({x, y});
      }
    }
  }
  return nearest;
}

TEST(NearestConnectedTest, NothingFromACellThatIsNotSetOrOffThePlane) {
  const BitPlane cells = DrawMap({".#."}).walk().rows();
  EXPECT_THAT(Nearest(cells, Adjacency::kAny, {1, 0}, {2, 0}), IsEmpty());
  EXPECT_THAT(Nearest(cells, Adjacency::kAny, {3, 0}, {2, 0}), IsEmpty());
}

TEST(NearestConnectedTest, AppendsToWhatIsThere) {
  const Components components(DrawMap({".#."}).walk().rows(), Adjacency::kAny);
  NearestConnectedBuffer buffer;
  std::vector<Cell> cells = {{7, 7}};
  NearestConnected(components, {0, 0}, {2, 0}, buffer, cells);
  EXPECT_THAT(cells, ElementsAre(Cell{7, 7}, Cell{0, 0}));
}

TEST(NearestConnectedTest, AcrossTheLargestMap) {
  BitPlane cells(kMaxMapSide, kMaxMapSide, true);
  BitPlaneWriter writer(cells);
  for (int y = 0; y < kMaxMapSide; ++y) {
    AssignBit(writer.row(y), 1, false);
  }
  EXPECT_THAT(Nearest(cells, Adjacency::kAny, {0, 17}, {kMaxMapSide - 1, kMaxMapSide - 1}),
              ElementsAre(Cell{0, kMaxMapSide - 1}));
}

TEST(NearestConnectedTest, MatchesTryingEveryCell) {
  // One for all maps: what a call leaves behind is nothing to the next.
  NearestConnectedBuffer buffer;
  for (int seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Generator generator(seed);
    const GridMap map = generator.Map({.max_side = seed % 2 == 0 ? 40 : 300});
    const BitPlane& cells = map.walk().rows();
    const Adjacency adjacency = kAdjacencies[seed / 2 % 3];
    const Components components(cells, adjacency);
    const Flood flood(cells, adjacency);
    for (int query = 0; query < 20; ++query) {
      const Cell start = generator.CellOf(map);
      const Cell goal = generator.CellOf(map);
      std::vector<Cell> nearest;
      NearestConnected(components, start, goal, buffer, nearest);
      ASSERT_EQ(nearest, NearestByTryingAll(flood, adjacency, cells, start, goal));
    }
  }
}

}  // namespace
}  // namespace waystar::core
