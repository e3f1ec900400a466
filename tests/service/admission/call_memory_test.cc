// The budget of large requests and unread answers.

#include "server/service/admission/call_memory.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "client/batch.h"
#include "client/client.h"
#include "client/errors.h"
#include "gmock/gmock.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/sync_stream.h"
#include "server/base/error.h"
#include "tests/service/about_map.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"
#include "tests/testing/peak_memory.h"
#include "waystar/v1/path_service.grpc.pb.h"

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

// Answers that their clients ask for and do not read.

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

// A call whose client never reads its answer, of which the transport takes the first 64 KiB.
class UnreadCall {
 public:
  UnreadCall(grpc::Channel& channel, const v1::FindPathsRequest& request)
      : reader_(grpc::internal::ClientReaderFactory<v1::FindPathsResponse>::Create(&channel, kMethod,
                                                                                   &context_, request)) {
    // The server has answered, or refused.
    reader_->WaitForInitialMetadata();
  }

  // Blocks until the answer is read, if the call was not refused.
  absl::Status Finish() { return client::FromGrpc(reader_->Finish()); }

  void Cancel() {
    context_.TryCancel();
    reader_->Finish();
  }

 private:
  static inline const grpc::internal::RpcMethod kMethod{"/waystar.v1.PathService/FindPaths",
                                                        grpc::internal::RpcMethod::SERVER_STREAMING};

  BoundedContext context_;
  std::unique_ptr<grpc::ClientReader<v1::FindPathsResponse>> reader_;
};

class UnreadAnswersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    server_.CreateBlank("long", 8000, 3);
    batch_.set_map("long");
    for (int i = 0; i < 50; ++i) {
      client::AddEnds(PathRequest("", CellAt(0, 1), CellAt(7999, 1)), batch_);
    }
  }

  TestServer server_{{.max_call_memory_mib = 24, .max_connection_memory_mib = 16}};
  // Its answer takes 3 MB.
  v1::FindPathsRequest batch_;
};

TEST_F(UnreadAnswersTest, HoldNoMoreThanAConnectionMay) {
  const auto answer = server_.client().FindPaths(batch_).value();
  const std::size_t length = answer.ByteSizeLong();
  ASSERT_GT(length, 2 * kMebibyte);
  const auto channel = server_.NewNarrowChannel();
  std::vector<std::unique_ptr<UnreadCall>> calls;
  TakePeakMemory();
  const std::size_t before = TakePeakMemory();
  for (int i = 0; i < 100; ++i) {
    calls.push_back(std::make_unique<UnreadCall>(*channel, batch_));
  }
  // The counted memory, and that of answers while both sides make them: a third of all answers.
  EXPECT_LT(TakePeakMemory(), before + 16 * kMebibyte + 24 * length);
  const absl::Status refused = calls.back()->Finish();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(client::ReasonOf(refused), "ANSWERS_UNREAD");
  calls.pop_back();
  // Others are answered meanwhile.
  EXPECT_TRUE(server_.client().FindPaths(batch_).ok());

  for (const auto& call : calls) {
    call->Cancel();
  }
  // The connection is served again once the server has seen that.
  const auto stub = v1::PathService::NewStub(channel);
  EXPECT_TRUE(WaitUntil(
      [&stub] {
        BoundedContext context;
        v1::FindPathResponse found;
        return stub->FindPath(&context, PathRequest("long", CellAt(0, 0), CellAt(1, 0)), &found).ok();
      },
      "a connection without unread answers to be served"));
}

}  // namespace
}  // namespace waystar::rpc
