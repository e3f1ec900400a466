// How many calls one client may have waiting or running.

#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "client/errors.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/service/admission/call_slots.h"
#include "tests/service/bounded_context.h"
#include "tests/service/test_server.h"
#include "tests/testing/status_matchers.h"
#include "waystar/v1/path_service.grpc.pb.h"

namespace waystar {
namespace {

using ::waystar::testing::BoundedContext;
using ::waystar::testing::CellAt;
using ::waystar::testing::IsOk;
using ::waystar::testing::PathRequest;
using ::waystar::testing::TestServer;

TEST(ClientCallsTest, CountsEachClientByItself) {
  rpc::ClientCalls calls(2);
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

// Searches that take many seconds, sent over one connection.
class LongSearches {
 public:
  explicit LongSearches(TestServer& server) : stub_(v1::PathService::NewStub(server.NewChannel())) {
    request_ = PathRequest("vast", CellAt(0, 0), CellAt(8191, 8191));
    request_.set_algorithm(v1::ALGORITHM_DIJKSTRA);
    request_.set_path_form(v1::PATH_FORM_CORNERS);
  }

  void Send(int count) {
    for (int i = 0; i < count; ++i) {
      Call& call = *calls_.emplace_back(std::make_unique<Call>());
      call.reader = stub_->AsyncFindPath(&call.context, request_, &done_);
      call.reader->Finish(&call.response, &call.status, &call);
    }
  }

  // Of the next that ends.
  absl::Status Next() {
    void* tag = nullptr;
    bool ok = false;
    EXPECT_TRUE(done_.Next(&tag, &ok));
    return client::FromGrpc(static_cast<Call*>(tag)->status);
  }

  void CancelAll() {
    for (const auto& call : calls_) {
      call->context.TryCancel();
    }
  }

 private:
  struct Call {
    BoundedContext context;
    v1::FindPathResponse response;
    grpc::Status status;
    std::unique_ptr<grpc::ClientAsyncResponseReader<v1::FindPathResponse>> reader;
  };

  const std::unique_ptr<v1::PathService::Stub> stub_;
  v1::FindPathRequest request_;
  grpc::CompletionQueue done_;
  std::vector<std::unique_ptr<Call>> calls_;
};

TEST(ClientCallsTest, OneTooManyOfOneClientIsRefusedAndOfAnotherIsNot) {
  TestServer server({.workers = 1, .max_queue_time = absl::Hours(1), .max_client_calls = 2});
  v1::CreateMapRequest create;
  create.set_map("vast");
  create.mutable_blank()->set_width(8192);
  create.mutable_blank()->set_height(8192);
  ASSERT_TRUE(server.client().CreateMap(create).ok());

  LongSearches one(server);
  one.Send(5);
  for (int i = 0; i < 3; ++i) {
    const absl::Status refused = one.Next();
    EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted) << refused;
    EXPECT_EQ(client::ReasonOf(refused), "CLIENT_BUSY");
    EXPECT_GT(client::RetryDelayOf(refused), absl::ZeroDuration());
  }
  LongSearches other(server);
  other.Send(3);
  EXPECT_EQ(client::ReasonOf(other.Next()), "CLIENT_BUSY");
  one.CancelAll();
  other.CancelAll();
  for (LongSearches* searches : {&one, &other}) {
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(searches->Next().code(), absl::StatusCode::kCancelled);
    }
  }
}

}  // namespace
}  // namespace waystar
