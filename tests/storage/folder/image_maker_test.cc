#include "server/storage/folder/image_maker.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/storage/folder/folder_files.h"
#include "server/storage/folder/image_file.h"
#include "tests/storage/folder/crashing_folder.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"

namespace waystar::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::waystar::testing::CrashingFolder;
using ::waystar::testing::DrawMap;
using ::waystar::testing::IsOk;
using ::waystar::testing::WaitUntil;

core::MapSnapshot SnapshotOf(core::MapVersion version, const std::string& id = "arena") {
  return {.id = id, .epoch = version.epoch, .revision = version.revision, .map = DrawMap({"..."})};
}

// The log knows of a replacement before the store has it. The log's entry is all that there is of the new
// map.
TEST(ImageMakerTest, KeepsTheLogOfAReplacementUntilTheStoreHasTheMap) {
  constexpr core::MapVersion kOld = {.epoch = 1, .revision = 5};
  constexpr core::MapVersion kNew = {.epoch = 2, .revision = 1};
  CrashingFolder folder;
  core::MapStore store(1);
  ASSERT_THAT(store.Restore(SnapshotOf(kOld), {}, {}), IsOk());
  CommitLog log(folder, {}, {}, {});
  ImageMaker maker(folder, store, {}, absl::ZeroDuration());
  ASSERT_THAT(core::AppendAndWait([&](core::DurableLog::Done done) {
                log.AppendCreation(SnapshotOf(kOld), {}, std::move(done));
              }).status(),
              IsOk());
  ASSERT_THAT(core::AppendAndWait([&](core::DurableLog::Done done) {
                log.AppendReplacement(SnapshotOf(kNew), kOld, std::move(done));
              }).status(),
              IsOk());
  const auto has_first_file = [&] {
    const auto names = folder.List();
    return std::ranges::count(*names, LogFileName(1)) == 1;
  };
  maker.Start(log);
  maker.MakeSoon();
  const auto has_tried = [&] {
    const auto names = folder.List();
    return !has_first_file() || std::ranges::count(*names, LogFileName(2)) == 1;
  };
  EXPECT_TRUE(WaitUntil(has_tried, "the images"));
  EXPECT_TRUE(has_first_file());

  ASSERT_THAT(store.Delete("arena"), IsOk());
  ASSERT_THAT(store.Restore(SnapshotOf(kNew), {}, {}), IsOk());
  const auto is_made = [&] { return !has_first_file() && maker.GetStatistics().count == 1; };
  EXPECT_TRUE(WaitUntil(is_made, "the image, and the end of the first file"));
  maker.Stop();
}

// A map that is created while a round is made, and kept, is not the round's to clean up.
TEST(ImageMakerTest, KeepsImagesOfMapsThatAreYoungerThanTheRound) {
  constexpr core::MapVersion kOld = {.epoch = 1, .revision = 5};
  constexpr core::MapVersion kNew = {.epoch = 2, .revision = 1};
  constexpr core::MapVersion kYoung = {.epoch = 3, .revision = 1};
  CrashingFolder folder;
  core::MapStore store(2);
  ASSERT_THAT(store.Restore(SnapshotOf(kOld), {}, {}), IsOk());
  CommitLog log(folder, {}, {}, {});
  ImageMaker maker(folder, store, {}, absl::ZeroDuration());
  const auto create = [&](const core::MapSnapshot& map) {
    return core::AppendAndWait(
               [&](core::DurableLog::Done done) { log.AppendCreation(map, {}, std::move(done)); })
        .status();
  };
  ASSERT_THAT(create(SnapshotOf(kOld)), IsOk());
  // A round waits for the store to have the replacement.
  ASSERT_THAT(core::AppendAndWait([&](core::DurableLog::Done done) {
                log.AppendReplacement(SnapshotOf(kNew), kOld, std::move(done));
              }).status(),
              IsOk());
  maker.Start(log);
  maker.MakeSoon();
  const auto has = [&](const std::string& file) {
    const auto names = folder.List();
    return std::ranges::count(*names, file) == 1;
  };
  ASSERT_TRUE(WaitUntil([&] { return has(LogFileName(2)); }, "the round to begin"));
  ASSERT_THAT(create(SnapshotOf(kYoung, "young")), IsOk());
  ASSERT_THAT(store.Restore(SnapshotOf(kYoung, "young"), {}, {}), IsOk());
  ASSERT_THAT(maker.Keep("young").status(), IsOk());

  ASSERT_THAT(store.Delete("arena"), IsOk());
  ASSERT_THAT(store.Restore(SnapshotOf(kNew), {}, {}), IsOk());
  EXPECT_TRUE(WaitUntil([&] { return !has(LogFileName(1)); }, "the round to end"));
  EXPECT_THAT(maker.Read("young", kYoung).status(), IsOk());
  maker.Stop();
}

// What a full disk has taken of a file would keep it full.
TEST(ImageFileTest, ThatCannotBeWrittenLeavesNothing) {
  core::MapStore store(1);
  ASSERT_THAT(store.Restore(SnapshotOf({.epoch = 1, .revision = 5}), {}, {}), IsOk());
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
