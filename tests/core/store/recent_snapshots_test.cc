#include "server/core/store/recent_snapshots.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/core/store/held_store.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// "3 at 250ms": revisions and ages.
std::vector<std::string> TextsOf(const std::vector<PastSnapshot>& past) {
  std::vector<std::string> texts;
  for (const PastSnapshot& old : past) {
    texts.push_back(absl::StrCat(old.snapshot->revision, " at ", absl::FormatDuration(old.age)));
  }
  return texts;
}

class RecentSnapshotsTest : public StoreTest {
 protected:
  explicit RecentSnapshotsTest(StoreOptions options = {}) : StoreTest(std::move(options)) {}

  void UpdateAfter(absl::Duration time) {
    clock_.Advance(time);
    Update(sent_ % 8);
  }
  std::vector<std::string> Ask() { return TextsOf(store_.AskPast("arena")); }
  std::size_t Held() { return store_.AllOldSnapshots().count; }
};

TEST_F(RecentSnapshotsTest, ASecondIsKeptOfMapsThatAreAskedAbout) {
  UpdateAfter(absl::ZeroDuration());
  EXPECT_THAT(Ask(), IsEmpty()) << "nobody had asked before";
  UpdateAfter(absl::Milliseconds(100));
  UpdateAfter(absl::Milliseconds(400));
  clock_.Advance(absl::Milliseconds(500));
  EXPECT_THAT(Ask(), ElementsAre("3 at 500ms", "2 at 900ms"));
  EXPECT_EQ(Held(), 2U);
  clock_.Advance(absl::Milliseconds(200));
  EXPECT_THAT(Ask(), ElementsAre("3 at 700ms"));
  for (int i = 0; i < 40; ++i) {
    UpdateAfter(absl::Milliseconds(1));
  }
  EXPECT_THAT(Ask(), SizeIs(RecentSnapshots::kMost));
}

TEST_F(RecentSnapshotsTest, WhatIsNotAskedForIsReleased) {
  Ask();
  EXPECT_THAT(TakeTold(), ElementsAre(RecentSnapshots::kKept)) << "so that somebody comes to release it";
  UpdateAfter(absl::ZeroDuration());
  Ask();
  EXPECT_THAT(TakeTold(), IsEmpty());
  EXPECT_EQ(ExpireAfter(absl::Milliseconds(900)), absl::Milliseconds(1900));
  EXPECT_EQ(Held(), 1U);
  EXPECT_EQ(ExpireAfter(absl::Milliseconds(200)), absl::Milliseconds(2100)) << "as long as it is asked about";
  EXPECT_EQ(Held(), 0U);
  EXPECT_EQ(ExpireAfter(absl::Seconds(10)), absl::InfiniteDuration());
  UpdateAfter(absl::ZeroDuration());
  EXPECT_EQ(Held(), 0U);
}

class ScarceRecentSnapshotsTest : public RecentSnapshotsTest {
 protected:
  ScarceRecentSnapshotsTest()
      : RecentSnapshotsTest(
            {.max_old_snapshot_bytes = 0, .old_snapshot_check_interval = absl::ZeroDuration()}) {}
};

TEST_F(ScarceRecentSnapshotsTest, NothingIsKeptWhereThereIsNoRoom) {
  Ask();
  UpdateAfter(absl::ZeroDuration());
  EXPECT_THAT(Ask(), IsEmpty());
  EXPECT_EQ(Held(), 0U);
}

}  // namespace
}  // namespace waystar::core
