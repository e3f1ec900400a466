// Who gets a slot, who waits for one, who is refused, and how many calls one client may have.

#include "server/service/admission/call_slots.h"

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "tests/testing/status_matchers.h"

namespace waystar::rpc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::waystar::testing::IsOk;

constexpr std::uint64_t kOne = 1;
constexpr std::uint64_t kOther = 2;

class CallSlotsTest : public ::testing::Test {
 protected:
  static int TakeAll(CallSlots& slots, std::uint64_t client) {
    int taken = 0;
    while (slots.Acquire(client).ok()) {
      ++taken;
    }
    return taken;
  }
};

TEST_F(CallSlotsTest, LeavesAClientThreeQuartersAndSomeForOthers) {
  CallSlots slots(10'000, ErrorReason::kTooManyWatches, "watches are open");
  EXPECT_EQ(TakeAll(slots, kOne), 7'500);
  const absl::Status refused = slots.Acquire(kOne);
  EXPECT_EQ(ErrorReasonOf(refused), "TOO_MANY_WATCHES");
  EXPECT_GT(RetryDelayOf(refused), absl::ZeroDuration());
  EXPECT_THAT(refused.message(), HasSubstr("this client has its share of the 10000"));
  EXPECT_EQ(TakeAll(slots, kOther), 1'875);
  for (std::uint64_t client = 3; client < 100; ++client) {
    EXPECT_THAT(slots.Acquire(client), IsOk());
  }
  EXPECT_EQ(slots.counts().taken, 7'500 + 1'875 + 97);
  EXPECT_EQ(slots.counts().refused_client, 3);
  EXPECT_EQ(slots.counts().refused_all, 0);
}

TEST_F(CallSlotsTest, NeverGivesOneClientAllOfAFew) {
  constexpr int kShares[] = {1, 1, 2, 3, 3, 4, 5, 6};
  for (int count = 1; count <= 8; ++count) {
    CallSlots slots(count, ErrorReason::kTransfersBusy, "transfers run");
    EXPECT_EQ(TakeAll(slots, kOne), kShares[count - 1]) << count;
    EXPECT_EQ(slots.Acquire(kOther).ok(), count > 1) << count;
  }
}

TEST_F(CallSlotsTest, AClientGetsBackWhatItGaveBack) {
  CallSlots slots(4, ErrorReason::kTransfersBusy, "transfers run");
  EXPECT_EQ(TakeAll(slots, kOne), 3);
  EXPECT_THAT(slots.Acquire(kOther), IsOk());
  const absl::Status refused = slots.Acquire(kOther);
  EXPECT_THAT(refused.message(), HasSubstr("4 transfers run already"));
  EXPECT_EQ(slots.counts().refused_client, 1);
  EXPECT_EQ(slots.counts().refused_all, 1);
  slots.Release(kOne);
  EXPECT_FALSE(slots.Acquire(kOther).ok());
  slots.Release(kOther);
  EXPECT_THAT(slots.Acquire(kOne), IsOk());
  EXPECT_EQ(slots.counts().taken, 3);
}

// Takes note of when it is served.
class Guest final : public CallSlots::Waiter {
 public:
  Guest(int id, std::vector<int>& served) : id_(id), served_(served) {}
  void OnSlot() override { served_.push_back(id_); }

 private:
  const int id_;
  std::vector<int>& served_;
};

TEST_F(CallSlotsTest, ServesThoseWhoWaitInOrderButClientsWithTheirShareLater) {
  CallSlots slots(4, ErrorReason::kTransfersBusy, "transfers run");
  EXPECT_EQ(TakeAll(slots, kOne), 3);
  std::vector<int> served;
  Guest first(1, served);
  Guest second(2, served);
  Guest third(3, served);
  EXPECT_EQ(*slots.AcquireOrWait(kOne, first), false) << "its client has its share";
  EXPECT_EQ(*slots.AcquireOrWait(kOther, second), true);
  EXPECT_EQ(*slots.AcquireOrWait(3, third), false);
  EXPECT_EQ(slots.counts().waiting, 2);
  slots.Release(kOne);
  EXPECT_THAT(served, ElementsAre(3)) << "the last slot is for those who have none";
  slots.Release(kOther);
  EXPECT_THAT(served, ElementsAre(3));
  slots.Release(3);
  EXPECT_THAT(served, ElementsAre(3, 1));
  EXPECT_EQ(slots.counts().taken, 3);
  EXPECT_EQ(slots.counts().waiting, 0);
}

TEST_F(CallSlotsTest, NobodyIsServedWhoNoLongerWaits) {
  CallSlots slots(1, ErrorReason::kTransfersBusy, "transfers run");
  std::vector<int> served;
  Guest first(1, served);
  Guest second(2, served);
  ASSERT_THAT(slots.Acquire(kOne), IsOk());
  EXPECT_EQ(*slots.AcquireOrWait(kOne, first), false);
  EXPECT_EQ(*slots.AcquireOrWait(kOne, second), false);
  EXPECT_TRUE(slots.StopWaiting(first));
  EXPECT_FALSE(slots.StopWaiting(first));
  EXPECT_THAT(served, IsEmpty());
  slots.Release(kOne);
  EXPECT_THAT(served, ElementsAre(2));
  EXPECT_FALSE(slots.StopWaiting(second));
}

TEST_F(CallSlotsTest, LeavesOthersRoomToWait) {
  CallSlots slots(1, ErrorReason::kTransfersBusy, "transfers run");
  std::vector<int> served;
  Guest guest(1, served);
  ASSERT_THAT(slots.Acquire(kOne), IsOk());
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(*slots.AcquireOrWait(kOne, guest), false);
  }
  EXPECT_EQ(ErrorReasonOf(slots.AcquireOrWait(kOne, guest).status()), "TRANSFERS_BUSY");
  EXPECT_EQ(*slots.AcquireOrWait(kOther, guest), false);
}

TEST(ClientCallsTest, CountsEachClientByItself) {
  ClientCalls calls(2);
  EXPECT_THAT(calls.Enter(1), IsOk());
  EXPECT_THAT(calls.Enter(1), IsOk());
  const absl::Status refused = calls.Enter(1);
  EXPECT_EQ(ErrorReasonOf(refused), "CLIENT_BUSY");
  EXPECT_GT(RetryDelayOf(refused), absl::ZeroDuration());
  EXPECT_THAT(calls.Enter(2), IsOk());
  calls.Leave(1);
  EXPECT_THAT(calls.Enter(1), IsOk());
  EXPECT_EQ(calls.counts().clients, 2);
  EXPECT_EQ(calls.counts().calls, 3);
  EXPECT_EQ(calls.counts().refused, 1);
}

}  // namespace
}  // namespace waystar::rpc
