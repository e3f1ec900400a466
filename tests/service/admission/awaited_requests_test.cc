#include "server/service/admission/awaited_requests.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/security/credentials.h"
#include "gtest/gtest.h"

namespace waystar::rpc {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// Calls that wait, as far as the bound can tell: it cancels them, and knows no more of them.
class AwaitedRequestsTest : public ::testing::Test {
 protected:
  struct Call {
    grpc::ClientContext context;
    std::unique_ptr<grpc::GenericClientAsyncReaderWriter> rpc;
    std::string peer;
    AwaitedRequests::Place place;
    AwaitedRequests::Stream stream;
  };

  ~AwaitedRequestsTest() override {
    for (Call& call : calls_) {
      awaited_.Leave(call.place);
      awaited_.LeaveStream(call.stream);
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
    awaited_.EnterStream(call.peer, call.context.c_call(), call.stream);
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
    streams[0]->stream.CountMessage(5 * kMiB);
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
    cover.stream.CountMessage(0);
  }
  sent_["sly"] = 50 * kMiB;
  EndLarge(100 * kMiB);
  EXPECT_EQ(awaited_.stream_count(), 1);
}

TEST_F(AwaitedRequestsTest, StreamsThatLeaveAreForgotten) {
  Call& one = Stream("one");
  Call& again = Stream("one");
  awaited_.LeaveStream(one.stream);
  awaited_.LeaveStream(one.stream);
  EXPECT_EQ(awaited_.stream_count(), 1);
  awaited_.LeaveStream(again.stream);
  EXPECT_FALSE(awaited_.HasStreams());
  // Its peer is not asked for any more.
  awaited_.EndLarge(
      [](const std::vector<std::string>& peers) {
        EXPECT_TRUE(peers.empty());
        return std::vector<std::uint64_t>(peers.size());
      },
      100 * kMiB);
}

}  // namespace
}  // namespace waystar::rpc
