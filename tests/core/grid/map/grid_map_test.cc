#include "server/core/grid/map/grid_map.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "gmock/gmock.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/stop_after.h"

namespace waystar::core {
namespace {

TEST(GridMapTest, RejectsSidesOutOfRange) {
  for (const std::int64_t side : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{kMaxMapSide} + 1,
                                  std::int64_t{1} << 31, std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_THAT(GridMap::Create(side, 1, {}), IsError(kInvalid, ErrorReason::kBadSize, "width"));
    EXPECT_THAT(GridMap::Create(1, side, {}), IsError(kInvalid, ErrorReason::kBadSize, "height"));
  }
}

TEST(GridMapTest, SmallestAndLargest) {
  const auto smallest = GridMap::Create(1, 1, {});
  ASSERT_TRUE(smallest.ok());
  EXPECT_TRUE(smallest->IsWalkable({0, 0}));
  EXPECT_FALSE(smallest->IsWalkable({1, 0}));

  const auto largest = GridMap::Create(kMaxMapSide, kMaxMapSide, {});
  ASSERT_TRUE(largest.ok());
  EXPECT_EQ(largest->walkable_cells(), std::int64_t{kMaxMapSide} * kMaxMapSide);
  EXPECT_TRUE(largest->IsWalkable({kMaxMapSide - 1, kMaxMapSide - 1}));
  EXPECT_FALSE(largest->IsWalkable({kMaxMapSide, kMaxMapSide - 1}));
  EXPECT_LT(largest->memory_bytes(), 1'000'000U);
}

TEST(GridMapTest, PreparationEndsSoonAfterTheLookThatStopsIt) {
  GridSettings four;
  four.connectivity = Connectivity::kFour;
  for (const GridSettings& settings : {GridSettings(), four}) {
    const GridMap blank = *GridMap::Create(2000, 1000, settings);
    GridMapEditor editor(blank);
    editor.SetObstacle({1000, 500}, true);
    const GridMap map = std::move(editor).Finish();
    const StopAfter never;
    GridMap(map).Prepare({}, &never);
    EXPECT_GE(never.looks(), 1000 / 64);
    for (const int allowed : {0, 1, 10, never.looks() - 1}) {
      const StopAfter stop(allowed);
      GridMap(map).Prepare({}, &stop);
      // One more for each block of the components that is left, and for each index.
      EXPECT_LE(stop.looks(), allowed + 80);
    }
  }
}

TEST(GridMapTest, BytesBeyondAnotherAreThoseOfWhatDiffers) {
  GridMap map = *GridMap::Create(1500, 1000, {});
  map.Prepare();
  map.walk(2)->components(Adjacency::kAny);
  map.plain_cells();
  const auto with_obstacle = [](const GridMap& base, Cell cell) {
    GridMapEditor editor(base);
    editor.SetObstacle(cell, true);
    return std::move(editor).Finish();
  };
  const GridMap copy = map;
  EXPECT_LT(copy.BytesBeyond(map), 1000U);

  const GridMap changed = with_obstacle(map, {700, 500});
  EXPECT_GT(changed.BytesBeyond(map), 10'000U);
  EXPECT_LT(changed.BytesBeyond(map), map.memory_bytes() / 4);
  EXPECT_LT(map.BytesBeyond(changed), map.memory_bytes() / 4);

  const GridMap unlike = *GridMap::Create(1500, 1000, {});
  EXPECT_GT(changed.BytesBeyond(unlike) + 10'000, changed.memory_bytes());

  // Two further changes far apart share less with the first map than one does.
  const GridMap further = with_obstacle(changed, {100, 100});
  EXPECT_GT(further.BytesBeyond(map), changed.BytesBeyond(map));
  EXPECT_LE(further.BytesBeyond(changed), further.BytesBeyond(map));
}

}  // namespace
}  // namespace waystar::core
