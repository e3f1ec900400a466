// WatchMap, by real clients over real sockets.

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/errors.h"
#include "client/streams.h"
#include "gmock/gmock.h"
#include "tests/rpc/test_server.h"
#include "waystar/v1/map_service.grpc.pb.h"

namespace waystar {
namespace {

using ::waystar::testing::CellAt;
using ::waystar::testing::TestServer;

v1::WatchMapRequest WatchRequest(const std::string& map, std::uint64_t from = 0, bool with_edits = false) {
  v1::WatchMapRequest request;
  request.set_map(map);
  request.set_from_revision(from);
  request.set_with_edits(with_edits);
  return request;
}

// A watch over a connection of its own.
class WatchOfMap {
 public:
  WatchOfMap(const TestServer& server, const v1::WatchMapRequest& request)
      : stub_(v1::MapService::NewStub(server.NewChannel())),
        watch_(*stub_, request, absl::InfiniteDuration()) {}

  client::MapWatch* operator->() { return &watch_; }

  v1::WatchMapResponse NextEvent() {
    v1::WatchMapResponse event;
    if (!watch_.Next(event)) {
      ADD_FAILURE() << watch_.Finish();
    }
    return event;
  }

  // "watching 1", "revision 2", "resynchronize 3".
  std::string Next() {
    const v1::WatchMapResponse event = NextEvent();
    switch (event.event_case()) {
      case v1::WatchMapResponse::kWatching:
        return absl::StrCat("watching ", event.watching().revision());
      case v1::WatchMapResponse::kRevision:
        return absl::StrCat("revision ", event.revision().revision());
      case v1::WatchMapResponse::kResynchronize:
        return absl::StrCat("resynchronize ", event.resynchronize().revision());
      case v1::WatchMapResponse::EVENT_NOT_SET:
        break;
    }
    return "nothing";
  }

  absl::Status End() {
    v1::WatchMapResponse event;
    EXPECT_FALSE(watch_.Next(event)) << event.DebugString();
    return watch_.Finish();
  }

 private:
  std::unique_ptr<v1::MapService::Stub> stub_;
  client::MapWatch watch_;
};

class MapWatchTest : public ::testing::Test {
 protected:
  explicit MapWatchTest(const runtime::Options& options = {}) : server_(options) {
    server_.Create("room", {"....", "...."});
  }

  // Makes one revision and returns it.
  std::uint64_t Change(const std::string& map = "room") {
    v1::UpdateObstaclesRequest request;
    request.set_map(map);
    v1::Edit& edit = *request.add_edits();
    *(++changes_ % 2 == 0 ? edit.mutable_block() : edit.mutable_unblock())->add_cells() = CellAt(1, 1);
    return Apply(request);
  }

  std::uint64_t Apply(const v1::UpdateObstaclesRequest& request) {
    const auto updated = server_.client().UpdateObstacles(request);
    EXPECT_TRUE(updated.ok()) << updated.status();
    return updated->revision();
  }

  void Delete(const std::string& map) {
    v1::DeleteMapRequest request;
    request.set_map(map);
    EXPECT_TRUE(server_.client().DeleteMap(request).ok());
  }

  TestServer server_;
  int changes_ = 0;
};

class ShortHistoryTest : public MapWatchTest {
 protected:
  ShortHistoryTest() : MapWatchTest({.max_history_commits = 2}) {}
};

TEST_F(MapWatchTest, TellsOfEveryRevision) {
  WatchOfMap watch(server_, WatchRequest("room", 0, /*with_edits=*/true));
  EXPECT_EQ(watch.Next(), "watching 1");
  v1::UpdateObstaclesRequest request;
  request.set_map("room");
  v1::Rectangle& wall = *request.add_edits()->mutable_block()->add_rectangles();
  wall.set_x(1);
  wall.set_width(2);
  wall.set_height(1);
  *request.add_edits()->mutable_unblock()->add_cells() = CellAt(1, 0);
  Apply(request);
  const v1::MapRevision revision = watch.NextEvent().revision();
  EXPECT_EQ(revision.revision(), 2U);
  EXPECT_EQ(revision.changed_cells(), 1);
  EXPECT_EQ(revision.changed_bounds().x(), 2);
  EXPECT_EQ(revision.changed_bounds().width(), 1);
  EXPECT_GT(revision.commit_time().seconds(), 1'600'000'000);
  EXPECT_FALSE(revision.edits_omitted());
  ASSERT_EQ(revision.edits_size(), 2);
  EXPECT_EQ(revision.edits(0).DebugString(), request.edits(0).DebugString());
  EXPECT_EQ(revision.edits(1).DebugString(), request.edits(1).DebugString());
  Change();
  EXPECT_EQ(watch.Next(), "revision 3");
}

TEST_F(MapWatchTest, EditsAreSentToThoseWhoAsk) {
  WatchOfMap watch(server_, WatchRequest("room"));
  EXPECT_EQ(watch.Next(), "watching 1");
  Change();
  EXPECT_EQ(watch.NextEvent().revision().edits_size(), 0);
}

TEST_F(MapWatchTest, GoesOnFromAnEarlierRevision) {
  while (Change() < 6) {
  }
  WatchOfMap watch(server_, WatchRequest("room", 4));
  EXPECT_EQ(watch.Next(), "watching 6");
  EXPECT_EQ(watch.Next(), "revision 4");
  EXPECT_EQ(watch.Next(), "revision 5");
  EXPECT_EQ(watch.Next(), "revision 6");
  WatchOfMap next(server_, WatchRequest("room", 7));
  EXPECT_EQ(next.Next(), "watching 6");
  Change();
  EXPECT_EQ(watch.Next(), "revision 7");
  EXPECT_EQ(next.Next(), "revision 7");
}

TEST_F(ShortHistoryTest, WhoeverAsksForTooMuchIsToldToResynchronize) {
  WatchOfMap first(server_, WatchRequest("room", 1));
  EXPECT_EQ(first.Next(), "resynchronize 1");
  while (Change() < 6) {
  }
  WatchOfMap forgotten(server_, WatchRequest("room", 4));
  EXPECT_EQ(forgotten.Next(), "resynchronize 6");
  WatchOfMap remembered(server_, WatchRequest("room", 5));
  EXPECT_EQ(remembered.Next(), "watching 6");
  EXPECT_EQ(remembered.Next(), "revision 5");
  EXPECT_EQ(remembered.Next(), "revision 6");
  Change();
  EXPECT_EQ(forgotten.Next(), "revision 7");
}

// A batch that takes about 100 KB.
v1::UpdateObstaclesRequest LargeBatch() {
  v1::UpdateObstaclesRequest request;
  request.set_map("room");
  v1::Shape& shape = *request.add_edits()->mutable_block();
  for (int i = 0; i < 20'000; ++i) {
    *shape.add_cells() = CellAt(1, 1);
  }
  return request;
}

// Nobody waits for it, and it misses nothing without being told.
TEST_F(ShortHistoryTest, SlowWatcherIsToldToResynchronize) {
  WatchOfMap slow(server_, WatchRequest("room", 0, /*with_edits=*/true));
  EXPECT_EQ(slow.Next(), "watching 1");
  std::uint64_t last = 0;
  for (int i = 0; i < 300; ++i) {
    last = Apply(LargeBatch());
  }
  std::uint64_t seen = 1;
  bool was_told = false;
  while (seen < last) {
    const v1::WatchMapResponse event = slow.NextEvent();
    if (event.has_resynchronize()) {
      was_told = true;
      ASSERT_GT(event.resynchronize().revision(), seen);
      seen = event.resynchronize().revision();
    } else {
      ASSERT_EQ(event.revision().revision(), seen + 1);
      ++seen;
    }
  }
  EXPECT_TRUE(was_told);
  EXPECT_EQ(seen, last);
  Change();
  EXPECT_EQ(slow.Next(), absl::StrCat("revision ", last + 1));
}

TEST_F(MapWatchTest, NothingIsMissedAndNothingToldTwice) {
  constexpr int kWatches = 8;
  constexpr std::uint64_t kLast = 301;
  std::thread writer([&] {
    while (Change() < kLast) {
    }
  });
  std::vector<std::thread> watchers;
  for (int i = 0; i < kWatches; ++i) {
    watchers.emplace_back([this] {
      for (std::uint64_t seen = 0; seen < kLast - 20;) {
        WatchOfMap watch(server_, WatchRequest("room"));
        seen = watch.NextEvent().watching().revision();
        // Some begin again in the middle of it.
        for (int told = 0; told < 50 && seen < kLast; ++told) {
          ASSERT_EQ(watch.NextEvent().revision().revision(), seen + 1);
          ++seen;
        }
      }
    });
  }
  for (std::thread& watcher : watchers) {
    watcher.join();
  }
  writer.join();
}

TEST_F(MapWatchTest, RefusesWhatCannotBeWatched) {
  const auto refusal = [&](const v1::WatchMapRequest& request) {
    const absl::Status status = WatchOfMap(server_, request).End();
    return absl::StrCat(absl::StatusCodeToString(status.code()), " ", client::ReasonOf(status), " ",
                        client::FieldOf(status));
  };
  EXPECT_EQ(refusal(WatchRequest("nowhere")), "NOT_FOUND MAP_NOT_FOUND map");
  EXPECT_EQ(refusal(WatchRequest("No Map")), "INVALID_ARGUMENT BAD_MAP_ID map");
  EXPECT_EQ(refusal(WatchRequest("room", 3)), "OUT_OF_RANGE FUTURE_REVISION from_revision");
  EXPECT_EQ(refusal(WatchRequest("room", UINT64_MAX)), "OUT_OF_RANGE FUTURE_REVISION from_revision");
}

TEST_F(MapWatchTest, EndsWhenTheMapIsDeleted) {
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
  EXPECT_EQ(again.Next(), "watching 2");
  EXPECT_EQ(Change(), 3U);
  EXPECT_EQ(again.Next(), "revision 3");
}

TEST_F(MapWatchTest, MapsThatComeAndGoDoNotConfuseIt) {
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

TEST_F(MapWatchTest, EditsThatDoNotFitAMessageAreLeftOut) {
  constexpr int kMaxBytes = 10'000;
  TestServer small({.max_message_bytes = kMaxBytes});
  small.Create("room", {"....", "...."});
  v1::UpdateObstaclesRequest request;
  request.set_map("room");
  v1::Shape& shape = *request.add_edits()->mutable_block();
  while (request.ByteSizeLong() + 8 < kMaxBytes) {
    *shape.add_cells() = CellAt(1, 1);
  }
  WatchOfMap watch(small, WatchRequest("room", 0, /*with_edits=*/true));
  EXPECT_EQ(watch.Next(), "watching 1");
  ASSERT_TRUE(small.client().UpdateObstacles(request).ok());
  const v1::MapRevision revision = watch.NextEvent().revision();
  EXPECT_EQ(revision.edits_size(), 0);
  EXPECT_TRUE(revision.edits_omitted());
  EXPECT_EQ(revision.changed_cells(), 1);
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
  v1::WatchMapResponse event;
  do {
    WatchOfMap watch(server, WatchRequest("room"));
    status = watch->Next(event) ? absl::OkStatus() : watch->Finish();
  } while (client::ReasonOf(status) == "TOO_MANY_WATCHES");
  EXPECT_TRUE(status.ok()) << status;
}

// So that cancelling meets the beginning, reading of history and writing.
TEST_F(MapWatchTest, ClientsMayGiveUpAtAnyTime) {
  std::thread writer([this] {
    while (Change() < 400) {
    }
  });
  for (int i = 0; i < 200; ++i) {
    WatchOfMap watch(server_, WatchRequest("room", i % 2 == 0 ? 0 : 2, /*with_edits=*/true));
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

TEST_F(MapWatchTest, StopEndsWatchesAtOnce) {
  WatchOfMap idle(server_, WatchRequest("room"));
  WatchOfMap busy(server_, WatchRequest("room", 0, /*with_edits=*/true));
  EXPECT_EQ(idle.Next(), "watching 1");
  EXPECT_EQ(busy.Next(), "watching 1");
  for (int i = 0; i < 50; ++i) {
    Change();
  }
  std::thread stop([&] { server_.server().Stop(absl::Hours(1)); });
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
