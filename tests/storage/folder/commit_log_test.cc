#include "server/storage/folder/commit_log.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/base/thread.h"
#include "server/storage/folder/folder_reader.h"
#include "server/storage/folder/image_file.h"
#include "server/storage/folder/image_maker.h"
#include "tests/storage/folder/crashing_folder.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"

namespace waystar::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

core::MapSnapshot MapNamed(const std::string& map) {
  return {.id = map, .epoch = 1, .revision = 1, .map = DrawMap({"..."})};
}

absl::Status Create(CommitLog& log, const std::string& map) {
  return CallAndWait<core::AppendOutcome>(
             [&](core::DurableLog::Done done) { log.AppendCreation(MapNamed(map), {}, std::move(done)); })
      .status();
}

TEST(CommitLogTest, SaysWhetherItIsAtItsLimitThoughNothingIsAppended) {
  CrashingFolder folder;
  CommitLog log(folder, {}, {}, {.max_bytes = 200});
  absl::Status refused;
  for (int i = 0; refused.ok(); ++i) {
    refused = Create(log, absl::StrCat("map-", i));
  }
  EXPECT_EQ(ErrorReasonOf(refused), "STORAGE_FAILED");
  EXPECT_THAT(refused.message(), HasSubstr("the log is at its limit"));
  EXPECT_FALSE(log.Statistics().status.ok());
  const auto next = log.Rotate().value();
  EXPECT_FALSE(log.Statistics().status.ok()) << "the files are as long as before";
  ASSERT_THAT(log.RemoveFilesBefore(next.number), IsOk());
  EXPECT_TRUE(WaitUntil([&] { return log.Statistics().status.ok(); }, "the end of the refusals"));
}

TEST(CommitLogTest, RefusesForGoodWhatNoRecordCanHold) {
  CrashingFolder folder;
  CommitLog log(folder, {}, {}, {.max_entry_bytes = 100});
  const absl::Status refused = Create(log, std::string(100, 'm'));
  EXPECT_THAT(refused, IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kImportTooLarge, ""));
  EXPECT_EQ(RetryDelayOf(refused), absl::ZeroDuration());
  EXPECT_THAT(log.Statistics().status, IsOk());
  EXPECT_EQ(log.Statistics().refusals, 0U);
  EXPECT_THAT(Create(log, "m"), IsOk());
}

TEST(CommitLogTest, CountsTheAgeOfWhatIsNotDurableFromItsAppend) {
  using Clock = std::chrono::steady_clock;
  CrashingFolder folder;
  std::array<Event, 2> syncs = {Event("the first sync"), Event("the second sync")};
  std::array<Event, 2> go_on = {Event("the first sync's end"), Event("the second sync's end")};
  std::size_t sync = 0;
  CommitLog log(folder, {}, {}, {.on_sync = [&](absl::Duration /*took*/) {
                  if (sync < syncs.size()) {
                    syncs[sync].Happen();
                    go_on[sync++].Wait();
                  }
                }});
  EXPECT_EQ(log.Statistics().unsynced_age, absl::ZeroDuration());
  auto first = std::async(std::launch::async, [&] { return Create(log, "first"); });
  ASSERT_TRUE(syncs[0].Wait());
  Event is_done("the second entry");
  log.AppendCreation(MapNamed("second"), {},
                     [&](const core::AppendOutcome& /*outcome*/) { is_done.Happen(); });
  const Clock::time_point appended = Clock::now();
  ASSERT_TRUE(
      WaitUntil([&] { return Clock::now() > appended + std::chrono::milliseconds(10); }, "some time"));
  go_on[0].Happen();
  EXPECT_THAT(first.get(), IsOk());
  ASSERT_TRUE(syncs[1].Wait());
  const absl::Duration least = absl::FromChrono(Clock::now() - appended);
  EXPECT_GE(log.Statistics().unsynced_age, least);
  go_on[1].Happen();
  ASSERT_TRUE(is_done.Wait());
  EXPECT_EQ(log.Statistics().unsynced_age, absl::ZeroDuration());
}

core::MapSnapshot SnapshotOf(core::MapVersion version, const std::string& id = "arena") {
  return {.id = id, .epoch = version.epoch, .revision = version.revision, .map = DrawMap({"..."})};
}

// Makes images while the log has a replacement of the arena that the store does not have yet.
class ImageMakerTest : public ::testing::Test {
 protected:
  static constexpr core::MapVersion kOld = {.epoch = 1, .revision = 5};
  static constexpr core::MapVersion kNew = {.epoch = 2, .revision = 1};

  ImageMakerTest() {
    Restore(SnapshotOf(kOld));
    Log(SnapshotOf(kOld));
    EXPECT_THAT(CallAndWait<core::AppendOutcome>([&](core::DurableLog::Done done) {
                  log_.AppendReplacement(SnapshotOf(kNew), kOld, std::move(done));
                }).status(),
                IsOk());
    maker_.Start(log_);
    maker_.MakeSoon();
  }
  ~ImageMakerTest() override { maker_.Stop(); }

  void Log(const core::MapSnapshot& map) {
    EXPECT_THAT(CallAndWait<core::AppendOutcome>([&](core::DurableLog::Done done) {
                  log_.AppendCreation(map, {}, std::move(done));
                }).status(),
                IsOk());
  }
  void Restore(const core::MapSnapshot& map) { EXPECT_THAT(store_.Restore({.snapshot = map}), IsOk()); }
  void FollowTheReplacement() {
    EXPECT_THAT(store_.Delete("arena"), IsOk());
    Restore(SnapshotOf(kNew));
  }
  bool HasLog(std::uint64_t number) const {
    const auto names = folder_.List();
    return std::ranges::count(*names, LogFileName(number)) == 1;
  }

  CrashingFolder folder_;
  core::MapStore store_{2};
  CommitLog log_{folder_, {}, {}, {}};
  ImageMaker maker_{folder_, store_, {}, absl::ZeroDuration()};
};

// The log's entry is all that there is of the new map.
TEST_F(ImageMakerTest, KeepsTheLogOfAReplacementUntilTheStoreHasTheMap) {
  EXPECT_TRUE(WaitUntil([&] { return !HasLog(1) || HasLog(2); }, "the images"));
  EXPECT_TRUE(HasLog(1));
  FollowTheReplacement();
  const auto is_made = [&] { return !HasLog(1) && maker_.GetStatistics().count == 1; };
  EXPECT_TRUE(WaitUntil(is_made, "the image, and the end of the first file"));
}

// A map that is created while a round is made, and kept, is not the round's to clean up.
TEST_F(ImageMakerTest, KeepsImagesOfMapsThatAreYoungerThanTheRound) {
  constexpr core::MapVersion kYoung = {.epoch = 3, .revision = 1};
  ASSERT_TRUE(WaitUntil([&] { return HasLog(2); }, "the round to begin"));
  Log(SnapshotOf(kYoung, "young"));
  Restore(SnapshotOf(kYoung, "young"));
  ASSERT_THAT(maker_.Keep("young").status(), IsOk());
  FollowTheReplacement();
  EXPECT_TRUE(WaitUntil([&] { return !HasLog(1); }, "the round to end"));
  EXPECT_THAT(maker_.Read("young", kYoung).status(), IsOk());
}

// What a full disk has taken of a file would keep it full.
TEST(ImageFileTest, ThatCannotBeWrittenLeavesNothing) {
  core::MapStore store(1);
  ASSERT_THAT(store.Restore({.snapshot = SnapshotOf({.epoch = 1, .revision = 5})}), IsOk());
  const core::StoredMap map = *store.Store("arena");
  const auto sync_log = [] { return absl::OkStatus(); };
  std::int64_t operation = 0;
  CrashingFolder folder;
  for (folder.FailAfter(operation, false); !WriteImageFile(map, folder, sync_log).ok();
       folder.FailAfter(++operation, false)) {
    EXPECT_THAT(*folder.List(), IsEmpty()) << operation;
  }
  // The file's creation, its head, three records, the sync and the name.
  EXPECT_EQ(operation, 7);
  EXPECT_THAT(*folder.List(), ElementsAre("image-arena-1-5"));
  folder.StopFailing();
  ASSERT_THAT(folder.Remove("image-arena-1-5"), IsOk());
  const absl::Status failure = absl::UnavailableError("the log cannot be synced");
  EXPECT_EQ(WriteImageFile(map, folder, [&] { return failure; }).status(), failure);
  EXPECT_THAT(*folder.List(), IsEmpty());
}

TEST(KeptFilesTest, ThatCannotBeWrittenLeaveNothing) {
  CrashingFolder folder;
  ASSERT_THAT(folder.Create("log-000000000001"), IsOk());
  // The copy's creation, its bytes, the sync and the name.
  for (std::int64_t operation = 0; operation < 4; ++operation) {
    folder.FailAfter(operation, false);
    EXPECT_FALSE(KeepFiles(folder, {"log-000000000001"}).ok()) << operation;
    EXPECT_THAT(*folder.List(), ElementsAre("log-000000000001")) << operation;
  }
  folder.StopFailing();
  EXPECT_THAT(KeepFiles(folder, {"log-000000000001"}), IsOk());
  EXPECT_THAT(*folder.List(), ElementsAre("log-000000000001", "log-000000000001.kept"));
}

}  // namespace
}  // namespace waystar::storage
