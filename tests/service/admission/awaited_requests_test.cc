#include "server/service/admission/awaited_requests.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/security/credentials.h"
#include "tests/service/about_map.h"
#include "tests/service/auth/guarded_server.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"

namespace waystar::rpc {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// Calls that wait, as far as the bound can tell: it cancels them, and knows no more of them.
class AwaitedRequestsTest : public ::testing::Test {
 protected:
  struct Call {
    grpc::ClientContext context;
    std::unique_ptr<grpc::GenericClientAsyncReaderWriter> rpc;
    std::string peer;
    AwaitedRequests::Place place;
  };

  ~AwaitedRequestsTest() override {
    for (Call& call : calls_) {
      awaited_.Leave(call.place);
      call.context.TryCancel();
    }
    calls_.clear();
    queue_.Shutdown();
  }

  Call& NewCall(const std::string& peer) {
    Call& call = calls_.emplace_back();
    call.rpc = stub_.PrepareCall(&call.context, "/a.b/C", &queue_);
    call.peer = peer;
    return call;
  }

  Call& Request(const std::string& peer) {
    Call& call = NewCall(peer);
    awaited_.Enter(7, call.peer, call.context.c_call(), AwaitedRequests::Clock::now(), call.place);
    return call;
  }

  Call& Stream(const std::string& peer) {
    Call& call = NewCall(peer);
    awaited_.EnterStream(call.peer, call.context.c_call(), call.place);
    return call;
  }

  bool IsWaiting(Call& call) { return awaited_.Leave(call.place); }

  void EndLarge(std::optional<std::uint64_t> memory_left) {
    awaited_.EndLarge(
        [&](const std::vector<std::string>& peers) {
          std::vector<std::uint64_t> sent;
          sent.reserve(peers.size());
          for (const std::string& peer : peers) {
            sent.push_back(sent_[peer]);
          }
          return sent;
        },
        memory_left);
  }

  AwaitedRequests awaited_{"requests", {.max_bytes = 10 * kMiB, .max_request_bytes = 4 * kMiB}};
  absl::flat_hash_map<std::string, std::uint64_t> sent_;

 private:
  grpc::GenericStub stub_{grpc::CreateChannel("unix:/nowhere", grpc::InsecureChannelCredentials())};
  grpc::CompletionQueue queue_;
  std::deque<Call> calls_;
};

TEST_F(AwaitedRequestsTest, TheConnectionThatHasSentMostLosesItsRequests) {
  std::vector<Call*> greedy;
  for (int i = 0; i < 4; ++i) {
    greedy.push_back(&Request("greedy"));
  }
  Call& modest = Request("modest");
  EndLarge(std::nullopt);
  sent_ = {{"greedy", 12 * kMiB}, {"modest", kMiB}};
  Call& late = Request("greedy");
  EndLarge(std::nullopt);
  for (Call* call : greedy) {
    EXPECT_FALSE(IsWaiting(*call));
  }
  EXPECT_TRUE(IsWaiting(modest));
  EXPECT_TRUE(IsWaiting(late)) << "nothing of it has been seen yet";
}

TEST_F(AwaitedRequestsTest, ARequestHoldsNoMoreThanItMay) {
  Call& one = Request("busy");
  Call& other = Request("busy");
  EndLarge(std::nullopt);
  // Most of this was of other calls.
  sent_["busy"] = 1000 * kMiB;
  EndLarge(std::nullopt);
  EXPECT_TRUE(IsWaiting(one));
  EXPECT_TRUE(IsWaiting(other));
}

TEST_F(AwaitedRequestsTest, StreamsLoseTheirPlaceWhileMemoryIsShort) {
  for (int i = 0; i < 64; ++i) {
    Stream("greedy");
  }
  Stream("modest");
  EndLarge(std::nullopt);
  sent_ = {{"greedy", 200 * kMiB}, {"modest", 200 * kMiB}};
  EndLarge(std::nullopt);
  // What was sent while there was enough is not counted.
  EndLarge(100 * kMiB);
  sent_ = {{"greedy", 220 * kMiB}, {"modest", 201 * kMiB}};
  EXPECT_EQ(awaited_.stream_count(), 65);
  EndLarge(100 * kMiB);
  EXPECT_EQ(awaited_.stream_count(), 1);
}

TEST_F(AwaitedRequestsTest, WhatArrivesMayTakeAQuarterOfWhatIsLeft) {
  Stream("one");
  Stream("other");
  EndLarge(10 * kMiB);
  sent_ = {{"one", 2 * kMiB}, {"other", kMiB / 2}};
  EndLarge(10 * kMiB);
  EXPECT_EQ(awaited_.stream_count(), 2);
  sent_ = {{"one", 3 * kMiB}, {"other", kMiB / 2}};
  EndLarge(12 * kMiB);
  EXPECT_EQ(awaited_.stream_count(), 1);
}

TEST_F(AwaitedRequestsTest, WholeMessagesAreNotHeld) {
  std::vector<Call*> streams;
  for (int i = 0; i < 8; ++i) {
    streams.push_back(&Stream("busy"));
  }
  EndLarge(100 * kMiB);
  for (int i = 0; i < 5; ++i) {
    // Of another call, and of one of the streams, while the others wait.
    sent_["busy"] += 20 * kMiB;
    awaited_.CountMessage("busy", 15 * kMiB);
    streams[0]->place.CountMessage(5 * kMiB);
    EndLarge(100 * kMiB);
  }
  EXPECT_EQ(awaited_.stream_count(), 8);
  for (int i = 0; i < 5; ++i) {
    sent_["busy"] += 3 * kMiB;
    EndLarge(100 * kMiB);
  }
  EXPECT_EQ(awaited_.stream_count(), 0);
}

TEST_F(AwaitedRequestsTest, EmptyMessagesHideNothing) {
  for (int i = 0; i < 99; ++i) {
    Stream("sly");
  }
  Call& cover = Stream("sly");
  EndLarge(100 * kMiB);
  for (int i = 0; i < 1'000'000; ++i) {
    cover.place.CountMessage(0);
  }
  sent_["sly"] = 50 * kMiB;
  EndLarge(100 * kMiB);
  EXPECT_EQ(awaited_.stream_count(), 1);
}

TEST_F(AwaitedRequestsTest, StreamsThatLeaveAreForgotten) {
  Call& one = Stream("one");
  Call& again = Stream("one");
  awaited_.Leave(one.place);
  awaited_.Leave(one.place);
  EXPECT_EQ(awaited_.stream_count(), 1);
  awaited_.Leave(again.place);
  EXPECT_FALSE(awaited_.HasStreams());
  // Its peer is not asked for any more.
  awaited_.EndLarge(
      [](const std::vector<std::string>& peers) {
        EXPECT_TRUE(peers.empty());
        return std::vector<std::uint64_t>(peers.size());
      },
      100 * kMiB);
}

// Calls that are begun and never go on: they hold places of their own, and others are served meanwhile.

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
  EXPECT_TRUE(WaitUntil([&] { return server.client().ListMaps({}).ok(); }, "a call in its time"));
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
  // On one connection, calls begin in their order.
  const std::shared_ptr<grpc::Channel> channel = server.server().NewChannel();
  UnfinishedCalls modest(channel);
  modest.Begin(kFindPath, "modest");
  UnfinishedCalls greedy(channel);
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
  // On one connection, calls begin in their order.
  const std::shared_ptr<grpc::Channel> channel = server.server().NewChannel();
  UnfinishedCalls modest(channel);
  {
    UnfinishedCalls greedy(channel);
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
}  // namespace waystar::rpc
