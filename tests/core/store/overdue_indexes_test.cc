// Search indexes of large maps, made on a thread of their own while the maps change.
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/edit.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/jumps/diagonal_jump_index.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/store/map_store.h"
#include "tests/testing/diagonal_jump_index_match.h"
#include "tests/testing/patience.h"
#include "tests/testing/random.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAreArray;

constexpr int kLargeSide = 2112;
constexpr CornerRule kOneRule = CornerRule::kNoCornerCutting;

Edit BlockScattered(int cells, Random& random) {
  Shape shape;
  for (int i = 0; i < cells; ++i) {
    shape.cells.push_back({random.Between(0, kLargeSide - 1), random.Between(0, kLargeSide - 1)});
  }
  return BlockCells{shape};
}

class OverdueIndexesOfStoreTest : public ::testing::Test {
 protected:
  OverdueIndexesOfStoreTest() {
    EXPECT_THAT(store_.Create("large", *GridMap::Create(kLargeSide, kLargeSide, {}), absl::UnixEpoch()),
                IsOk());
  }

  void Scatter(int cells) {
    ASSERT_THAT(store_.UpdateAndWait("large", {.edits = {BlockScattered(cells, random_)}}), IsOk());
  }

  PinnedSnapshot Latest() { return *store_.Pin("large"); }

  MapStore store_{1};
  Random random_{1};
};

TEST_F(OverdueIndexesOfStoreTest, AreMadeForTheLatestSnapshot) {
  EXPECT_FALSE(*store_.BuildInBackground("large", nullptr));
  Scatter(3000);
  const PinnedSnapshot latest = Latest();
  EXPECT_TRUE(latest->grid().NeedsBackgroundBuild());
  EXPECT_FALSE(*store_.BuildInBackground("large", nullptr)) << "nobody searched";
  latest->grid().walk().RecordSpared(kOneRule, 1'000'000'000);
  const std::atomic<bool> cancelled = true;
  EXPECT_FALSE(*store_.BuildInBackground("large", &cancelled));
  EXPECT_TRUE(*store_.BuildInBackground("large", nullptr));
  EXPECT_FALSE(latest->grid().NeedsBackgroundBuild());
  ASSERT_NE(latest->grid().walk().diagonal_jumps(kOneRule), nullptr);
  EXPECT_THAT(store_.BuildInBackground("small", nullptr),
              IsError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map"));
}

TEST_F(OverdueIndexesOfStoreTest, RestoredMapAnswersBeforeThereAreAny) {
  GridMap map = ApplyEdits(*GridMap::Create(kLargeSide, kLargeSide, {}),
                           std::vector<Edit>{BlockScattered(400'000, random_)}, absl::UnixEpoch())
                    ->map;
  const Cell start{0, 0};
  const Cell goal{kLargeSide - 1, kLargeSide - 1};
  map = ApplyEdits(map, std::vector<Edit>{UnblockCells{{.cells = {start, goal}}}}, absl::UnixEpoch())->map;
  MapStore restored{1};
  ASSERT_THAT(restored.Restore({.snapshot = {.id = "large", .epoch = 1, .revision = 7, .map = map}}), IsOk());
  const PinnedSnapshot pinned = *restored.Pin("large");
  EXPECT_TRUE(pinned->grid().NeedsBackgroundBuild());
  Scratch scratch(std::size_t{1} << 28);
  const auto find = [&] { return *FindPath(pinned->grid(), {.start = start, .goal = goal}, {}, scratch); };
  const PathResult before = find();
  const std::vector<Cell> points(before.points.begin(), before.points.end());
  EXPECT_TRUE(*restored.BuildInBackground("large", nullptr));
  EXPECT_FALSE(pinned->grid().NeedsBackgroundBuild());
  const PathResult after = find();
  EXPECT_EQ(before.outcome, Outcome::kFound);
  EXPECT_EQ(before.cost, after.cost);
  EXPECT_THAT(after.points, ElementsAreArray(points));
}

// Though memory is measured before the indexes are built.
TEST_F(OverdueIndexesOfStoreTest, RestoredMapsArePromisedHalfOfTheMemoryAtMost) {
  const auto restore = [](MapStore& store, int number) {
    EXPECT_THAT(store.Restore({.snapshot = {.id = absl::StrCat("m", number),
                                            .epoch = 1,
                                            .revision = 1,
                                            .map = *GridMap::Create(kLargeSide, kLargeSide, {})}}),
                IsOk());
    store.memory().Measure();
    return (*store.Pin(absl::StrCat("m", number)))->grid().NeedsBackgroundBuild();
  };
  constexpr int kMaps = 6;
  constexpr std::size_t kIndexBytes = DiagonalJumpIndex::BytesFor(std::size_t{kLargeSide} * kLargeSide);
  MapStore one{1};
  ASSERT_TRUE(restore(one, 0));
  const std::size_t map_bytes = (*one.Pin("m0"))->memory_bytes();
  ASSERT_LT(kMaps * map_bytes, kIndexBytes);

  StoreOptions options;
  options.max_maps = kMaps;
  options.max_maps_bytes = 2 * (2 * kIndexBytes + kMaps * map_bytes);
  MapStore store(options);
  for (int i = 0; i < kMaps - 1; ++i) {
    EXPECT_EQ(restore(store, i), i < 2) << i;
  }
  EXPECT_EQ(store.MeasureMemory().promised, 2 * kIndexBytes);
  EXPECT_THAT(store.UpdateAndWait("m0", {.edits = {BlockScattered(10, random_)}}), IsOk());
  EXPECT_EQ(store.MeasureMemory().promised, 2 * kIndexBytes);
  // What is built is no promise, and takes no more.
  EXPECT_TRUE(*store.BuildInBackground("m0", nullptr));
  EXPECT_EQ(store.MeasureMemory().promised, kIndexBytes);
  EXPECT_LE(store.MeasureMemory().total(), options.max_maps_bytes / 2 + kIndexBytes);
  // The promise to a map that is gone is free.
  ASSERT_THAT(store.Delete("m1"), IsOk());
  EXPECT_EQ(store.MeasureMemory().promised, 0u);
}

TEST_F(OverdueIndexesOfStoreTest, MapMayChangeAndGoMeanwhile) {
  constexpr int kRounds = 30;
  std::atomic<bool> is_over = false;
  int made = 0;
  std::thread maker([&] {
    while (!is_over) {
      const absl::StatusOr<PinnedSnapshot> latest = store_.Pin("large");
      if (latest.ok()) {
        (*latest)->grid().walk().RecordSpared(kOneRule, 1'000'000'000);
      }
      made += store_.BuildInBackground("large", nullptr).value_or(false) ? 1 : 0;
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    Scatter(i % 3 == 0 ? 3000 : 10);
  }
  // The maker has a map to work at until it has.
  EXPECT_TRUE(WaitUntil([&] { return !Latest()->grid().NeedsBackgroundBuild(); }, "the index"));
  const PinnedSnapshot last = Latest();
  ASSERT_THAT(store_.Delete("large"), IsOk());
  is_over = true;
  maker.join();
  EXPECT_GT(made, 0);
  const DiagonalJumpIndex* stops = last->grid().walk().MakeDiagonalJumpIndex(kOneRule);
  ASSERT_NE(stops, nullptr);
  ExpectNoStopMissing(last->grid().walk(), *stops, DiagonalJumpIndex(last->grid().walk(), kOneRule));
}

}  // namespace
}  // namespace waystar::core
