#include "server/storage/commit_log.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "tests/storage/crashing_folder.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"

namespace waystar::storage {
namespace {

using ::testing::HasSubstr;
using ::waystar::testing::CrashingFolder;
using ::waystar::testing::DrawMap;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::WaitUntil;

absl::Status Create(CommitLog& log, const std::string& map) {
  return core::AppendAndWait([&](core::DurableLog::Done done) {
    log.AppendCreation({.id = map, .epoch = 1, .revision = 1, .map = DrawMap({"..."})}, std::move(done));
  });
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

}  // namespace
}  // namespace waystar::storage
