// WatchMap and FollowAgents, by real clients over real sockets.

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/errors.h"
#include "gmock/gmock.h"
#include "tests/service/about_map.h"
#include "tests/service/handlers/watch/watches.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"

namespace waystar {
namespace {

class MapWatchTest : public WatchedRoomTest {};

class ShortHistoryTest : public WatchedRoomTest {
 protected:
  ShortHistoryTest() : WatchedRoomTest({.max_history_commits = 2}) {}
};

TEST_F(MapWatchTest, TellsOfEveryRevision) {
  WatchOfMap watch(server_, WatchRequest("room", /*with_edits=*/true));
  EXPECT_EQ(watch.Next(), "watching 1");
  const auto request = Parsed<v1::UpdateMapRequest>(R"(
    map: "room"
    edits { block { rectangles { x: 1 width: 2 height: 1 } } }
    edits { unblock { cells { x: 1 } } })");
  Apply(request);
  const v1::MapRevision revision = watch.NextEvent().commit();
  EXPECT_EQ(revision.version().revision(), 2U);
  EXPECT_EQ(revision.changed_cells(), 1);
  ASSERT_EQ(revision.changed_areas_size(), 1);
  EXPECT_EQ(TextOf(revision.changed_areas(0)), "rectangle { x: 2 width: 1 height: 1 }");
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
  EXPECT_EQ(watch.NextEvent().commit().edits_size(), 0);
}

TEST_F(MapWatchTest, EndOfALifetimeIsARevision) {
  WatchOfMap watch(server_, WatchRequest("room", /*with_edits=*/true));
  EXPECT_EQ(watch.Next(), "watching 1");
  const auto request = Parsed<v1::UpdateMapRequest>(R"(
    map: "room"
    edits { add_obstacle {
      id: "brief" shape { cells { x: 1 y: 1 } } lifetime { nanos: 50000000 }
    } })");
  Apply(request);
  EXPECT_EQ(watch.NextEvent().commit().edits(0).add_obstacle().lifetime().nanos(), 50'000'000);
  const v1::MapRevision end = watch.NextEvent().commit();
  EXPECT_EQ(end.version().revision(), 3U);
  ASSERT_EQ(end.edits_size(), 1);
  EXPECT_EQ(end.edits(0).remove_obstacle(), "brief");
}

TEST_F(MapWatchTest, DigestsAreThoseOfTheAnswers) {
  WatchOfMap watch(server_, WatchRequest("room"));
  auto get = About<v1::GetMapRequest>("room");
  EXPECT_EQ(watch.NextEvent().watching().digest(), server_.client().GetMap(get)->info().digest());
  auto request = About<v1::UpdateMapRequest>("room");
  std::uint64_t digest = 0;
  for (int x = 0; x < 4; ++x) {
    request.clear_edits();
    *request.add_edits()->mutable_block()->add_cells() = CellAt(x, 0);
    const auto updated = server_.client().UpdateMap(request).value();
    digest = watch.NextEvent().commit().digest();
    EXPECT_EQ(digest, updated.digest());
  }
  // A client may know another history, even a longer one.
  for (const std::uint64_t from : {2, 100}) {
    v1::WatchMapRequest lost = WatchFrom(server_, "room", from);
    lost.mutable_after()->set_epoch(1);
    const v1::WatchMapResponse resynchronize = WatchOfMap(server_, lost).NextEvent();
    EXPECT_EQ(resynchronize.resynchronize().version().revision(), 5U);
    EXPECT_EQ(resynchronize.resynchronize().digest(), digest);
  }
}

TEST_F(MapWatchTest, GoesOnFromAnEarlierRevision) {
  while (Change() < 6) {
  }
  WatchOfMap watch(server_, WatchFrom(server_, "room", 4));
  EXPECT_EQ(watch.Next(), "watching 6");
  EXPECT_EQ(watch.Next(), "revision 4");
  EXPECT_EQ(watch.Next(), "revision 5");
  EXPECT_EQ(watch.Next(), "revision 6");
  WatchOfMap next(server_, WatchFrom(server_, "room", 7));
  EXPECT_EQ(next.Next(), "watching 6");
  Change();
  EXPECT_EQ(watch.Next(), "revision 7");
  EXPECT_EQ(next.Next(), "revision 7");
}

TEST_F(ShortHistoryTest, WhoeverAsksForTooMuchIsToldToResynchronize) {
  WatchOfMap first(server_, WatchFrom(server_, "room", 1));
  EXPECT_EQ(first.Next(), "resynchronize 1");
  while (Change() < 6) {
  }
  WatchOfMap forgotten(server_, WatchFrom(server_, "room", 4));
  EXPECT_EQ(forgotten.Next(), "resynchronize 6");
  WatchOfMap remembered(server_, WatchFrom(server_, "room", 5));
  EXPECT_EQ(remembered.Next(), "watching 6");
  EXPECT_EQ(remembered.Next(), "revision 5");
  EXPECT_EQ(remembered.Next(), "revision 6");
  Change();
  EXPECT_EQ(forgotten.Next(), "revision 7");
}

// Nobody waits for it, and it misses nothing without being told.
TEST_F(ShortHistoryTest, SlowWatcherIsToldToResynchronize) {
  WatchOfMap slow(server_, WatchRequest("room", /*with_edits=*/true));
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
      ASSERT_GT(event.resynchronize().version().revision(), seen);
      seen = event.resynchronize().version().revision();
    } else {
      ASSERT_EQ(event.commit().version().revision(), seen + 1);
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
        seen = watch.NextEvent().watching().version().revision();
        // Some begin again in the middle of it.
        for (int told = 0; told < 50 && seen < kLast; ++told) {
          ASSERT_EQ(watch.NextEvent().commit().version().revision(), seen + 1);
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
  EXPECT_EQ(refusal(WatchFrom(server_, "room", 3)), "OUT_OF_RANGE FUTURE_REVISION after");
  EXPECT_EQ(refusal(WatchFrom(server_, "room", 0)), "OUT_OF_RANGE FUTURE_REVISION after");
  v1::WatchMapRequest of_any_epoch = WatchFrom(server_, "room", 2);
  of_any_epoch.mutable_after()->clear_epoch();
  EXPECT_EQ(refusal(of_any_epoch), "INVALID_ARGUMENT BAD_VALUE after.epoch");
}

TEST_F(MapWatchTest, EditsThatDoNotFitAMessageAreLeftOut) {
  constexpr int kMaxBytes = 10'000;
  TestServer small({.max_message_bytes = kMaxBytes});
  small.Create("room", {"....", "...."});
  auto request = About<v1::UpdateMapRequest>("room");
  v1::Shape& shape = *request.add_edits()->mutable_block();
  while (request.ByteSizeLong() + 8 < kMaxBytes) {
    *shape.add_cells() = CellAt(1, 1);
  }
  WatchOfMap watch(small, WatchRequest("room", /*with_edits=*/true));
  EXPECT_EQ(watch.Next(), "watching 1");
  ASSERT_TRUE(small.client().UpdateMap(request).ok());
  const v1::MapRevision revision = watch.NextEvent().commit();
  EXPECT_EQ(revision.edits_size(), 0);
  EXPECT_TRUE(revision.edits_omitted());
  EXPECT_EQ(revision.changed_cells(), 1);
}

TEST(PathWatchTest, RefusesWhatFindPathRefuses) {
  TestServer server;
  server.Create("arena", {"....", "...."});
  const auto graph = Parsed<v1::CreateMapRequest>("map: 'paths' graph { nodes { id: 'a' } }");
  ASSERT_TRUE(server.client().CreateMap(graph).ok());
  const auto refusal = [&](const std::string& query) {
    const absl::Status status = FollowedPath(server, Parsed<v1::FindPathRequest>(query)).End();
    return client::ReasonOf(status) + " " + client::FieldOf(status);
  };
  EXPECT_EQ(refusal("map: 'nowhere' start { cell {} } goals { cell { x: 3 } }"), "MAP_NOT_FOUND map");
  EXPECT_EQ(refusal("map: 'arena' start { cell { x: 1 } }"), "MISSING_FIELD goals");
  EXPECT_EQ(refusal("map: 'paths' start { cell {} } goals { cell { x: 1 } }"), "WRONG_MAP_KIND start.cell");
  EXPECT_EQ(refusal("map: 'arena' start { cell { x: 1 } } goals { cell { x: 3 } } goals { cell { x: 3 } }"),
            "BAD_VALUE goals");
  for (const std::string field : {"max_cost", "clip_cost", "clip_length", "turn_budget"}) {
    EXPECT_EQ(refusal("map: 'arena' start { cell { x: 1 } } goals { cell { x: 3 } } " + field + ": 9"),
              "BAD_VALUE " + field);
  }
}

// Clients come and go while the map changes and calls are made: updates go on, and no watch is left behind.
TEST(PathWatchTest, WatchersMayLeaveAtAnyMoment) {
  TestServer server;
  server.Create("arena", std::vector<std::string>(16, std::string(16, '.')));
  std::atomic<bool> is_over = false;
  std::thread writer([&] {
    for (int i = 0; !is_over.load(); ++i) {
      const std::vector<v1::Cell> cells = {CellAt(i % 14 + 1, 8), CellAt(8, i % 13 + 1)};
      EXPECT_TRUE(server.client().UpdateMap(BlockRequest("arena", cells)).ok());
      EXPECT_TRUE(server.client().UpdateMap(UnblockRequest("arena", cells)).ok());
    }
  });
  std::vector<std::thread> watchers;
  watchers.reserve(3);
  for (int t = 0; t < 3; ++t) {
    watchers.emplace_back([&, t] {
      for (int i = 0; i < 12; ++i) {
        FollowedPath watch(server, PathRequest("arena", CellAt(0, t), CellAt(15, 15 - t)));
        for (int answers = 0; answers < i % 2; ++answers) {
          watch.Next();
        }
      }
    });
  }
  for (std::thread& watcher : watchers) {
    watcher.join();
  }
  is_over = true;
  writer.join();
  const auto are_gone = [&] {
    return server.CountsOf("waystar.v1.PathService/FollowAgents").open_calls == 0;
  };
  EXPECT_TRUE(WaitUntil(are_gone, "the end of each watch whose client has left"));
}

}  // namespace
}  // namespace waystar
