// StreamObstacleUpdates of clients that read slowly, go, or are many, and of a server that stops.

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "client/errors.h"
#include "gmock/gmock.h"
#include "tests/service/handlers/maps/updates.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"

namespace waystar {
namespace {

using ::waystar::testing::ExpectReturns;
using ::waystar::testing::kPatience;
using ::waystar::testing::RevisionOf;
using ::waystar::testing::TestServer;
using ::waystar::testing::Toggle;
using ::waystar::testing::Updates;
using ::waystar::testing::WaitUntil;

// It cannot make the server hold answers without end; others are served meanwhile.
TEST(UpdateStreamLifeTest, ClientThatNeverReadsIsNotReadFrom) {
  constexpr int kAttempts = 1'000'000;
  TestServer server({.stream_window = 16});
  server.Create("room", {"...", "..."});
  server.Create("other", {"...", "..."});
  Updates updates(server.NewNarrowChannel(), absl::Seconds(3));
  // Until the deadline: it blocks when nobody reads what it writes.
  int sent = 0;
  while (sent < kAttempts && updates->Send(Toggle("room", sent))) {
    ++sent;
  }
  EXPECT_LT(sent, kAttempts);
  EXPECT_TRUE(server.client().UpdateObstacles(Toggle("other", 0)).ok());
  // As many as their answers fit into what the transport holds, and the window.
  EXPECT_LE(RevisionOf(server, "room"), 50'000U);
}

TEST(UpdateStreamLifeTest, StopDoesNotWaitForClientThatNeverReads) {
  TestServer server({.stream_window = 16});
  server.Create("room", {"...", "..."});
  Updates updates(server.NewNarrowChannel(), absl::InfiniteDuration());
  // Until the server ends the stream: it blocks when nobody reads what it writes.
  std::thread sender([&] {
    for (int i = 0; updates->Send(Toggle("room", i)); ++i) {
    }
  });
  // By then nothing more is applied, most likely because no answer finds room any more.
  constexpr int kTimesTheSame = 500;
  std::uint64_t applied = RevisionOf(server, "room");
  int same = 0;
  const auto is_stuck = [&] {
    const std::uint64_t now = RevisionOf(server, "room");
    same = now == applied ? same + 1 : 0;
    applied = now;
    return applied > 1 && same >= kTimesTheSame;
  };
  EXPECT_TRUE(WaitUntil(is_stuck, "the server to read no more"));
  ExpectReturns([&] { server.server().Stop(absl::Hours(1), absl::ZeroDuration()); }, "Stop");
  sender.join();
  // What was answered before was applied.
  std::uint64_t answers = 0;
  v1::StreamObstacleUpdatesResponse answer;
  while (updates->Receive(answer)) {
    EXPECT_EQ(answer.applied().version().revision(), answers + 2);
    ++answers;
  }
  EXPECT_GT(answers, 0U);
  EXPECT_FALSE(updates->Finish().ok());
}

// So that cancelling meets reading, converting, committing and writing.
TEST(UpdateStreamLifeTest, ClientsMayGiveUpAtAnyTime) {
  TestServer server({.stream_window = 3});
  server.Create("room", {"...", "..."});
  for (int i = 0; i < 200; ++i) {
    Updates updates(server);
    for (int batch = 0; batch < 5; ++batch) {
      updates->Send(Toggle("room", batch));
    }
    std::thread canceller([&] { updates->Cancel(); });
    if (i % 2 == 0) {
      updates->EndSending();
    }
    std::uint64_t index = 0;
    v1::StreamObstacleUpdatesResponse answer;
    while (updates->Receive(answer)) {
      EXPECT_EQ(answer.index(), index++);
    }
    canceller.join();
    const absl::Status status = updates->Finish();
    EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kCancelled) << status;
  }
  EXPECT_TRUE(server.client().UpdateObstacles(Toggle("room", 0)).ok());
}

TEST(UpdateStreamLifeTest, StreamsOfManyClientsToOneMap) {
  TestServer server;
  server.Create("room", {"...", "..."});
  constexpr int kClients = 4;
  constexpr int kBatches = 200;
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&server] {
      Updates updates(server);
      std::thread sender([&] {
        for (int batch = 0; batch < kBatches; ++batch) {
          updates->Send(Toggle("room", batch));
        }
        updates->EndSending();
      });
      std::uint64_t last = 0;
      for (int batch = 0; batch < kBatches; ++batch) {
        const v1::StreamObstacleUpdatesResponse answer = updates.Next();
        EXPECT_GT(answer.applied().version().revision(), last);
        last = answer.applied().version().revision();
      }
      sender.join();
      EXPECT_TRUE(updates.End().ok());
    });
  }
  for (std::thread& client : clients) {
    client.join();
  }
  EXPECT_EQ(RevisionOf(server, "room"), 1U + kClients * kBatches);
}

TEST(UpdateStreamLifeTest, StopAnswersWhatWasReadAndEndsTheStream) {
  TestServer server;
  server.Create("room", {"...", "..."});
  Updates idle(server);
  Updates busy(server);
  constexpr int kBatches = 50;
  idle->Send(Toggle("room", 0));
  EXPECT_TRUE(idle.Next().has_applied());
  for (int i = 0; i < kBatches; ++i) {
    busy->Send(Toggle("room", i));
  }
  EXPECT_TRUE(busy.Next().has_applied());
  std::thread stop([&] { server.server().Stop(kPatience); });
  const absl::Status ended = idle.End();
  EXPECT_EQ(ended.code(), absl::StatusCode::kUnavailable) << ended;
  EXPECT_EQ(client::ReasonOf(ended), "DRAINING");
  std::uint64_t index = 1;
  v1::StreamObstacleUpdatesResponse answer;
  while (busy->Receive(answer)) {
    EXPECT_EQ(answer.index(), index++);
    EXPECT_TRUE(answer.has_applied()) << answer.DebugString();
  }
  EXPECT_EQ(client::ReasonOf(busy->Finish()), "DRAINING");
  stop.join();
}

}  // namespace
}  // namespace waystar
