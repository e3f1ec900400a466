#include "server/storage/image_maker.h"

#include <algorithm>
#include <utility>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "tests/storage/crashing_folder.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"

namespace waystar::storage {
namespace {

using ::waystar::testing::CrashingFolder;
using ::waystar::testing::DrawMap;
using ::waystar::testing::IsOk;
using ::waystar::testing::WaitUntil;

core::MapSnapshot SnapshotOf(core::MapVersion version) {
  return {.id = "arena", .epoch = version.epoch, .revision = version.revision, .map = DrawMap({"..."})};
}

// The log knows of a replacement before the store has it. The log's entry is all that there is of the new
// map.
TEST(ImageMakerTest, KeepsTheLogOfAReplacementUntilTheStoreHasTheMap) {
  constexpr core::MapVersion kOld = {.epoch = 1, .revision = 5};
  constexpr core::MapVersion kNew = {.epoch = 2, .revision = 6};
  CrashingFolder folder;
  core::MapStore store(1);
  ASSERT_THAT(store.Restore(SnapshotOf(kOld), {}, {}), IsOk());
  CommitLog log(folder, {}, {}, {});
  ImageMaker maker(folder, store, {}, absl::ZeroDuration());
  ASSERT_THAT(core::AppendAndWait([&](core::DurableLog::Done done) {
                log.AppendCreation(SnapshotOf(kOld), std::move(done));
              }),
              IsOk());
  ASSERT_THAT(core::AppendAndWait([&](core::DurableLog::Done done) {
                log.AppendReplacement(SnapshotOf(kNew), kOld, std::move(done));
              }),
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
  const auto is_made = [&] { return !has_first_file() && maker.GetStatistics().images == 1; };
  EXPECT_TRUE(WaitUntil(is_made, "the image, and the end of the first file"));
  maker.Stop();
}

}  // namespace
}  // namespace waystar::storage
