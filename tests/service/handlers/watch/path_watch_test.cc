// WatchPath, by real clients over real sockets.

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "client/errors.h"
#include "gmock/gmock.h"
#include "tests/service/about_map.h"
#include "tests/service/handlers/watch/watches.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"

namespace waystar {
namespace {

using ::waystar::testing::BlockRequest;
using ::waystar::testing::CellAt;
using ::waystar::testing::Parsed;
using ::waystar::testing::PathRequest;
using ::waystar::testing::TestServer;
using ::waystar::testing::UnblockRequest;
using ::waystar::testing::Update;
using ::waystar::testing::WaitUntil;
using ::waystar::testing::WatchOfPath;

TEST(PathWatchTest, TellsTheFirstAnswerAndEachThatReplacesIt) {
  TestServer server;
  server.Create("arena", {".....",  //
                          ".....",  //
                          "....."});
  WatchOfPath watch(server, PathRequest("arena", CellAt(0, 0), CellAt(4, 0)));
  v1::WatchPathResponse message = watch.Next();
  EXPECT_EQ(message.answer().outcome(), v1::OUTCOME_FOUND);
  EXPECT_EQ(message.answer().cost(), 4.0);
  EXPECT_EQ(message.info().version().revision(), 1U);

  // The second of these is the one that matters.
  Update(server, BlockRequest("arena", {CellAt(2, 2)}));
  Update(server, BlockRequest("arena", {CellAt(2, 0)}));
  message = watch.Next();
  EXPECT_GT(message.answer().cost(), 4.0);
  EXPECT_EQ(message.info().version().revision(), 3U);

  Update(server, BlockRequest("arena", {CellAt(2, 1)}));
  message = watch.Next();
  EXPECT_EQ(message.answer().outcome(), v1::OUTCOME_UNREACHABLE);
  EXPECT_EQ(message.info().version().revision(), 4U);

  Update(server, UnblockRequest("arena", {CellAt(2, 0)}));
  message = watch.Next();
  EXPECT_EQ(message.answer().cost(), 4.0);
  EXPECT_EQ(message.info().version().revision(), 5U);
}

TEST(PathWatchTest, BlockedStartIsAProblemThatPasses) {
  TestServer server;
  server.Create("arena", {"....", "...."});
  WatchOfPath watch(server, PathRequest("arena", CellAt(0, 0), CellAt(3, 0)));
  EXPECT_TRUE(watch.Next().has_answer());
  Update(server, BlockRequest("arena", {CellAt(0, 0)}));
  const v1::WatchPathResponse message = watch.Next();
  ASSERT_TRUE(message.has_problem());
  EXPECT_EQ(message.problem().code(), static_cast<int>(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(message.problem().details_size(), 2);
  EXPECT_EQ(message.info().version().revision(), 2U);
  Update(server, UnblockRequest("arena", {CellAt(0, 0)}));
  EXPECT_EQ(watch.Next().answer().cost(), 3.0);
}

TEST(PathWatchTest, RefusesWhatFindPathRefuses) {
  TestServer server;
  server.Create("arena", {"#...", "...."});
  const auto graph = Parsed<v1::CreateMapRequest>("map: 'paths' graph { nodes { id: 'a' } }");
  ASSERT_TRUE(server.client().CreateMap(graph).ok());
  const auto refusal = [&](const std::string& query) {
    const absl::Status status = WatchOfPath(server, Parsed<v1::FindPathRequest>(query)).End();
    return client::ReasonOf(status) + " " + client::FieldOf(status);
  };
  EXPECT_EQ(refusal("map: 'arena' start { cell {} } goals { cell { x: 3 } }"), "START_BLOCKED query.start");
  EXPECT_EQ(refusal("map: 'nowhere' start { cell {} } goals { cell { x: 3 } }"), "MAP_NOT_FOUND query.map");
  EXPECT_EQ(refusal("map: 'arena' start { cell { x: 1 } }"), "MISSING_FIELD query.goals");
  EXPECT_EQ(refusal("map: 'paths' start { cell {} } goals { cell { x: 1 } }"),
            "WRONG_MAP_KIND query.start.cell");
  EXPECT_EQ(refusal("map: 'arena' start { cell { x: 1 } } goals { cell { x: 3 } } goals { cell { x: 3 } }"),
            "BAD_VALUE query.goals");
  const auto unset = server.client().WatchPath({});
  v1::WatchPathResponse message;
  EXPECT_FALSE(unset->Next(message));
  EXPECT_EQ(client::FieldOf(unset->Finish()), "query");
}

// A wall with one door that moves: at any time the last answer that a watcher gets is right for the last
// revision.
TEST(PathWatchTest, LastAnswerOfManyChangesIsNeverMissed) {
  TestServer server;
  const std::vector<std::string> rows(12, std::string(24, '.'));
  server.Create("arena", rows);
  constexpr int kWatches = 6;
  std::vector<std::unique_ptr<WatchOfPath>> watches;
  watches.reserve(kWatches);
  for (int i = 0; i < kWatches; ++i) {
    watches.push_back(std::make_unique<WatchOfPath>(
        server, PathRequest("arena", CellAt(0, 2 * i), CellAt(23, 11 - 2 * i))));
  }
  std::vector<v1::Cell> wall;
  for (int y = 0; y < 12; ++y) {
    wall.push_back(CellAt(12, y));
  }
  Update(server, BlockRequest("arena", wall));
  for (int round = 0; round < 60; ++round) {
    v1::UpdateMapRequest door = BlockRequest("arena", wall);
    *door.add_edits()->mutable_unblock()->add_cells() = CellAt(12, round * 7 % 12);
    Update(server, door);
  }
  for (int i = 0; i < kWatches; ++i) {
    const auto right =
        server.client().FindPath(PathRequest("arena", CellAt(0, 2 * i), CellAt(23, 11 - 2 * i))).value();
    // The door of the last revision is the only way through: no other answer goes past it.
    bool is_told = false;
    while (!is_told && !HasFailure()) {
      const v1::WatchPathResponse message = (*watches[static_cast<std::size_t>(i)]).Next();
      bool passes_door = false;
      for (const v1::Cell& point : message.answer().path().points()) {
        passes_door = passes_door || (point.x() == 12 && point.y() == 59 * 7 % 12);
      }
      is_told = passes_door && message.answer().cost() == right.cost();
    }
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
        WatchOfPath watch(server, PathRequest("arena", CellAt(0, t), CellAt(15, 15 - t)));
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
  const auto are_gone = [&] { return server.CountsOf("waystar.v1.PathService/WatchPath").open_calls == 0; };
  EXPECT_TRUE(WaitUntil(are_gone, "the end of each watch whose client has left"));
}

}  // namespace
}  // namespace waystar
