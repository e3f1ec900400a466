// Who gets a slot, who waits for one, who is refused, and how many calls one client may have.

#include "server/service/admission/call_slots.h"

#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/service/admission/arrival_pause.h"
#include "server/service/admission/call_gate.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"

namespace waystar::rpc {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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

std::chrono::steady_clock::time_point Now() { return std::chrono::steady_clock::now(); }

class Call final : public CallGate::OpenEndedCall {
 public:
  void OnGateClosed() override { ++told_; }
  absl::Status RenewCaller() override { return renewed; }
  void OnRevoked(const absl::Status& why) override { revoked = why; }
  void OnForceCancel() override { ++cut_off; }
  int told() const { return told_; }

  absl::Status renewed;
  absl::Status revoked;
  int cut_off = 0;

 private:
  int told_ = 0;
};

TEST(CallGateTest, ClosingTellsOpenEndedCallsThatAreInside) {
  CallGate gate;
  gate.Open();
  Call inside;
  Call gone;
  ASSERT_TRUE(gate.Enter(&inside).ok());
  ASSERT_TRUE(gate.Enter(&gone).ok());
  gate.Leave(&gone);
  gate.Close(Now(), Now());
  EXPECT_EQ(inside.told(), 1);
  EXPECT_EQ(gone.told(), 0);
  gate.Leave(&inside);
}

TEST(CallGateTest, EndsCallsWhoseCallersMayNotGoOn) {
  CallGate gate;
  gate.Open();
  Call allowed;
  Call revoked;
  ASSERT_TRUE(gate.Enter(&allowed).ok());
  ASSERT_TRUE(gate.Enter(&revoked).ok());
  revoked.renewed = absl::UnauthenticatedError("gone");
  gate.EndRevoked();
  EXPECT_EQ(revoked.revoked, revoked.renewed);
  EXPECT_EQ(revoked.cut_off, 0);
  gate.CutOffRevoked();
  EXPECT_EQ(revoked.cut_off, 1);
  EXPECT_TRUE(allowed.revoked.ok());
  EXPECT_EQ(allowed.cut_off, 0);
  gate.Leave(&allowed);
  gate.Leave(&revoked);
}

// A call that leaves, on a thread of its own, the first or the second time that it is told to.
class LeavingCall final : public CallGate::OpenEndedCall {
 public:
  LeavingCall(CallGate& gate, bool is_stubborn) : gate_(gate), is_stubborn_(is_stubborn) {
    EXPECT_TRUE(gate_.Enter(this).ok());
  }
  ~LeavingCall() {
    EXPECT_TRUE(leaver_.joinable()) << "never told";
    leaver_.join();
  }

  void OnGateClosed() override {
    if (!is_stubborn_) {
      leaver_ = std::thread([this] { gate_.Leave(this); });
    }
  }
  absl::Status RenewCaller() override { return absl::OkStatus(); }
  void OnRevoked(const absl::Status& /*why*/) override {}
  void OnForceCancel() override {
    EXPECT_TRUE(is_stubborn_) << "told again, although there was time";
    leaver_ = std::thread([this] { gate_.Leave(this); });
  }

 private:
  CallGate& gate_;
  const bool is_stubborn_;
  std::thread leaver_;
};

TEST(CallGateTest, WhoLeavesInTimeIsNotToldAgain) {
  CallGate gate;
  gate.Open();
  LeavingCall call(gate, /*is_stubborn=*/false);
  ExpectReturns([&] { gate.Close(Now() + std::chrono::hours(1), Now() + std::chrono::hours(2)); }, "Close");
}

TEST(CallGateTest, WhoDoesNotLeaveIsToldAgainLongBeforeTheDeadline) {
  CallGate gate;
  gate.Open();
  LeavingCall call(gate, /*is_stubborn=*/true);
  ExpectReturns([&] { gate.Close(Now(), Now() + std::chrono::hours(1)); }, "Close");
}

TEST(CallGateTest, NobodyEntersBeforeItIsOpenAndOnceItIsClosed) {
  CallGate gate;
  Call call;
  EXPECT_EQ(ErrorReasonOf(gate.Enter()), "MAPS_LOADING");
  EXPECT_EQ(gate.Enter(&call).code(), absl::StatusCode::kUnavailable);
  gate.Open();
  EXPECT_TRUE(gate.Enter().ok());
  gate.Leave();
  gate.Close(Now(), Now());
  EXPECT_EQ(ErrorReasonOf(gate.Enter(&call)), "DRAINING");
  EXPECT_EQ(call.told(), 0);
}

TEST(ArrivalPauseTest, IsDueForAWhileAfterARefusal) {
  ArrivalPause pause(milliseconds(2));
  const ArrivalPause::Clock::time_point now{std::chrono::hours(1)};
  EXPECT_FALSE(pause.IsDue(now));
  pause.NoteRefusal(now);
  EXPECT_TRUE(pause.IsDue(now));
  EXPECT_TRUE(pause.IsDue(now + ArrivalPause::kRecently / 2));
  EXPECT_FALSE(pause.IsDue(now + ArrivalPause::kRecently));
}

}  // namespace
}  // namespace waystar::rpc
