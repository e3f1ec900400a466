// How much memory messages may take.

#include "server/rpc/admission/message_memory.h"

#include <memory>
#include <utility>
#include <vector>

#include "client/errors.h"
#include "gmock/gmock.h"
#include "tests/rpc/bounded_context.h"
#include "tests/rpc/test_server.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"
#include "waystar/v1/path_service.grpc.pb.h"

namespace waystar {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::Lt;
using ::waystar::testing::BoundedContext;
using ::waystar::testing::CellAt;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::TestServer;
using ::waystar::testing::WaitUntil;

constexpr std::size_t kMib = std::size_t{1} << 20;

TEST(MessageMemoryTest, AClientMayHaveAQuarter) {
  rpc::MessageMemory memory(16 * kMib);
  auto share = memory.Take(1, 3 * kMib);
  EXPECT_THAT(share, IsOk());
  const auto busy = IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kMessagesBusy, "");
  EXPECT_THAT(memory.Take(1, 2 * kMib), busy);
  EXPECT_THAT(memory.Take(2, 2 * kMib), IsOk());
  EXPECT_EQ(memory.counts().bytes, 3 * kMib);
  EXPECT_EQ(memory.counts().refused, 1U);
  *share = {};
  EXPECT_EQ(memory.counts().bytes, 0U);
  // One message of any size that there is room for.
  EXPECT_THAT(memory.Take(1, 15 * kMib), IsOk());
}

TEST(MessageMemoryTest, AllTogetherMayHaveAll) {
  rpc::MessageMemory memory(16 * kMib);
  std::vector<rpc::MessageMemory::Share> shares;
  for (std::uint64_t client = 0; client < 5; ++client) {
    auto share = memory.Take(client, 3 * kMib);
    ASSERT_THAT(share, IsOk());
    shares.push_back(*std::move(share));
  }
  EXPECT_FALSE(memory.Take(9, 2 * kMib).ok());
  shares.clear();
  EXPECT_EQ(memory.counts().bytes, 0U);
}

TEST(MessageMemoryTest, SmallMessagesDoNotCount) {
  rpc::MessageMemory memory(1);
  EXPECT_THAT(memory.Take(1, rpc::MessageMemory::kSmallMessageBytes - 1), IsOk());
}

TEST(MessageMemoryTest, AnswersThatNobodyReadsAreRefusedToTheirClientAlone) {
  TestServer server({.max_messages_mib = 16});
  v1::CreateMapRequest create;
  create.set_map("wide");
  create.mutable_blank()->set_width(1000);
  create.mutable_blank()->set_height(1000);
  ASSERT_THAT(server.client().CreateMap(create), IsOk());
  v1::ComputeFlowFieldRequest request;
  request.set_map("wide");
  *request.add_goals() = CellAt(500, 500);
  const auto one = server.client().ComputeFlowField(request);
  ASSERT_THAT(one, IsOk());
  ASSERT_GT(one->ByteSizeLong(), kMib / 2);

  struct Call {
    BoundedContext context;
    v1::ComputeFlowFieldResponse response;
    grpc::Status status;
    std::unique_ptr<grpc::ClientAsyncResponseReader<v1::ComputeFlowFieldResponse>> reader;
  };
  constexpr int kCalls = 40;
  const std::shared_ptr<grpc::Channel> channel = server.NewNarrowChannel();
  ASSERT_TRUE(channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::minutes(1)));
  const auto stub = v1::PathService::NewStub(channel);
  grpc::CompletionQueue done;
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < kCalls; ++i) {
    Call& call = *calls.emplace_back(std::make_unique<Call>());
    call.reader = stub->AsyncComputeFlowField(&call.context, request, &done);
    call.reader->Finish(&call.response, &call.status, &call);
  }
  // Nobody reads the answers until all are made or refused.
  EXPECT_TRUE(WaitUntil(
      [&] {
        const auto statistics = server.client().GetServerStatistics({});
        for (const v1::MethodStatistics& method : statistics->methods()) {
          if (method.method() == "waystar.v1.PathService/ComputeFlowField") {
            return method.requests() > kCalls;
          }
        }
        return false;
      },
      "all answers to be made"));
  EXPECT_THAT(server.client().ComputeFlowField(request), IsOk());
  int answered = 0;
  for (int i = 0; i < kCalls; ++i) {
    void* tag = nullptr;
    bool ok = false;
    ASSERT_TRUE(done.Next(&tag, &ok));
    const absl::Status status = client::FromGrpc(static_cast<Call*>(tag)->status);
    answered += status.ok() ? 1 : 0;
    if (!status.ok()) {
      EXPECT_EQ(client::ReasonOf(status), "MESSAGES_BUSY") << status;
    }
  }
  EXPECT_THAT(answered, AllOf(Ge(1), Lt(kCalls)));
  EXPECT_THAT(server.client().ComputeFlowField(request), IsOk());
}

}  // namespace
}  // namespace waystar
