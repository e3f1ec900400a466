// WatchPath, by real clients over real sockets.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "client/errors.h"
#include "gmock/gmock.h"
#include "tests/service/handlers/watch/watch_of_path.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"

namespace waystar {
namespace {

using ::testing::ElementsAre;
using ::waystar::testing::BlockRequest;
using ::waystar::testing::CellAt;
using ::waystar::testing::kPatience;
using ::waystar::testing::LocationAt;
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
  EXPECT_EQ(message.version().revision(), 1U);

  // The second of these is the one that matters.
  Update(server, BlockRequest("arena", {CellAt(2, 2)}));
  Update(server, BlockRequest("arena", {CellAt(2, 0)}));
  message = watch.Next();
  EXPECT_GT(message.answer().cost(), 4.0);
  EXPECT_EQ(message.version().revision(), 3U);

  Update(server, BlockRequest("arena", {CellAt(2, 1)}));
  message = watch.Next();
  EXPECT_EQ(message.answer().outcome(), v1::OUTCOME_UNREACHABLE);
  EXPECT_EQ(message.version().revision(), 4U);

  Update(server, UnblockRequest("arena", {CellAt(2, 0)}));
  message = watch.Next();
  EXPECT_EQ(message.answer().cost(), 4.0);
  EXPECT_EQ(message.version().revision(), 5U);
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
  EXPECT_EQ(message.version().revision(), 2U);
  Update(server, UnblockRequest("arena", {CellAt(0, 0)}));
  EXPECT_EQ(watch.Next().answer().cost(), 3.0);
}

TEST(PathWatchTest, RefusesWhatFindPathRefuses) {
  TestServer server;
  server.Create("arena", {"#...", "...."});
  absl::Status status = WatchOfPath(server, PathRequest("arena", CellAt(0, 0), CellAt(3, 0))).End();
  EXPECT_EQ(client::ReasonOf(status), "START_BLOCKED") << status;
  EXPECT_EQ(client::FieldOf(status), "query.start");
  status = WatchOfPath(server, PathRequest("nowhere", CellAt(0, 0), CellAt(3, 0))).End();
  EXPECT_EQ(client::ReasonOf(status), "MAP_NOT_FOUND") << status;
  EXPECT_EQ(client::FieldOf(status), "query.map");
  v1::FindPathRequest no_goal = PathRequest("arena", CellAt(1, 0), CellAt(3, 0));
  no_goal.clear_goals();
  status = WatchOfPath(server, no_goal).End();
  EXPECT_EQ(client::ReasonOf(status), "MISSING_FIELD") << status;
  EXPECT_EQ(client::FieldOf(status), "query.goals");
  v1::CreateMapRequest graph;
  graph.set_map("paths");
  graph.mutable_graph()->add_nodes()->set_id("a");
  ASSERT_TRUE(server.client().CreateMap(graph).ok());
  status = WatchOfPath(server, PathRequest("paths", CellAt(0, 0), CellAt(1, 0))).End();
  EXPECT_EQ(client::ReasonOf(status), "WRONG_MAP_KIND") << status;
  EXPECT_EQ(client::FieldOf(status), "query.start.cell");
  v1::FindPathRequest several = PathRequest("arena", CellAt(1, 0), CellAt(3, 0));
  *several.add_goals() = LocationAt(3, 0);
  EXPECT_EQ(client::FieldOf(WatchOfPath(server, several).End()), "query.goals");
  const auto unset = server.client().WatchPath({});
  v1::WatchPathResponse message;
  EXPECT_FALSE(unset->Next(message));
  EXPECT_EQ(client::FieldOf(unset->Finish()), "query");
}

void AddNode(v1::WaypointGraph& graph, const std::string& id, double x, double y) {
  v1::WaypointNode& node = *graph.add_nodes();
  node.set_id(id);
  node.mutable_position()->set_x(x);
  node.mutable_position()->set_y(y);
}

v1::EdgeName EdgeBetween(const std::string& from, const std::string& to) {
  v1::EdgeName name;
  name.set_from(from);
  name.set_to(to);
  return name;
}

v1::UpdateObstaclesRequest EnableRequest(const v1::EdgeName& edge, bool enabled) {
  v1::UpdateObstaclesRequest request;
  request.set_map("roads");
  v1::SetEnabled& set = *request.add_edits()->mutable_set_enabled();
  *set.add_edges() = edge;
  set.set_enabled(enabled);
  return request;
}

// a - b - c, a longer way round by d, and an edge that is far away.
TEST(PathWatchTest, TellsOfChangesOfAWaypointGraph) {
  TestServer server;
  v1::CreateMapRequest create;
  create.set_map("roads");
  v1::WaypointGraph& graph = *create.mutable_graph();
  AddNode(graph, "a", 0, 0);
  AddNode(graph, "b", 4, 0);
  AddNode(graph, "c", 8, 0);
  AddNode(graph, "d", 4, 3);
  AddNode(graph, "x", 90, 0);
  AddNode(graph, "y", 94, 0);
  for (const auto& [from, to] : {std::pair("a", "b"), {"b", "c"}, {"a", "d"}, {"d", "c"}, {"x", "y"}}) {
    *graph.add_edges()->mutable_edge() = EdgeBetween(from, to);
  }
  ASSERT_TRUE(server.client().CreateMap(create).ok());
  v1::FindPathRequest query;
  query.set_map("roads");
  query.mutable_start()->set_node("a");
  query.add_goals()->set_node("c");
  WatchOfPath watch(server, query);
  v1::WatchPathResponse message = watch.Next();
  EXPECT_EQ(message.answer().cost(), 8.0);
  EXPECT_THAT(message.answer().nodes(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(message.version().revision(), 1U);

  Update(server, EnableRequest(EdgeBetween("b", "c"), false));
  message = watch.Next();
  EXPECT_EQ(message.answer().cost(), 10.0);
  EXPECT_THAT(message.answer().nodes(), ElementsAre("a", "d", "c"));
  EXPECT_EQ(message.version().revision(), 2U);

  v1::UpdateObstaclesRequest cheaper;
  cheaper.set_map("roads");
  v1::WaypointEdge& edge = *cheaper.add_edits()->mutable_put_edges()->add_edges();
  *edge.mutable_edge() = EdgeBetween("a", "c");
  edge.set_cost(7.0);
  Update(server, cheaper);
  message = watch.Next();
  EXPECT_EQ(message.answer().cost(), 7.0);
  EXPECT_EQ(message.version().revision(), 3U);

  // Of these two nothing is told.
  Update(server, EnableRequest(EdgeBetween("x", "y"), false));
  Update(server, EnableRequest(EdgeBetween("x", "y"), true));
  v1::UpdateObstaclesRequest crate;
  crate.set_map("roads");
  v1::Obstacle& obstacle = *crate.add_edits()->mutable_put_obstacle()->mutable_obstacle();
  obstacle.set_id("crate");
  v1::Disc& disc = *obstacle.mutable_shape()->add_discs();
  disc.mutable_center()->set_x(2);
  disc.set_radius(0.5);
  Update(server, crate);
  message = watch.Next();
  EXPECT_EQ(message.answer().cost(), 10.0);
  EXPECT_EQ(message.version().revision(), 6U);
}

TEST(PathWatchTest, OneTooManyIsRefusedUntilAnotherEnds) {
  TestServer server(runtime::Options{.max_watches = 1});
  server.Create("arena", {"....", "...."});
  const v1::FindPathRequest query = PathRequest("arena", CellAt(0, 0), CellAt(3, 0));
  {
    WatchOfPath first(server, query);
    first.Next();
    EXPECT_EQ(client::ReasonOf(WatchOfPath(server, query).End()), "TOO_MANY_WATCHES");
    first->Cancel();
    EXPECT_EQ(first.End().code(), absl::StatusCode::kCancelled);
  }
  absl::Status status;
  // The server may not have heard of the end of the first yet.
  const auto has_ended = [&] {
    WatchOfPath next(server, query);
    v1::WatchPathResponse message;
    status = next->Next(message) ? absl::OkStatus() : next->Finish();
    return client::ReasonOf(status) != "TOO_MANY_WATCHES";
  };
  EXPECT_TRUE(WaitUntil(has_ended, "the end of the first watch"));
  EXPECT_TRUE(status.ok()) << status;
}

TEST(PathWatchTest, EndsWithTheMap) {
  TestServer server;
  server.Create("arena", {"....", "...."});
  WatchOfPath watch(server, PathRequest("arena", CellAt(0, 0), CellAt(3, 0)));
  watch.Next();
  v1::DeleteMapRequest request;
  request.set_map("arena");
  ASSERT_TRUE(server.client().DeleteMap(request).ok());
  EXPECT_EQ(client::ReasonOf(watch.End()), "MAP_NOT_FOUND");
  // A new map of that id is another one.
  server.Create("arena", {".."});
  WatchOfPath other(server, PathRequest("arena", CellAt(0, 0), CellAt(1, 0)));
  EXPECT_EQ(other.Next().answer().cost(), 1.0);
}

// The new map's revisions are smaller than those that the old one had.
TEST(PathWatchTest, EndsWithTheMapThatItBeganOn) {
  TestServer server;
  server.Create("arena", {"....", "...."});
  for (int i = 0; i < 3; ++i) {
    Update(server, BlockRequest("arena", {CellAt(i, 1)}));
  }
  for (int i = 0; i < 20; ++i) {
    WatchOfPath old(server, PathRequest("arena", CellAt(0, 0), CellAt(3, 0)));
    const v1::Version before = old.Next().version();
    v1::ImportMapHeader import;
    import.set_map("arena");
    import.set_format(v1::MAP_FORMAT_TEXT);
    import.set_replace(true);
    const auto imported = server.client().ImportMap(import, "....\n....\n");
    ASSERT_TRUE(imported.ok()) << imported.status();
    WatchOfPath watch(server, PathRequest("arena", CellAt(0, 0), CellAt(3, 0)));
    const v1::Version after = watch.Next().version();
    EXPECT_EQ(after.revision(), 1U);
    EXPECT_NE(after.epoch(), before.epoch());
    EXPECT_EQ(client::ReasonOf(old.End()), "MAP_NOT_FOUND");
    Update(server, BlockRequest("arena", {CellAt(1, 0)}));
    const v1::WatchPathResponse next = watch.Next();
    EXPECT_EQ(next.version().revision(), 2U);
    EXPECT_EQ(next.version().epoch(), after.epoch());
    Update(server, UnblockRequest("arena", {CellAt(1, 0)}));
  }
}

TEST(PathWatchTest, EndsWhenTheServerStops) {
  TestServer server;
  server.Create("arena", {"....", "...."});
  WatchOfPath watch(server, PathRequest("arena", CellAt(0, 0), CellAt(3, 0)));
  watch.Next();
  server.server().Stop(kPatience, kPatience);
  EXPECT_EQ(client::ReasonOf(watch.End()), "DRAINING");
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
    v1::UpdateObstaclesRequest door = BlockRequest("arena", wall);
    *door.add_edits()->mutable_unblock()->add_cells() = CellAt(12, round * 7 % 12);
    Update(server, door);
  }
  for (int i = 0; i < kWatches; ++i) {
    const auto right =
        server.client().FindPath(PathRequest("arena", CellAt(0, 2 * i), CellAt(23, 11 - 2 * i)));
    ASSERT_TRUE(right.ok()) << right.status();
    // The door of the last revision is the only way through: no other answer goes past it.
    bool is_told = false;
    while (!is_told && !HasFailure()) {
      const v1::WatchPathResponse message = (*watches[static_cast<std::size_t>(i)]).Next();
      bool passes_door = false;
      for (const v1::Cell& point : message.answer().points()) {
        passes_door = passes_door || (point.x() == 12 && point.y() == 59 * 7 % 12);
      }
      is_told = passes_door && message.answer().cost() == right->cost();
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
      EXPECT_TRUE(server.client().UpdateObstacles(BlockRequest("arena", cells)).ok());
      EXPECT_TRUE(server.client().UpdateObstacles(UnblockRequest("arena", cells)).ok());
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
  const auto are_gone = [&] { return server.CountsOf("waystar.v1.PathService/WatchPath").open_calls() == 0; };
  EXPECT_TRUE(WaitUntil(are_gone, "the end of each watch whose client has left"));
}

}  // namespace
}  // namespace waystar
