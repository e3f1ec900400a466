#include "server/service/admission/call_gate.h"

#include <chrono>
#include <thread>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "tests/testing/patience.h"

namespace waystar::rpc {
namespace {

using ::waystar::testing::ExpectReturns;

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

}  // namespace
}  // namespace waystar::rpc
