// What a store says its maps take, beside what they really hold of the heap.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/map/profile_views.h"
#include "server/core/store/map_store.h"
#include "tests/core/grid/search/allocation_counter.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {
namespace {

constexpr int kSide = 1000;

GridMap Blank() {
  GridSettings settings;
  settings.terrains.push_back({.symbol = '~', .name = "mud", .cost = 2.0});
  return *GridMap::Create(kSide, kSide, settings);
}

class MemoryUseTest : public ::testing::Test {
 protected:
  explicit MemoryUseTest(std::size_t commits = 1) : store_(StoreOptions{.max_history_commits = commits}) {}

  // Returns what the account says `work` made the store take.
  MemoryUse UseOf(const std::function<void()>& work) {
    const MemoryUse before = store_.MeasureMemory();
    const std::int64_t live = LiveBytes();
    work();
    const auto held = static_cast<double>(LiveBytes() - live);
    const MemoryUse after = store_.MeasureMemory();
    const double told = static_cast<double>(after.total()) - static_cast<double>(before.total());
    EXPECT_NEAR(told, held, 0.15 * held + 48'000);
    return {.maps = after.maps - before.maps,
            .indexes = after.indexes - before.indexes,
            .views = after.views - before.views,
            .old_snapshots = after.old_snapshots - before.old_snapshots,
            .requests = after.requests - before.requests,
            .history = after.history - before.history};
  }

  void CreateBlank() { ASSERT_THAT(store_.Create("m", Blank(), absl::UnixEpoch()), IsOk()); }
  void Update(UpdateBatch batch) { ASSERT_THAT(store_.UpdateAndWait("m", std::move(batch)), IsOk()); }

  // Cells and walls all over the map.
  void Paint() {
    UpdateBatch batch;
    for (int i = 0; i < 200; ++i) {
      const Rectangle stripe{(7 * i) % 13, 5 * i, kSide - 20, 2};
      batch.edits.emplace_back(BlockCells{{.rectangles = {stripe}}});
      batch.edits.emplace_back(SetTerrain{{.rectangles = {{3, 5 * i, 900, 4}}}, '~'});
    }
    Update(std::move(batch));
  }

  MapStore store_;
  std::vector<PinnedSnapshot> held_;
};

TEST_F(MemoryUseTest, OfBlankMaps) {
  const MemoryUse use = UseOf([&] {
    for (int i = 0; i < 10; ++i) {
      ASSERT_THAT(store_.Create(absl::StrCat("m", i), Blank(), absl::UnixEpoch()), IsOk());
    }
  });
  EXPECT_GT(use.maps, 0);
  EXPECT_GT(use.indexes, 0);
  EXPECT_LT(use.views, 10 * kSide);
}

TEST_F(MemoryUseTest, OfAPaintedMap) {
  CreateBlank();
  EXPECT_GT(UseOf([&] { Paint(); }).maps, kSide * kSide / 2);
}

TEST_F(MemoryUseTest, OfEarlierRevisionsThatAreRead) {
  CreateBlank();
  Paint();
  const MemoryUse use = UseOf([&] {
    for (int i = 0; i < 50; ++i) {
      held_.push_back(*store_.Pin("m"));
      UpdateBatch batch;
      for (int j = 0; j < 100; ++j) {
        batch.edits.push_back(Block({(37 * i) % kSide, (i + 10 * j) % kSide}));
      }
      Update(std::move(batch));
    }
  });
  EXPECT_GT(use.old_snapshots, 50'000);
}

TEST_F(MemoryUseTest, OfViewsAndLargerAgents) {
  CreateBlank();
  Paint();
  const PinnedSnapshot map = *store_.Pin("m");
  const MemoryUse use = UseOf([&] {
    for (int i = 0; i < 5; ++i) {
      const MovementProfile profile{.terrain_costs = {{'.', 1.5 + i}}, .forbidden_terrains = {'~'}};
      ViewUnder(map->grid(), TerrainRules(profile, map->grid().settings()));
    }
    for (int side = 2; side < 5; ++side) {
      map->grid().walk(side)->components(Adjacency::kStraight);
    }
  });
  EXPECT_GT(use.views, 8 * kSide * kSide / 8);
  const auto drop = [&] { map->grid().DropViews(true); };
  const MemoryUse before = store_.MeasureMemory();
  drop();
  EXPECT_EQ(before.views - use.views, store_.MeasureMemory().views);
}

TEST_F(MemoryUseTest, OfIndexes) {
  CreateBlank();
  Paint();
  const PinnedSnapshot map = *store_.Pin("m");
  const MemoryUse use = UseOf([&] {
    map->grid().walk().MakeDiagonalJumpIndex(CornerRule::kAlways);
    map->grid().plain_cells();
    map->grid().walk().components(Adjacency::kAny);
  });
  EXPECT_GT(use.indexes, kSide * kSide / 8);
}

TEST_F(MemoryUseTest, OfObstaclesWithNamesAndLifetimes) {
  CreateBlank();
  UseOf([&] {
    UpdateBatch batch;
    for (int i = 0; i < 5000; ++i) {
      batch.edits.emplace_back(
          PutObstacle{.obstacle = {.id = absl::StrCat("the-crate-number-", i),
                                   .shape = {.discs = {{{(i * 13) % 990 + 5.0, (i * 29) % 990 + 5.0}, 2.0}}}},
                      .lifetime = absl::Hours(1)});
    }
    Update(std::move(batch));
  });
}

class HistoryUseTest : public MemoryUseTest {
 protected:
  HistoryUseTest() : MemoryUseTest(1000) {}
};

TEST_F(HistoryUseTest, OfChangedAreas) {
  CreateBlank();
  const MemoryUse use = UseOf([&] {
    const Shape wall{.lines = {{.start = {0, 0}, .end = {kSide - 1, kSide - 1}}}};
    for (int i = 0; i < 500; ++i) {
      Update({.edits = {BlockCells{wall}}});
      Update({.edits = {UnblockCells{wall}}});
    }
  });
  EXPECT_GT(use.history, 1000 * 32 * sizeof(Rectangle));
}

TEST_F(MemoryUseTest, OfPortals) {
  CreateBlank();
  UseOf([&] {
    UpdateBatch batch;
    for (int i = 0; i < 900; ++i) {
      batch.edits.emplace_back(PutPortal{
          .portal = {.id = absl::StrCat("portal-number-", i), .from = {i, 3}, .to = {i, 900}, .cost = 5}});
    }
    Update(std::move(batch));
  });
}

TEST_F(MemoryUseTest, OfGraphs) {
  UseOf([&] {
    WaypointSpec spec;
    for (int i = 0; i < 5000; ++i) {
      spec.nodes.push_back({.id = absl::StrCat("node-", i), .position = {i * 1.0, (i * 7) % 100 * 1.0}});
      if (i > 0) {
        spec.edges.push_back({.name = {absl::StrCat("node-", i), absl::StrCat("node-", i - 1)}});
      }
    }
    ASSERT_THAT(store_.Create("g", *WaypointGraph::Create(spec), absl::UnixEpoch()), IsOk());
  });
}

}  // namespace
}  // namespace waystar::core
