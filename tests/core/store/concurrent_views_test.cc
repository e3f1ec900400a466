// Views of a map that changes, asked for on many threads: for the thread sanitizer as much as for the
// assertions.

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/grid/map/movement_profile.h"
#include "server/core/grid/map/profile_views.h"
#include "server/core/store/map_store.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {
namespace {

using ::waystar::testing::Block;
using ::waystar::testing::DrawMap;
using ::waystar::testing::IsOk;
using ::waystar::testing::Patience;
using ::waystar::testing::Unblock;

TEST(ConcurrentViewsTest, EachIsThatOfItsSnapshot) {
  constexpr int kViewers = 4;
  constexpr int kUpdates = 400;
  GridSettings settings;
  settings.terrains.push_back({.symbol = '~', .name = "water", .impassable = true});
  settings.terrains.push_back({.symbol = 's', .name = "swamp", .cost = 3.0});
  MapStore store(1);
  ASSERT_THAT(store.Create("sea", DrawMap({"~~~~s", "....."}, settings), absl::UnixEpoch()), IsOk());
  const MovementProfile profiles[] = {{.terrain_costs = {{'~', 1.0}}},
                                      {.terrain_costs = {{'s', 1.0}}, .no_diagonals = true},
                                      {.forbidden_terrains = {'s'}}};
  std::atomic<bool> is_over = false;
  std::atomic<int> views = 0;
  std::vector<std::thread> readers;
  for (int reader = 0; reader < kViewers; ++reader) {
    readers.emplace_back([&, reader] {
      for (int i = reader; !is_over.load(); ++i) {
        const auto snapshot = store.Pin("sea");
        ASSERT_THAT(snapshot, IsOk());
        const GridMap& map = (*snapshot)->grid();
        const TerrainRules rules(profiles[i % 3], map.settings());
        const std::shared_ptr<const GridMap> view = ViewUnder(map, rules);
        for (int x = 0; x < map.width(); ++x) {
          const bool expected = !map.HasObstacle({x, 0}) && !rules.terrains[map.TerrainAt({x, 0})].impassable;
          ASSERT_EQ(view->walk(1 + i % 2)->rows().Test({x, 0}) || i % 2 == 1, expected || i % 2 == 1);
          ASSERT_EQ(view->IsWalkable({x, 0}), expected);
        }
        EXPECT_GT(map.memory_bytes(), 0U);
        ++views;
      }
    });
  }
  const Patience patience("views of the changed map");
  for (int i = 0; (i < kUpdates || views.load() < kUpdates) && patience.Lasts(); ++i) {
    const Cell cell{i % 5, 0};
    ASSERT_THAT(store.UpdateAndWait("sea", {.edits = {i / 5 % 2 == 0 ? Block(cell) : Unblock(cell)}}),
                IsOk());
  }
  is_over = true;
  for (std::thread& reader : readers) {
    reader.join();
  }
}

}  // namespace
}  // namespace waystar::core
