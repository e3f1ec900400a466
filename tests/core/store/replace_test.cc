// Maps that take the place of others.

#include <atomic>
#include <cstdint>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "tests/core/store/held_store.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::waystar::testing::BlockBatch;
using ::waystar::testing::DrawMap;
using ::waystar::testing::DrawPath;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::RecordingListener;

constexpr absl::Time kBegun = absl::UnixEpoch();

auto IsGone() { return IsError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map"); }

TEST(ReplaceTest, TakesThePlaceOfAMap) {
  RecordingListener listener;
  MapStore store(1);
  store.AddListener(&listener);
  ASSERT_THAT(store.Create("arena", DrawMap({"..."}), kBegun), IsOk());
  ASSERT_THAT(store.UpdateAndWait("arena", BlockBatch({1, 0})), IsOk());
  const PinnedSnapshot old = *store.Pin("arena");
  EXPECT_THAT(store.CheckCanReplace("arena"), IsOk());
  const auto replaced = store.Replace("arena", DrawMap({"##", ".."}), kBegun + absl::Seconds(5));
  ASSERT_THAT(replaced, IsOk());
  EXPECT_EQ((*replaced)->revision, 1U);
  EXPECT_NE((*replaced)->epoch, old->epoch);
  EXPECT_EQ((*replaced)->create_time, kBegun + absl::Seconds(5));
  EXPECT_EQ(*store.Pin("arena"), *replaced);
  EXPECT_THAT(DrawPath(old->grid(), {}), ElementsAre(".#."));
  EXPECT_EQ(store.OldSnapshotsOf("arena").count, 1U);
  EXPECT_THAT(store.List("", 9), ElementsAre(*replaced));

  EXPECT_EQ(store.UpdateAndWait("arena", BlockBatch({0, 1}))->revision, 2U);
  EXPECT_EQ(store.ReadHistory("arena", 2, 9)->commits.size(), 1U);
  const auto heard = listener.heard();
  ASSERT_THAT(heard, SizeIs(3));
  EXPECT_TRUE(heard[1].is_deletion);
  EXPECT_EQ(heard[1].revision, 2U);
  EXPECT_EQ(heard[2].revision, 2U);
  EXPECT_EQ(store.Delete("arena")->revision, 2U);
  EXPECT_THAT(store.Pin("arena"), IsGone());
  EXPECT_EQ(store.size(), 0U);
}

TEST(ReplaceTest, CreatesAMapThatIsNotThere) {
  MapStore store(1);
  const auto created = store.Replace("arena", DrawMap({"..."}), kBegun);
  ASSERT_THAT(created, IsOk());
  EXPECT_EQ((*created)->revision, 1U);
  EXPECT_THAT(store.CheckCanReplace("other"),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kTooManyMaps, ""));
  EXPECT_THAT(store.Replace("other", DrawMap({"."}), kBegun),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kTooManyMaps, ""));
  EXPECT_THAT(store.Replace("../x", DrawMap({"."}), kBegun),
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadMapId, "map"));
}

TEST(ReplaceTest, AGraphMayReplaceAGrid) {
  MapStore store(1);
  ASSERT_THAT(store.Create("arena", DrawMap({"..."}), kBegun), IsOk());
  ASSERT_THAT(store.Replace("arena", *WaypointGraph::Create({.nodes = {{.id = "a"}}}), kBegun), IsOk());
  EXPECT_EQ((*store.Pin("arena"))->kind(), MapKind::kWaypointGraph);
}

TEST(ReplaceTest, MapForWhichThereIsNoRoomLeavesTheOldOne) {
  MapStore measured(1);
  const std::size_t bytes = (*measured.Create("a", DrawMap({"....", "...."}), kBegun))->memory_bytes();
  StoreOptions options;
  options.max_maps_bytes = bytes + bytes / 2;
  MapStore store(options);
  ASSERT_THAT(store.Create("a", DrawMap({"....", "...."}), kBegun), IsOk());
  EXPECT_THAT(store.Replace("a", DrawMap({"....", "...."}), kBegun),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kMapsMemoryFull, ""));
  EXPECT_EQ(store.UpdateAndWait("a", BlockBatch({0, 0}))->revision, 2U);
}

// Readers find one map or the other, and listeners hear of the maps one after another.
TEST(ReplaceTest, ReadersAlwaysFindAMap) {
  RecordingListener listener;
  std::uint64_t last_epoch = 0;
  MapStore store({.max_maps = 2, .new_epoch = [&last_epoch] { return ++last_epoch; }});
  store.AddListener(&listener);
  ASSERT_THAT(store.Create("arena", DrawMap({"..."}), kBegun), IsOk());
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      std::pair<std::uint64_t, std::uint64_t> seen;
      while (!done.load()) {
        const auto pinned = store.Pin("arena");
        ASSERT_THAT(pinned, IsOk());
        const std::pair version((*pinned)->epoch, (*pinned)->revision);
        ASSERT_GE(version, seen);
        seen = version;
        ASSERT_THAT(store.ReadHistory("arena", 1, 1), IsOk());
        ASSERT_THAT(store.Store("arena"), IsOk());
        ASSERT_THAT(store.List("", 9), SizeIs(1));
      }
    });
  }
  threads.emplace_back([&] {
    while (!done.load()) {
      // It may have waited for a map that is replaced.
      const auto updated = store.UpdateAndWait("arena", BlockBatch({1, 0}));
      ASSERT_TRUE(updated.ok() || absl::IsNotFound(updated.status())) << updated.status();
    }
  });
  for (int i = 0; i < 300; ++i) {
    ASSERT_THAT(store.Replace("arena", DrawMap({"..."}), kBegun), IsOk());
  }
  done = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  int deletions = 0;
  std::uint64_t last = 0;
  for (const RecordingListener::Heard& heard : listener.heard()) {
    deletions += heard.is_deletion ? 1 : 0;
    ASSERT_GE(heard.revision, last);
    last = heard.is_deletion ? 1 : heard.revision;
  }
  EXPECT_EQ(deletions, 300);
}

class DurableReplaceTest : public HeldStoreTest {
 protected:
  auto Replace() {
    return std::async(std::launch::async, [this] {
      return store_.Replace("arena", DrawMap({"#..", "..."}), clock_.Now());
    });
  }
  static auto IsLost() { return IsError(absl::StatusCode::kUnavailable, ErrorReason::kStorageFailed, ""); }
};

TEST_F(DurableReplaceTest, OldMapIsThereUntilTheNewOneHasLanded) {
  Update(0);
  auto replacing = Replace();
  ASSERT_TRUE(log_.WaitForAppends(2));
  // It waits for the replacement.
  Update(1);
  EXPECT_EQ(log_.appends(), 2U);
  log_.LandNext();
  EXPECT_THAT(TakeAnswers(), ElementsAre("0: 2"));
  EXPECT_EQ(Drawn(), "#.......");
  log_.LandNext();
  const auto replaced = replacing.get();
  ASSERT_THAT(replaced, IsOk());
  EXPECT_THAT(TakeAnswers(), ElementsAre("1: MAP_NOT_FOUND"));
  EXPECT_EQ((*replaced)->revision, 1U);
  EXPECT_EQ(*store_.Pin("arena"), *replaced);
  const HeldLog::Entry entry = log_.durable().back();
  EXPECT_EQ(entry.kind, HeldLog::Kind::kReplacement);
  EXPECT_EQ(entry.replaced, (MapVersion{.epoch = 7, .revision = 2}));
  EXPECT_EQ(entry.version, (*replaced)->version());
  EXPECT_EQ(entry.first->digest(), (*replaced)->digest());
  Update(2);
  log_.LandAll();
  EXPECT_THAT(TakeAnswers(), ElementsAre("2: 2"));
}

TEST_F(DurableReplaceTest, MapThatCouldNotBeReplacedGoesOn) {
  store_.memory().Measure();
  const std::size_t taken = store_.memory().taken();
  auto replacing = Replace();
  ASSERT_TRUE(log_.WaitForAppends(1));
  Update(0);
  log_.FailNext();
  EXPECT_THAT(replacing.get(), IsLost());
  store_.memory().Measure();
  EXPECT_LE(store_.memory().taken(), taken);
  log_.LandAll();
  EXPECT_THAT(TakeAnswers(), ElementsAre("0: 2"));
  EXPECT_EQ(Drawn(), "#.......");
  for (const auto& heard : listener_.heard()) {
    EXPECT_FALSE(heard.is_deletion);
  }
}

TEST_F(DurableReplaceTest, ReplacementUponALossIsLost) {
  Update(0);
  auto replacing = Replace();
  ASSERT_TRUE(log_.WaitForAppends(2));
  Update(1);
  log_.FailNext();
  EXPECT_FALSE(log_.LandNext());
  EXPECT_THAT(replacing.get(), IsLost());
  log_.LandAll();
  EXPECT_THAT(TakeAnswers(), ElementsAre("0: STORAGE_FAILED", "1: 2"));
  EXPECT_EQ(Drawn(), ".#......");
}

TEST_F(DurableReplaceTest, ReplacementOfAMapThatIsBeingDeletedCreates) {
  auto deleting = std::async(std::launch::async, [this] { return store_.Delete("arena"); });
  ASSERT_TRUE(log_.WaitForAppends(1));
  auto replacing = Replace();
  log_.LandNext();
  EXPECT_THAT(deleting.get(), IsOk());
  ASSERT_TRUE(log_.WaitForAppends(2));
  log_.LandNext();
  const auto created = replacing.get();
  ASSERT_THAT(created, IsOk());
  EXPECT_EQ((*created)->revision, 1U);
  EXPECT_EQ(log_.durable().back().kind, HeldLog::Kind::kCreation);
}

TEST_F(DurableReplaceTest, DeletionThatWaitsForAReplacementDeletesTheNewMap) {
  auto replacing = Replace();
  ASSERT_TRUE(log_.WaitForAppends(1));
  auto deleting = std::async(std::launch::async, [this] { return store_.Delete("arena"); });
  log_.LandNext();
  const auto replaced = replacing.get();
  ASSERT_THAT(replaced, IsOk());
  ASSERT_TRUE(log_.WaitForAppends(2));
  log_.LandNext();
  const auto deleted = deleting.get();
  ASSERT_THAT(deleted, IsOk());
  EXPECT_EQ(*deleted, (*replaced)->version());
  EXPECT_THAT(store_.Pin("arena"), IsGone());
}

}  // namespace
}  // namespace waystar::core
