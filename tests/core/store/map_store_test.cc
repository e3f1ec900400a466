#include "server/core/store/map_store.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/core/grid/engines/find_path.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/oracle.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::waystar::testing::Block;
using ::waystar::testing::DrawMap;
using ::waystar::testing::DrawPath;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::PathFault;
using ::waystar::testing::Unblock;

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

std::vector<std::string> IdsOf(const std::vector<PinnedSnapshot>& snapshots) {
  std::vector<std::string> ids;
  for (const PinnedSnapshot& snapshot : snapshots) {
    ids.push_back(snapshot->id);
  }
  return ids;
}

TEST(MapStoreTest, NewMapStartsAtRevisionOne) {
  MapStore store(10);
  const auto created = store.Create("arena", DrawMap({"..."}), kNow);
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_EQ((*created)->revision, 1U);
  EXPECT_EQ((*created)->create_time, kNow);
  EXPECT_EQ(*store.Pin("arena"), *created);
}

TEST(MapStoreTest, CreatesAPreparedMapAsItIs) {
  MapStore store(10);
  AnyMap map = DrawMap({"..."});
  store.Prepare(map);
  const GridMap grid = *std::get_if<GridMap>(&map);
  EXPECT_EQ(grid.memory_account(), &store.memory());
  store.Prepare(map);
  EXPECT_EQ(&std::get_if<GridMap>(&map)->walk(), &grid.walk());
  MapStore other(10);
  const auto elsewhere = other.Create("arena", grid, kNow);
  ASSERT_THAT(elsewhere, IsOk());
  EXPECT_EQ((*elsewhere)->grid().memory_account(), &other.memory());
  const auto created = store.Create("arena", grid, kNow);
  ASSERT_THAT(created, IsOk());
  EXPECT_EQ(&(*created)->grid().walk(), &grid.walk());
}

TEST(MapStoreTest, UpdateMakesTheNextRevisionAndLeavesThePinnedOne) {
  MapStore store(10);
  ASSERT_THAT(store.Create("arena", DrawMap({"..."}), kNow), IsOk());
  const PinnedSnapshot pinned = *store.Pin("arena");
  const auto updated = store.UpdateAndWait("arena", {.edits = {Block({1, 0})}});
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(updated->revision, 2U);
  EXPECT_EQ(updated->summary.changed_cells, 1);
  EXPECT_THAT(DrawPath(pinned->grid(), {}), ElementsAre("..."));
  const PinnedSnapshot latest = *store.Pin("arena");
  EXPECT_EQ(latest->revision, 2U);
  EXPECT_THAT(DrawPath(latest->grid(), {}), ElementsAre(".#."));
  EXPECT_EQ(latest->create_time, kNow);
}

TEST(MapStoreTest, OneBadEditChangesNothing) {
  MapStore store(10);
  ASSERT_THAT(store.Create("arena", DrawMap({"..."}), kNow), IsOk());
  std::vector<Edit> edits(1000, Block({1, 0}));
  edits[999] = Block({3, 0});
  EXPECT_THAT(store.UpdateAndWait("arena", {.edits = edits}),
              IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "edits[999].block.cells[0]"));
  EXPECT_EQ((*store.Pin("arena"))->revision, 1U);
  EXPECT_THAT(DrawPath((*store.Pin("arena"))->grid(), {}), ElementsAre("..."));
}

TEST(MapStoreTest, UnknownMap) {
  MapStore store(10);
  constexpr auto kNotFound = absl::StatusCode::kNotFound;
  EXPECT_THAT(store.Pin("nowhere"), IsError(kNotFound, ErrorReason::kMapNotFound, "map"));
  EXPECT_THAT(store.Delete("nowhere"), IsError(kNotFound, ErrorReason::kMapNotFound, "map"));
  EXPECT_THAT(store.UpdateAndWait("nowhere", {.edits = {Block({0, 0})}}),
              IsError(kNotFound, ErrorReason::kMapNotFound, "map"));
  EXPECT_THAT(store.Pin("../x"), IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadMapId, "map"));
}

TEST(MapStoreTest, RefusesDuplicatesBadIdsAndOneMapTooMany) {
  MapStore store(2);
  ASSERT_THAT(store.Create("a", DrawMap({"."}), kNow), IsOk());
  EXPECT_THAT(store.Create("a", DrawMap({"."}), kNow),
              IsError(absl::StatusCode::kAlreadyExists, ErrorReason::kMapExists, "map"));
  EXPECT_THAT(store.CheckCanCreate("a"),
              IsError(absl::StatusCode::kAlreadyExists, ErrorReason::kMapExists, "map"));
  EXPECT_THAT(store.Create("A", DrawMap({"."}), kNow),
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadMapId, "map"));
  EXPECT_THAT(store.CheckCanCreate("b"), IsOk());
  ASSERT_THAT(store.Create("b", DrawMap({"."}), kNow), IsOk());
  EXPECT_THAT(store.Create("c", DrawMap({"."}), kNow),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kTooManyMaps, ""));
}

TEST(MapStoreTest, ListsInOrderAPageAtATime) {
  MapStore store(10);
  for (const char* id : {"c", "a", "d", "b"}) {
    ASSERT_THAT(store.Create(id, DrawMap({"."}), kNow), IsOk());
  }
  EXPECT_THAT(IdsOf(store.List("", 3)), ElementsAre("a", "b", "c"));
  EXPECT_THAT(IdsOf(store.List("c", 3)), ElementsAre("d"));
  EXPECT_THAT(IdsOf(store.List("d", 3)), IsEmpty());
}

TEST(MapStoreTest, DeletedMapIsGoneButWhatIsPinnedStays) {
  MapStore store(10);
  ASSERT_THAT(store.Create("arena", DrawMap({"..."}), kNow), IsOk());
  ASSERT_THAT(store.UpdateAndWait("arena", {.edits = {Block({1, 0})}}), IsOk());
  const PinnedSnapshot pinned = *store.Pin("arena");
  EXPECT_EQ(store.Delete("arena")->revision, 2U);
  EXPECT_THAT(store.Pin("arena"), IsError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map"));
  EXPECT_THAT(DrawPath(pinned->grid(), {}), ElementsAre(".#."));
  // The id comes again, and its revisions begin again.
  ASSERT_THAT(store.Create("arena", DrawMap({"."}), kNow), IsOk());
  EXPECT_EQ((*store.Pin("arena"))->revision, 1U);
  EXPECT_NE((*store.Pin("arena"))->epoch, pinned->epoch);
}

// A door at (8, 4) opens and closes while readers search: each answer is right for the revision it pinned.
// The door is open at odd revisions. What searches by several rules and sizes need is made by whoever asks
// first, and repaired by the writer.
TEST(MapStoreTest, ReadersSeeWholeRevisionsWhileAWriterWrites) {
  std::vector<std::string> rows(9, "........#........");
  rows[4] = ".................";
  MapStore store(10);
  ASSERT_THAT(store.Create("door", DrawMap(rows), kNow), IsOk());
  constexpr int kUpdates = 400;
  std::atomic<bool> done = false;
  const auto read = [&] {
    Scratch scratch(1 << 22);
    std::uint64_t last_revision = 0;
    int asked = 0;
    do {
      const PinnedSnapshot pinned = *store.Pin("door");
      ASSERT_GE(pinned->revision, last_revision);
      last_revision = pinned->revision;
      const auto rule = static_cast<CornerRule>(asked % kCornerRuleCount);
      const int footprint = asked % 4 == 3 ? 2 : 1;
      ++asked;
      const Cell goal{17 - footprint, 9 - footprint};
      const auto result =
          FindPath(pinned->grid(),
                   {.start = {0, 0}, .goal = goal, .corner_rule = rule, .footprint = footprint}, {}, scratch);
      ASSERT_TRUE(result.ok()) << result.status();
      // Too narrow for a larger agent.
      const bool open = pinned->revision % 2 == 1 && footprint == 1;
      ASSERT_EQ(result->outcome, open ? Outcome::kFound : Outcome::kUnreachable) << pinned->revision;
      if (open) {
        ASSERT_EQ(PathFault(pinned->grid(), rule, {0, 0}, goal, result->points, result->cost), "");
      }
    } while (!done.load());
  };
  std::thread first(read);
  std::thread second(read);
  for (int i = 0; i < kUpdates; ++i) {
    const auto updated =
        store.UpdateAndWait("door", {.edits = {i % 2 == 0 ? Block({8, 4}) : Unblock({8, 4})}});
    EXPECT_TRUE(updated.ok()) << updated.status();
  }
  done = true;
  first.join();
  second.join();
  EXPECT_EQ((*store.Pin("door"))->revision, kUpdates + 1U);
}

// Writers that compare and set lose no update: each success moved the map from the revision it expected.
TEST(MapStoreTest, CompareAndSetLosesNothing) {
  MapStore store(10);
  ASSERT_THAT(store.Create("arena", DrawMap({"...."}), kNow), IsOk());
  constexpr int kSuccesses = 200;
  const auto write = [&](Cell cell) {
    for (int successes = 0; successes < kSuccesses;) {
      const PinnedSnapshot pinned = *store.Pin("arena");
      const Edit edit = pinned->grid().HasObstacle(cell) ? Unblock(cell) : Block(cell);
      const auto updated =
          store.UpdateAndWait("arena", {.edits = {edit}, .expected = {.revision = pinned->revision}});
      if (updated.ok()) {
        ASSERT_EQ(updated->revision, pinned->revision + 1);
        ASSERT_EQ(updated->summary.changed_cells, 1);
        ++successes;
      } else {
        ASSERT_THAT(updated,
                    IsError(absl::StatusCode::kAborted, ErrorReason::kStaleRevision, "expected_version"));
      }
    }
  };
  std::thread first(write, Cell{0, 0});
  std::thread second(write, Cell{1, 0});
  first.join();
  second.join();
  EXPECT_EQ((*store.Pin("arena"))->revision, 2U * kSuccesses + 1U);
}

}  // namespace
}  // namespace waystar::core
