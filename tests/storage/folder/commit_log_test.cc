#include "server/storage/folder/commit_log.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <future>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/base/thread.h"
#include "tests/storage/folder/crashing_folder.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"

namespace waystar::storage {
namespace {

using ::testing::HasSubstr;
using ::waystar::testing::CrashingFolder;
using ::waystar::testing::DrawMap;
using ::waystar::testing::Event;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::WaitUntil;

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
  const auto next = log.Rotate();
  ASSERT_THAT(next, IsOk());
  EXPECT_FALSE(log.Statistics().status.ok()) << "the files are as long as before";
  ASSERT_THAT(log.RemoveFilesBefore(next->number), IsOk());
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

}  // namespace
}  // namespace waystar::storage
