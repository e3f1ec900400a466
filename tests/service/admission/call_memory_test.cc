// The budget of large requests and unread answers.

#include "server/service/admission/call_memory.h"

#include <optional>

#include "absl/time/time.h"
#include "grpcpp/server_context.h"
#include "gtest/gtest.h"
#include "server/base/error.h"

namespace waystar::rpc {
namespace {

// A context without a call: all of them are of one connection.
class CallMemoryTest : public ::testing::Test {
 protected:
  grpc::CallbackServerContext rpc_;
};

TEST_F(CallMemoryTest, ConnectionHoldsAsMuchAsItMay) {
  CallMemory memory(100'000, 50'000);
  CallMemory::Share first(memory, rpc_);
  CallMemory::Share second(memory, rpc_);
  EXPECT_TRUE(first.Resize(30'000).ok());
  EXPECT_TRUE(memory.CheckConnection(rpc_).ok());
  const absl::Status refused = second.Resize(20'001);
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ErrorReasonOf(refused), "ANSWERS_UNREAD");
  EXPECT_GT(RetryDelayOf(refused), absl::ZeroDuration());
  EXPECT_EQ(memory.total(), 30'000U);
  EXPECT_TRUE(second.Resize(20'000).ok());
  EXPECT_EQ(ErrorReasonOf(memory.CheckConnection(rpc_)), "ANSWERS_UNREAD");
  first.Release();
  EXPECT_TRUE(memory.CheckConnection(rpc_).ok());
  EXPECT_EQ(memory.total(), 20'000U);
}

TEST_F(CallMemoryTest, AllTogetherHoldAsMuchAsTheyMay) {
  CallMemory memory(500'000, 1'000'000);
  CallMemory::Share first(memory, rpc_);
  CallMemory::Share second(memory, rpc_);
  EXPECT_TRUE(first.Resize(300'000).ok());
  EXPECT_EQ(ErrorReasonOf(second.Resize(200'001)), "ANSWERS_UNREAD");
  EXPECT_TRUE(second.Resize(200'000).ok());
}

TEST_F(CallMemoryTest, ConnectionThatHoldsLittleMayAlwaysHoldIt) {
  CallMemory memory(10'000, 1'000'000);
  CallMemory::Share first(memory, rpc_);
  CallMemory::Share second(memory, rpc_);
  CallMemory::Share third(memory, rpc_);
  EXPECT_TRUE(first.Resize(30'000).ok());
  EXPECT_TRUE(second.Resize(30'000).ok());
  EXPECT_EQ(ErrorReasonOf(third.Resize(30'000)), "ANSWERS_UNREAD");
}

TEST_F(CallMemoryTest, WhatIsAloneIsNeverRefused) {
  CallMemory memory(10'000, 10'000);
  CallMemory::Share alone(memory, rpc_);
  EXPECT_TRUE(alone.Resize(1'000'000).ok());
  EXPECT_TRUE(alone.Resize(5'000).ok());
  EXPECT_EQ(memory.total(), 5'000U);
}

TEST_F(CallMemoryTest, SmallOnesAreNotCounted) {
  CallMemory memory(10'000, 10'000);
  CallMemory::Share share(memory, rpc_);
  EXPECT_TRUE(share.Resize(CallMemory::kCountedBytes - 1).ok());
  EXPECT_EQ(memory.total(), 0U);
  EXPECT_TRUE(share.Resize(CallMemory::kCountedBytes).ok());
  EXPECT_EQ(memory.total(), CallMemory::kCountedBytes);
}

TEST_F(CallMemoryTest, ShareThatIsDestroyedHoldsNothing) {
  CallMemory memory(10'000, 10'000);
  std::optional<CallMemory::Share> share;
  share.emplace(memory, rpc_);
  EXPECT_TRUE(share->Resize(8'000).ok());
  share.reset();
  EXPECT_EQ(memory.total(), 0U);
}

}  // namespace
}  // namespace waystar::rpc
