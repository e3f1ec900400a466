#include "server/rpc/call_gate.h"

#include <chrono>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "server/base/error.h"

namespace waystar::rpc {
namespace {

std::chrono::steady_clock::time_point Now() { return std::chrono::steady_clock::now(); }

class Call final : public CallGate::OpenEndedCall {
 public:
  void OnGateClosed() override { ++told_; }
  int told() const { return told_; }

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
  gate.Close(Now());
  EXPECT_EQ(inside.told(), 1);
  EXPECT_EQ(gone.told(), 0);
  gate.Leave(&inside);
}

TEST(CallGateTest, NobodyEntersWhileItIsClosed) {
  CallGate gate;
  Call call;
  EXPECT_EQ(ErrorReasonOf(gate.Enter()), "DRAINING");
  EXPECT_EQ(gate.Enter(&call).code(), absl::StatusCode::kUnavailable);
  gate.Open();
  EXPECT_TRUE(gate.Enter().ok());
  gate.Leave();
  gate.Close(Now());
  EXPECT_EQ(ErrorReasonOf(gate.Enter(&call)), "DRAINING");
  EXPECT_EQ(call.told(), 0);
}

}  // namespace
}  // namespace waystar::rpc
