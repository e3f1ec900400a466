// What a store does when its maps together take more than they may.

#include <cstddef>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/core/store/map_store.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {
namespace {

std::size_t BytesOfOne() {
  MapStore store(1);
  return (*store.Create("one", DrawMap({"....", "...."}), absl::UnixEpoch()))->memory_bytes();
}

PutObstacle Crate(int number) {
  return {.obstacle = {.id = absl::StrCat("crate-", number), .shape = {.cells = {{1, 1}}}}};
}

TEST(MapsMemoryTest, RefusesAMapForWhichThereIsNoRoom) {
  StoreOptions options;
  options.max_maps_bytes = 2 * BytesOfOne() + BytesOfOne() / 2;
  MapStore store(options);
  ASSERT_THAT(store.Create("a", DrawMap({"....", "...."}), absl::UnixEpoch()), IsOk());
  ASSERT_THAT(store.Create("b", DrawMap({"....", "...."}), absl::UnixEpoch()), IsOk());
  EXPECT_THAT(store.Create("c", DrawMap({"....", "...."}), absl::UnixEpoch()),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kMapsMemoryFull, ""));
  // The old map stays if there is no room for its replacement.
  EXPECT_THAT(store.Replace("a", DrawMap({"....", "...."}), absl::UnixEpoch()),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kMapsMemoryFull, ""));
  EXPECT_EQ(store.UpdateAndWait("a", {.edits = {Block({0, 0})}})->revision, 2U);
  ASSERT_THAT(store.Delete("a"), IsOk());
  EXPECT_THAT(store.Create("c", DrawMap({"....", "...."}), absl::UnixEpoch()), IsOk());
}

TEST(MapsMemoryTest, RefusesGroundWhileItIsFullAndLetsItGo) {
  MeshSpec spec{.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}};
  spec.AddPolygon({0, 1, 2});
  const NavMesh mesh = *NavMesh::Create(spec);
  StoreOptions options;
  options.max_maps_bytes = mesh.memory_bytes() + 100'000;
  options.maps_memory_check_interval = absl::ZeroDuration();
  MapStore store(options);
  ASSERT_THAT(store.Create("a", mesh, absl::UnixEpoch()), IsOk());
  int grounds = 0;
  absl::StatusOr<UpdateResult> result;
  do {
    const double x = 2 * grounds;
    MeshGround ground{.id = absl::StrCat("g", grounds++),
                      .polygons = {{.corners = {{x, 0, 9}, {x + 1, 0, 9}, {x, 1, 9}}}}};
    result = store.UpdateAndWait("a", {.edits = {PutGround{std::move(ground)}}});
  } while (result.ok() && grounds < 1000);
  EXPECT_THAT(result, IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kMapsMemoryFull, ""));
  EXPECT_THAT(store.UpdateAndWait("a", {.edits = {RemoveGround{"g0"}}}), IsOk());
}

TEST(MapsMemoryTest, RefusesUpdatesThatAddWhileItIsFullAndNoOthers) {
  StoreOptions options;
  options.max_maps_bytes = BytesOfOne() + 20'000;
  options.maps_memory_check_interval = absl::ZeroDuration();
  MapStore store(options);
  ASSERT_THAT(store.Create("a", DrawMap({"....", "...."}), absl::UnixEpoch()), IsOk());
  int obstacles = 0;
  absl::StatusOr<UpdateResult> result;
  do {
    result = store.UpdateAndWait("a", {.edits = {Crate(obstacles++)}});
  } while (result.ok() && obstacles < 10'000);
  EXPECT_THAT(result, IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kMapsMemoryFull, ""));
  EXPECT_THAT(store.UpdateAndWait("a", {.edits = {Block({0, 0})}}), IsOk());
  UpdateBatch removals;
  for (int i = 0; i < obstacles - 1; ++i) {
    removals.edits.emplace_back(RemoveObstacle{absl::StrCat("crate-", i)});
  }
  EXPECT_THAT(store.UpdateAndWait("a", removals), IsOk());
  EXPECT_THAT(store.UpdateAndWait("a", {.edits = {Crate(1)}}), IsOk());
}

TEST(MapsMemoryTest, RequestIdsAreCountedAndGiveWay) {
  StoreOptions options;
  options.max_maps = 2;
  options.max_maps_bytes = 2 * BytesOfOne() + 20'000;
  options.maps_memory_check_interval = absl::ZeroDuration();
  options.request_ids.count = 10;
  MapStore store(options);
  ASSERT_THAT(store.Create("a", DrawMap({"....", "...."}), absl::UnixEpoch()), IsOk());
  const auto update = [&](int number) {
    return store.UpdateAndWait("a", {.edits = {Block({0, 0})},
                                     .request_id = absl::StrCat("request ", number),
                                     .request_time = absl::FromUnixSeconds(number)});
  };
  constexpr int kUpdates = 500;
  for (int i = 0; i < kUpdates; ++i) {
    ASSERT_THAT(update(i), IsOk());
  }
  EXPECT_THAT(store.UpdateAndWait("a", {.edits = {Crate(1)}}), IsOk());
  EXPECT_THAT(update(0),
              IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kRequestIdExpired, "request_time"));
  const auto again = update(kUpdates - 1);
  ASSERT_THAT(again, IsOk());
  EXPECT_TRUE(again->already_applied);
  // They never keep a map from being created that fits beside the last of them.
  for (int i = kUpdates; i < 2 * kUpdates; ++i) {
    ASSERT_THAT(update(i), IsOk());
    ASSERT_THAT(store.Create("b", DrawMap({"....", "...."}), absl::UnixEpoch()), IsOk());
    ASSERT_THAT(store.Delete("b"), IsOk());
  }
}

// Many times as large as what they hold while they are blank.
constexpr int kSide = 512;

GridMap Blank() {
  GridSettings settings;
  settings.terrains.push_back({.symbol = '~', .name = "mud", .cost = 2.0});
  return *GridMap::Create(kSide, kSide, settings);
}

std::size_t BytesOfBlank() {
  MapStore store(1);
  return (*store.Create("one", Blank(), absl::UnixEpoch()))->memory_bytes();
}

UpdateBatch Mud(int side) { return {.edits = {SetTerrain{{.rectangles = {{0, 0, side, side}}}, '~'}}}; }

TEST(MapsMemoryTest, RefusesToPaintMoreThanThereIsRoomFor) {
  constexpr int kBlankMaps = 20;
  StoreOptions options;
  options.max_maps_bytes = kBlankMaps * BytesOfBlank() + 4 * kSide * kSide;
  MapStore store(options);
  for (int i = 0; i < kBlankMaps; ++i) {
    ASSERT_THAT(store.Create(absl::StrCat("m", i), Blank(), absl::UnixEpoch()), IsOk());
  }
  int painted = 0;
  while (painted < kBlankMaps && store.UpdateAndWait(absl::StrCat("m", painted), Mud(kSide)).ok()) {
    ++painted;
  }
  EXPECT_GT(painted, 0);
  ASSERT_LT(painted, kBlankMaps);
  EXPECT_LE(store.MeasureMemory().total(), options.max_maps_bytes);
  const std::string refused = absl::StrCat("m", painted);
  EXPECT_THAT(store.UpdateAndWait(refused, Mud(kSide)),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kMapsMemoryFull, ""));
  // It is as it was, and takes what there is room for.
  EXPECT_EQ((*store.Pin(refused))->revision, (*store.Pin("m19"))->revision);
  EXPECT_THAT(store.UpdateAndWait(refused, Mud(1)), IsOk());
  EXPECT_GT(store.memory().refusals(), 0);
  ASSERT_THAT(store.Delete("m0"), IsOk());
  ASSERT_THAT(store.Delete("m19"), IsOk());
  EXPECT_THAT(store.UpdateAndWait(refused, Mud(kSide)), IsOk());
}

TEST(MapsMemoryTest, CommitsAreForgottenAndOldSnapshotsEvictedToMakeRoom) {
  StoreOptions options;
  options.max_maps_bytes = 2 * BytesOfBlank() + 4 * kSide * kSide;
  MapStore store(options);
  const PinnedSnapshot first = *store.Create("m", Blank(), absl::UnixEpoch());
  ASSERT_THAT(store.UpdateAndWait("m", Mud(kSide)), IsOk());
  const PinnedSnapshot mud = *store.Pin("m");
  EXPECT_FALSE(mud->eviction.is_set());
  for (int i = 0; i < 1000 && !mud->eviction.is_set(); ++i) {
    // Those that repaint all of a map that is read need as much again.
    const char symbol = i % 2 == 0 ? '.' : '~';
    static_cast<void>(
        store.UpdateAndWait("m", {.edits = {SetTerrain{{.rectangles = {{0, 0, kSide, kSide}}}, symbol}}}));
    static_cast<void>(store.Create(absl::StrCat("n", i), Blank(), absl::UnixEpoch()));
  }
  EXPECT_TRUE(mud->eviction.is_set());
  EXPECT_GT(store.memory().drops(), 0);
}

class OldSnapshotsTest : public ::testing::Test {
 protected:
  void Make(std::size_t max_bytes) {
    store_ = std::make_unique<MapStore>(StoreOptions{.max_old_snapshot_bytes = max_bytes,
                                                     .old_snapshot_check_interval = absl::Seconds(1),
                                                     .clock = &clock_});
    Create("arena");
  }

  void Create(const std::string& id) {
    EXPECT_THAT(store_->Create(id, DrawMap({std::string(20, '.'), std::string(20, '.')}), clock_.Now()),
                IsOk());
  }

  // Blocks a cell that is free yet. Time for the next check passes before.
  void Update(const std::string& id) {
    clock_.Advance(absl::Seconds(2));
    EXPECT_THAT(store_->UpdateAndWait(id, BlockBatch({updates_++, 0})), IsOk());
  }

  PinnedSnapshot Pin(const std::string& id) { return *store_->Pin(id); }

  FakeClock clock_;
  int updates_ = 0;
  std::unique_ptr<MapStore> store_;
};

TEST_F(OldSnapshotsTest, CountsWhatIsPinnedAndReplaced) {
  Make(1 << 30);
  PinnedSnapshot first = Pin("arena");
  EXPECT_EQ(store_->OldSnapshotsOf("arena").count, 0U);
  Update("arena");
  Update("arena");
  PinnedSnapshot third = Pin("arena");
  Update("arena");
  const OldSnapshotsInfo info = store_->OldSnapshotsOf("arena");
  EXPECT_EQ(info.count, 2U);
  EXPECT_EQ(info.oldest_revision, 1U);
  EXPECT_GT(info.bytes, 0U);
  first.reset();
  EXPECT_EQ(store_->OldSnapshotsOf("arena").count, 1U);
  EXPECT_EQ(store_->OldSnapshotsOf("arena").oldest_revision, 3U);
  third.reset();
  EXPECT_EQ(store_->OldSnapshotsOf("arena").count, 0U);
  EXPECT_EQ(store_->OldSnapshotsOf("arena").oldest_revision, 0U);
  EXPECT_EQ(store_->OldSnapshotsOf("arena").bytes, 0U);
  EXPECT_EQ(store_->OldSnapshotsOf("nowhere").count, 0U);
}

// However many threads pin it, whichever of them let go first.
TEST_F(OldSnapshotsTest, CountsASnapshotOnceForAllThreads) {
  Make(1 << 30);
  std::vector<PinnedSnapshot> pinned;
  for (int i = 0; i < 8; ++i) {
    std::thread([&] { pinned.push_back(Pin("arena")); }).join();
  }
  Update("arena");
  while (!pinned.empty()) {
    EXPECT_EQ(store_->OldSnapshotsOf("arena").count, 1U);
    pinned.pop_back();
  }
  EXPECT_EQ(store_->OldSnapshotsOf("arena").count, 0U);
}

TEST_F(OldSnapshotsTest, OldestOfAllMapsGoFirst) {
  // Maps without jump indexes, which the first change of so small a map drops.
  const auto make = [&](std::size_t max_bytes) {
    Make(max_bytes);
    Create("other");
    Update("other");
    Update("arena");
  };
  make(1 << 30);
  const std::vector<PinnedSnapshot> pinned = {Pin("other"), Pin("arena")};
  Update("other");
  Update("arena");
  const std::size_t one = store_->OldSnapshotsOf("arena").bytes;
  ASSERT_GT(one, 0U);

  // Room for two of them.
  make(2 * one + one / 2);
  const PinnedSnapshot a1 = Pin("arena");
  const PinnedSnapshot b1 = Pin("other");
  Update("other");
  Update("arena");
  EXPECT_FALSE(a1->eviction.is_set());
  EXPECT_FALSE(b1->eviction.is_set());
  const PinnedSnapshot a2 = Pin("arena");
  Update("arena");
  EXPECT_FALSE(a1->eviction.is_set());
  EXPECT_TRUE(b1->eviction.is_set());
  EXPECT_FALSE(a2->eviction.is_set());
  // Snapshots that were told to go, and are still pinned, do not count against the others.
  Update("other");
  EXPECT_FALSE(a1->eviction.is_set());
  EXPECT_FALSE(Pin("arena")->eviction.is_set());
}

TEST_F(OldSnapshotsTest, SnapshotOfADeletedMapCountsAsWell) {
  Make(0);
  Create("other");
  const PinnedSnapshot pinned = Pin("arena");
  EXPECT_THAT(store_->Delete("arena"), IsOk());
  EXPECT_FALSE(pinned->eviction.is_set());
  Update("other");
  EXPECT_TRUE(pinned->eviction.is_set());
}

// Two maps that have had one id are pinned at the same revisions.
TEST_F(OldSnapshotsTest, MapsOfOneIdAreCountedEach) {
  Make(1 << 30);
  std::vector<PinnedSnapshot> pinned = {Pin("arena")};
  Update("arena");
  pinned.push_back(Pin("arena"));
  EXPECT_THAT(store_->Delete("arena"), IsOk());
  Create("arena");
  EXPECT_EQ(store_->OldSnapshotsOf("arena").count, 2U);
  EXPECT_EQ(store_->OldSnapshotsOf("arena").oldest_revision, 0U) << "none is of the new map";
  Update("arena");
  pinned.push_back(Pin("arena"));
  Update("arena");
  ASSERT_EQ(pinned[1]->revision, pinned[2]->revision);
  const OldSnapshotsInfo info = store_->OldSnapshotsOf("arena");
  EXPECT_EQ(info.count, 3U);
  EXPECT_EQ(info.oldest_revision, 2U);
  EXPECT_GE(info.bytes, pinned[1]->memory_bytes()) << "the last of the first map shares nothing";
  pinned.erase(pinned.begin());
  EXPECT_EQ(store_->OldSnapshotsOf("arena").count, 2U);
}

TEST_F(OldSnapshotsTest, TheMapBeforeGoesFirst) {
  Make(0);
  Create("other");
  const PinnedSnapshot probe = Pin("other");
  const std::size_t whole = probe->memory_bytes();
  // Room for the last of the first map alone, not for what the next has left besides.
  Make(whole + 1);
  Update("arena");
  Update("arena");
  const PinnedSnapshot before = Pin("arena");
  EXPECT_THAT(store_->Replace("arena", DrawMap({std::string(20, '.'), std::string(20, '.')}), clock_.Now()),
              IsOk());
  const PinnedSnapshot after = Pin("arena");
  Update("arena");
  EXPECT_TRUE(before->eviction.is_set());
  EXPECT_FALSE(after->eviction.is_set());
}

TEST_F(OldSnapshotsTest, ChecksNoMoreOftenThanToldTo) {
  Make(0);
  const PinnedSnapshot first = Pin("arena");
  Update("arena");
  EXPECT_TRUE(first->eviction.is_set());
  const PinnedSnapshot second = Pin("arena");
  EXPECT_THAT(store_->UpdateAndWait("arena", BlockBatch({2, 0})), IsOk());
  EXPECT_FALSE(second->eviction.is_set());
  Update("arena");
  EXPECT_TRUE(second->eviction.is_set());
}

}  // namespace
}  // namespace waystar::core
