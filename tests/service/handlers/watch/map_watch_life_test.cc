// How watches of maps end, and what they may cost others.

#include <memory>
#include <thread>
#include <vector>

#include "client/errors.h"
#include "gmock/gmock.h"
#include "tests/service/auth/guarded_server.h"
#include "tests/service/handlers/watch/watch_of_map.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"

namespace waystar {
namespace {

using ::waystar::testing::GuardedServer;
using ::waystar::testing::kPatience;
using ::waystar::testing::TestServer;
using ::waystar::testing::TokenLine;
using ::waystar::testing::WaitUntil;
using ::waystar::testing::WatchedRoomTest;
using ::waystar::testing::WatchFrom;
using ::waystar::testing::WatchOfMap;
using ::waystar::testing::WatchRequest;

class MapWatchLifeTest : public WatchedRoomTest {};

TEST_F(MapWatchLifeTest, EndsWhenTheMapIsDeleted) {
  server_.Create("other", {"."});
  WatchOfMap watch(server_, WatchRequest("room"));
  WatchOfMap other(server_, WatchRequest("other"));
  EXPECT_EQ(watch.Next(), "watching 1");
  EXPECT_EQ(other.Next(), "watching 1");
  Delete("room");
  server_.Create("room", {"....", "...."});
  const absl::Status status = watch.End();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
  EXPECT_EQ(client::ReasonOf(status), "MAP_NOT_FOUND");
  // The new map and the other one are not meant.
  WatchOfMap again(server_, WatchRequest("room"));
  EXPECT_EQ(again.Next(), "watching 1");
  EXPECT_EQ(Change(), 2U);
  EXPECT_EQ(again.Next(), "revision 2");
}

// The new map's revisions are smaller than those that the old one had.
TEST_F(MapWatchLifeTest, EndsWithTheMapThatItBeganOn) {
  for (int i = 0; i < 3; ++i) {
    Change();
  }
  for (int i = 0; i < 20; ++i) {
    WatchOfMap old(server_, WatchRequest("room"));
    const v1::Version before = old.NextEvent().watching().version();
    v1::ImportMapHeader import;
    import.set_map("room");
    import.set_format(v1::MAP_FORMAT_TEXT);
    import.set_replace(true);
    const auto imported = server_.client().ImportMap(import, "....\n....\n");
    ASSERT_TRUE(imported.ok()) << imported.status();
    WatchOfMap watch(server_, WatchRequest("room"));
    const v1::Version after = watch.NextEvent().watching().version();
    EXPECT_EQ(after.revision(), 1U);
    EXPECT_NE(after.epoch(), before.epoch());
    EXPECT_EQ(client::ReasonOf(old.End()), "MAP_NOT_FOUND");
    EXPECT_EQ(Change(), 2U);
    EXPECT_EQ(watch.Next(), "revision 2");
    EXPECT_EQ(Change(), 3U);
  }
}

TEST_F(MapWatchLifeTest, MapsThatComeAndGoDoNotConfuseIt) {
  for (int i = 0; i < 50; ++i) {
    WatchOfMap watch(server_, WatchRequest("room"));
    Change();
    std::thread deleter([this] { Delete("room"); });
    v1::WatchMapResponse event;
    while (watch->Next(event)) {
    }
    const absl::Status status = watch->Finish();
    deleter.join();
    EXPECT_EQ(client::ReasonOf(status), "MAP_NOT_FOUND") << status;
    server_.Create("room", {"....", "...."});
  }
}

TEST(MapWatchLimitTest, OneTooManyIsRefusedUntilAnotherEnds) {
  TestServer server({.max_watches = 1});
  server.Create("room", {"."});
  {
    WatchOfMap watch(server, WatchRequest("room"));
    EXPECT_EQ(watch.Next(), "watching 1");
    const absl::Status refused = WatchOfMap(server, WatchRequest("room")).End();
    EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted) << refused;
    EXPECT_EQ(client::ReasonOf(refused), "TOO_MANY_WATCHES");
  }
  absl::Status status;
  const auto has_ended = [&] {
    WatchOfMap watch(server, WatchRequest("room"));
    v1::WatchMapResponse event;
    status = watch->Next(event) ? absl::OkStatus() : watch->Finish();
    return client::ReasonOf(status) != "TOO_MANY_WATCHES";
  };
  EXPECT_TRUE(WaitUntil(has_ended, "the end of the first watch"));
  EXPECT_TRUE(status.ok()) << status;
}

TEST(MapWatchLimitTest, OneClientLeavesOthersSome) {
  GuardedServer server(
      TokenLine("greedy", "read:*") + TokenLine("modest", "read:*") + TokenLine("shy", "read:*"),
      {.max_watches = 8});
  server.Create("room", {"."});
  // Connections of their own do not help.
  const auto watch = [&](const std::string& token) {
    return std::make_unique<WatchOfMap>(server.server(), WatchRequest("room"), token);
  };
  std::vector<std::unique_ptr<WatchOfMap>> greedy;
  for (int i = 0; i < 6; ++i) {
    greedy.push_back(watch("greedy"));
    EXPECT_EQ(greedy.back()->Next(), "watching 1");
  }
  const absl::Status refused = watch("greedy")->End();
  EXPECT_EQ(client::ReasonOf(refused), "TOO_MANY_WATCHES");
  EXPECT_THAT(refused.message(), ::testing::HasSubstr("this client has its share"));
  const auto other = watch("modest");
  EXPECT_EQ(other->Next(), "watching 1");
  const auto third = watch("shy");
  EXPECT_EQ(third->Next(), "watching 1");
}

// So that cancelling meets the beginning, reading of history and writing.
TEST_F(MapWatchLifeTest, ClientsMayGiveUpAtAnyTime) {
  std::thread writer([this] {
    while (Change() < 400) {
    }
  });
  for (int i = 0; i < 200; ++i) {
    WatchOfMap watch(server_, i % 2 == 0 ? WatchRequest("room", /*with_edits=*/true)
                                         : WatchFrom(server_, "room", 2, /*with_edits=*/true));
    std::thread canceller([&] { watch->Cancel(); });
    v1::WatchMapResponse event;
    while (watch->Next(event)) {
    }
    canceller.join();
    const absl::Status status = watch->Finish();
    EXPECT_TRUE(status.code() == absl::StatusCode::kCancelled ||
                client::ReasonOf(status) == "FUTURE_REVISION")
        << status;
  }
  writer.join();
}

TEST_F(MapWatchLifeTest, StopEndsWatchesAtOnce) {
  WatchOfMap idle(server_, WatchRequest("room"));
  WatchOfMap busy(server_, WatchRequest("room", /*with_edits=*/true));
  EXPECT_EQ(idle.Next(), "watching 1");
  EXPECT_EQ(busy.Next(), "watching 1");
  for (int i = 0; i < 50; ++i) {
    Change();
  }
  std::thread stop([&] { server_.server().Stop(kPatience, kPatience); });
  for (WatchOfMap* watch : {&idle, &busy}) {
    v1::WatchMapResponse event;
    while ((*watch)->Next(event)) {
    }
    const absl::Status status = (*watch)->Finish();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
    EXPECT_EQ(client::ReasonOf(status), "DRAINING");
  }
  stop.join();
}

// A watch holds neither the one worker nor the one transfer.
TEST(MapWatchLimitTest, WatchesHoldUpNobody) {
  TestServer server({.workers = 1, .max_transfers = 1});
  server.Create("room", {"."});
  std::vector<std::unique_ptr<WatchOfMap>> watches;
  for (int i = 0; i < 100; ++i) {
    watches.push_back(std::make_unique<WatchOfMap>(server, WatchRequest("room")));
    EXPECT_EQ(watches.back()->Next(), "watching 1");
  }
  v1::ExportMapRequest request;
  request.set_map("room");
  EXPECT_TRUE(server.client().ExportMap(request).ok());
}

}  // namespace
}  // namespace waystar
