#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/store/map_store.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {
namespace {

using ::waystar::testing::BlockBatch;
using ::waystar::testing::DrawMap;
using ::waystar::testing::FakeClock;
using ::waystar::testing::IsOk;

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
  Make(1 << 30);
  Create("other");
  const std::vector<PinnedSnapshot> pinned = {Pin("other"), Pin("arena")};
  Update("other");
  Update("arena");
  const std::size_t one = store_->OldSnapshotsOf("arena").bytes;
  ASSERT_GT(one, 0U);

  // Room for two of them.
  Make(2 * one + one / 2);
  Create("other");
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
  // What was told to go and has not gone yet is not counted against the others.
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
