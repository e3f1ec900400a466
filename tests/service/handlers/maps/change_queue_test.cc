#include "server/service/handlers/maps/change_queue.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"

namespace waystar::rpc {
namespace {

using ::testing::ElementsAre;
using ::waystar::testing::Event;
using ::waystar::testing::IsOk;

// A queue whose first change waits until it is let go.
class ChangeQueueTest : public ::testing::Test {
 protected:
  ChangeQueueTest() {
    queue_.emplace();
    queue_->Submit(
        [this] {
          begins_.Happen();
          goes_on_.Wait();
          return absl::OkStatus();
        },
        [](const absl::Status&) {});
    EXPECT_TRUE(begins_.Wait());
  }
  ~ChangeQueueTest() override { goes_on_.Happen(); }

  Event begins_{"the first change"};
  Event goes_on_{"the end of the first change"};
  std::optional<ChangeQueue> queue_;
};

TEST_F(ChangeQueueTest, OneThatIsTooManyIsRefusedAndOneThatIsOwedIsNot) {
  int done = 0;
  const auto count = [&done](const absl::Status& status) {
    EXPECT_THAT(status, IsOk());
    ++done;
  };
  for (std::size_t i = 0; i < ChangeQueue::kMaxWaiting; ++i) {
    queue_->Submit([] { return absl::OkStatus(); }, count);
  }
  absl::Status refusal;
  queue_->Submit([] { return absl::OkStatus(); },
                 [&refusal](const absl::Status& status) { refusal = status; });
  EXPECT_EQ(refusal.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ErrorReasonOf(refusal), "UPDATES_BUSY");
  EXPECT_GT(RetryDelayOf(refusal), absl::ZeroDuration());
  queue_->SubmitOwed([] { return absl::OkStatus(); }, count);
  goes_on_.Happen();
  queue_.reset();
  EXPECT_EQ(done, static_cast<int>(ChangeQueue::kMaxWaiting) + 1);
}

TEST_F(ChangeQueueTest, ChangesThatWaitAreMadeInTheirOrderBeforeTheEnd) {
  std::vector<std::string> answers;
  const auto note = [&answers](const absl::Status& status) { answers.emplace_back(status.message()); };
  queue_->Submit([] { return absl::UnavailableError("first"); }, note);
  queue_->Submit([] { return absl::UnavailableError("second"); }, note);
  goes_on_.Happen();
  queue_.reset();
  EXPECT_THAT(answers, ElementsAre("first", "second"));
}

}  // namespace
}  // namespace waystar::rpc
