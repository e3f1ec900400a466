// What a store does when its maps together take more than they may.

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/core/store/map_store.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {
namespace {

using ::waystar::testing::Block;
using ::waystar::testing::DrawMap;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;

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

}  // namespace
}  // namespace waystar::core
