// Calls that are begun and never go on: they hold places of their own, and others are served meanwhile.

#include <memory>
#include <string>
#include <vector>

#include "client/client.h"
#include "gmock/gmock.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/generic/generic_stub.h"
#include "tests/rpc/access/guarded_server.h"
#include "tests/rpc/bounded_context.h"
#include "tests/rpc/test_server.h"

namespace waystar {
namespace {

using ::testing::HasSubstr;
using ::waystar::testing::BoundedContext;
using ::waystar::testing::CellAt;
using ::waystar::testing::GuardedServer;
using ::waystar::testing::PathRequest;
using ::waystar::testing::ShowToken;
using ::waystar::testing::TestServer;
using ::waystar::testing::TokenLine;

// A call of which nothing but the headers are sent.
class UnfinishedCall {
 public:
  UnfinishedCall(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                 const std::string& token = "")
      : stub_(channel) {
    if (!token.empty()) {
      ShowToken(context_, token);
    }
    call_ = stub_.PrepareCall(&context_, method, &queue_);
    call_->StartCall(this);
    Await();
    call_->Finish(&status_, this);
  }

  ~UnfinishedCall() {
    context_.TryCancel();
    Await();
    queue_.Shutdown();
  }

  // Returns how the server ends it.
  grpc::Status End() {
    Await();
    return status_;
  }

  // Sends an empty request, and returns what that comes to.
  grpc::Status Complete() {
    --awaited_;
    call_->WriteLast(grpc::ByteBuffer(nullptr, 0), {}, this);
    Await();
    return End();
  }

 private:
  void Await() {
    if (++awaited_ <= 2) {
      void* tag = nullptr;
      bool ok = false;
      queue_.Next(&tag, &ok);
    }
  }

  grpc::GenericStub stub_;
  grpc::CompletionQueue queue_;
  BoundedContext context_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  grpc::Status status_;
  int awaited_ = 0;
};

constexpr char kFindPath[] = "/waystar.v1.PathService/FindPath";
constexpr char kWatchMap[] = "/waystar.v1.MapService/WatchMap";
constexpr char kCheckHealth[] = "/grpc.health.v1.Health/Check";
constexpr char kWatchHealth[] = "/grpc.health.v1.Health/Watch";

class UnfinishedCallTest : public ::testing::TestWithParam<const char*> {};

TEST_P(UnfinishedCallTest, IsEndedAfterItsTime) {
  TestServer server({.request_timeout = absl::Milliseconds(100)});
  const std::shared_ptr<grpc::Channel> channel = server.NewChannel();
  if (std::string(GetParam()).find("Health") == std::string::npos) {
    UnfinishedCall call(channel, GetParam());
    EXPECT_EQ(call.End().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  }
  EXPECT_TRUE(server.client().ListMaps({}).ok());
}

// What is here is ended to make room; what arrives with its request needs none.
TEST_P(UnfinishedCallTest, MakesRoomForTheNext) {
  TestServer server({.max_awaited_requests = 4, .request_timeout = absl::Hours(1)});
  server.Create("yard", {"..."});
  const std::shared_ptr<grpc::Channel> channel = server.NewChannel();
  std::vector<std::unique_ptr<UnfinishedCall>> calls;
  const bool is_probe = std::string(GetParam()).find("Health") != std::string::npos;
  const int places = is_probe ? 256 : 4;
  const int share = places - places / 4;
  for (int i = 0; i <= share; ++i) {
    calls.push_back(std::make_unique<UnfinishedCall>(channel, GetParam()));
  }
  const grpc::Status status = calls.front()->End();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("requests have not arrived"));
  EXPECT_TRUE(server.client().FindPath(PathRequest("yard", CellAt(0, 0), CellAt(2, 0))).ok());
  EXPECT_TRUE(server.client().CheckHealth({}).ok());
}

INSTANTIATE_TEST_SUITE_P(Methods, UnfinishedCallTest,
                         ::testing::Values(kFindPath, kWatchMap, kCheckHealth, kWatchHealth),
                         [](const auto& method) {
                           const std::string path = method.param;
                           const std::string name = path.substr(path.rfind('/') + 1);
                           return path.find("Health") == std::string::npos ? name : name + "Health";
                         });

TEST(UnfinishedCallOfStrangersTest, HasFewPlaces) {
  GuardedServer server("", {.request_timeout = absl::Hours(1)});
  const std::shared_ptr<grpc::Channel> channel = server.server().NewChannel();
  std::vector<std::unique_ptr<UnfinishedCall>> calls;
  for (int i = 0; i < 193; ++i) {
    calls.push_back(std::make_unique<UnfinishedCall>(channel, kFindPath, "guessed"));
  }
  EXPECT_EQ(calls.front()->End().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(calls.back()->Complete().error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

TEST(UnfinishedCallOfStrangersTest, TakesNothingFromOthers) {
  GuardedServer server(TokenLine("greedy", "read:*") + TokenLine("modest", "read:*"),
                       {.max_awaited_requests = 4, .request_timeout = absl::Hours(1)});
  const std::shared_ptr<grpc::Channel> channel = server.server().NewChannel();
  UnfinishedCall modest(channel, kFindPath, "modest");
  std::vector<std::unique_ptr<UnfinishedCall>> greedy;
  for (int i = 0; i < 10; ++i) {
    greedy.push_back(std::make_unique<UnfinishedCall>(channel, kFindPath, "greedy"));
  }
  EXPECT_EQ(greedy.front()->End().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(server.Get("modest", "none"), "5 MAP_NOT_FOUND");
  // Which was the oldest of all.
  EXPECT_EQ(modest.Complete().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST(OpenCallsTest, ReflectionHasPlacesOfItsOwn) {
  TestServer server;
  const std::shared_ptr<grpc::Channel> channel = server.NewChannel();
  std::vector<std::unique_ptr<UnfinishedCall>> calls;
  for (int i = 0; i < 49; ++i) {
    calls.push_back(std::make_unique<UnfinishedCall>(
        channel, "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"));
  }
  EXPECT_EQ(calls.back()->End().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(server.client().CheckHealth({}).ok());
}

TEST(OpenCallsTest, StreamsOfOneAddressAreBounded) {
  TestServer server({.max_streams = 4});
  const std::shared_ptr<grpc::Channel> channel = server.NewChannel();
  std::vector<std::unique_ptr<UnfinishedCall>> calls;
  for (int i = 0; i < 4; ++i) {
    calls.push_back(
        std::make_unique<UnfinishedCall>(channel, "/waystar.v1.MapService/StreamObstacleUpdates"));
  }
  EXPECT_EQ(calls.back()->End().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(server.client().ListMaps({}).ok());
}

}  // namespace
}  // namespace waystar
