// Calls that are begun and never go on: they hold places of their own, and others are served meanwhile.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "gmock/gmock.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/generic/generic_stub.h"
#include "tests/service/auth/guarded_server.h"
#include "tests/service/bounded_context.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"

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

// Calls of which nothing but the headers are sent.
class UnfinishedCalls {
 public:
  explicit UnfinishedCalls(const std::shared_ptr<grpc::Channel>& channel) : stub_(channel) {}

  ~UnfinishedCalls() {
    for (const auto& call : calls_) {
      call->context.TryCancel();
    }
    while (ended_ < calls_.size()) {
      NextEnd();
    }
    queue_.Shutdown();
  }

  void Begin(const std::string& method, const std::string& token = "") {
    Call& call = *calls_.emplace_back(std::make_unique<Call>());
    if (!token.empty()) {
      ShowToken(call.context, token);
    }
    call.rpc = stub_.PrepareCall(&call.context, method, &queue_);
    call.rpc->StartCall(nullptr);
    Await(nullptr);
    call.rpc->Finish(&call.status, &call);
  }

  // Waits for the server to end one of them, and returns how.
  grpc::Status NextEnd() {
    ++ended_;
    return static_cast<Call*>(Await())->status;
  }

  // Sends an empty request to the only call, and returns what that comes to.
  grpc::Status Complete() {
    calls_.front()->rpc->WriteLast(grpc::ByteBuffer(nullptr, 0), {}, nullptr);
    Await(nullptr);
    return NextEnd();
  }

 private:
  struct Call {
    BoundedContext context;
    std::unique_ptr<grpc::GenericClientAsyncReaderWriter> rpc;
    grpc::Status status;
  };

  void* Await() {
    if (!early_.empty()) {
      void* const tag = early_.back();
      early_.pop_back();
      return tag;
    }
    void* tag = nullptr;
    bool ok = false;
    queue_.Next(&tag, &ok);
    return tag;
  }

  // Waits for that tag, while others may come before it.
  void Await(void* expected) {
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok) && tag != expected) {
      early_.push_back(tag);
    }
  }

  grpc::GenericStub stub_;
  grpc::CompletionQueue queue_;
  std::vector<std::unique_ptr<Call>> calls_;
  std::vector<void*> early_;
  std::size_t ended_ = 0;
};

constexpr char kFindPath[] = "/waystar.v1.PathService/FindPath";
constexpr char kWatchMap[] = "/waystar.v1.MapService/WatchMap";
constexpr char kCheckHealth[] = "/grpc.health.v1.Health/Check";
constexpr char kListHealth[] = "/grpc.health.v1.Health/List";
constexpr char kWatchHealth[] = "/grpc.health.v1.Health/Watch";
constexpr char kReflection[] = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
constexpr char kUpdates[] = "/waystar.v1.MapService/StreamUpdates";

class UnfinishedCallTest : public ::testing::TestWithParam<const char*> {};

TEST_P(UnfinishedCallTest, IsEndedAfterItsTime) {
  TestServer server({.request_timeout = absl::Milliseconds(100)});
  UnfinishedCalls calls(server.NewChannel());
  calls.Begin(GetParam());
  EXPECT_EQ(calls.NextEnd().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  // The request of a whole call may come too late as well, on a slow machine.
  EXPECT_TRUE(testing::WaitUntil([&] { return server.client().ListMaps({}).ok(); }, "a call in its time"));
}

INSTANTIATE_TEST_SUITE_P(Methods, UnfinishedCallTest,
                         ::testing::Values(kFindPath, kWatchMap, kCheckHealth, kListHealth, kWatchHealth),
                         [](const auto& method) {
                           const std::string path = method.param;
                           const std::string name = path.substr(path.rfind('/') + 1);
                           return absl::StrContains(path, "Health") ? name + "Health" : name;
                         });

TEST(UnfinishedCallsTest, OneMakesRoomForTheNext) {
  TestServer server({.max_awaited_requests = 4, .request_timeout = absl::Hours(1)});
  server.Create("yard", {"..."});
  UnfinishedCalls calls(server.NewChannel());
  for (int i = 0; i < 4; ++i) {
    calls.Begin(kFindPath);
  }
  const grpc::Status status = calls.NextEnd();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("requests have not arrived"));
  EXPECT_TRUE(server.client().FindPath(PathRequest("yard", CellAt(0, 0), CellAt(2, 0))).ok());
  EXPECT_TRUE(server.client().CheckHealth({}).ok());
}

TEST(UnfinishedCallsTest, TakeNothingFromOthers) {
  GuardedServer server(TokenLine("greedy", "read:*") + TokenLine("modest", "read:*"),
                       {.max_awaited_requests = 4, .request_timeout = absl::Hours(1)});
  UnfinishedCalls modest(server.server().NewChannel());
  modest.Begin(kFindPath, "modest");
  UnfinishedCalls greedy(server.server().NewChannel());
  for (int i = 0; i < 10; ++i) {
    greedy.Begin(kFindPath, "greedy");
  }
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(greedy.NextEnd().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  }
  EXPECT_EQ(server.Get("root", "none"), "5 MAP_NOT_FOUND");
  EXPECT_EQ(modest.Complete().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

// A client that holds its share when another takes the last room replaces its own calls one by one.
TEST(UnfinishedCallsTest, OneAtItsShareReplacesItsOwn) {
  GuardedServer server(TokenLine("greedy", "read:*") + TokenLine("modest", "read:*"),
                       {.max_awaited_requests = 4, .request_timeout = absl::Hours(1)});
  UnfinishedCalls modest(server.server().NewChannel());
  {
    UnfinishedCalls greedy(server.server().NewChannel());
    for (int i = 0; i < 3; ++i) {
      greedy.Begin(kFindPath, "greedy");
    }
    modest.Begin(kFindPath, "modest");
    for (int i = 0; i < 20; ++i) {
      greedy.Begin(kFindPath, "greedy");
      EXPECT_EQ(greedy.NextEnd().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    }
  }
  EXPECT_EQ(server.Get("root", "none"), "5 MAP_NOT_FOUND");
  EXPECT_EQ(modest.Complete().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST(UnfinishedCallsTest, OfStrangersAreToldWhoTheyAre) {
  GuardedServer server("");
  UnfinishedCalls calls(server.server().NewChannel());
  calls.Begin(kFindPath, "guessed");
  EXPECT_EQ(calls.Complete().error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

TEST(OpenCallsTest, ReflectionHasPlacesOfItsOwn) {
  TestServer server;
  UnfinishedCalls calls(server.NewChannel());
  for (int i = 0; i < 49; ++i) {
    calls.Begin(kReflection);
  }
  EXPECT_EQ(calls.NextEnd().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(server.client().CheckHealth({}).ok());
}

TEST(OpenCallsTest, StreamsOfOneAddressAreBounded) {
  TestServer server({.max_streams = 4});
  UnfinishedCalls calls(server.NewChannel());
  for (int i = 0; i < 4; ++i) {
    calls.Begin(kUpdates);
  }
  EXPECT_EQ(calls.NextEnd().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(server.client().ListMaps({}).ok());
}

}  // namespace
}  // namespace waystar
