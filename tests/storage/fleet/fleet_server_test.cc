// Whole servers in a fleet.

#include <future>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/batch.h"
#include "gmock/gmock.h"
#include "server/runtime/options.h"
#include "server/storage/etcd/etcd_client.h"
#include "tests/service/about_map.h"
#include "tests/service/handlers/watch/watches.h"
#include "tests/service/test_server.h"
#include "tests/storage/etcd/etcd_process.h"
#include "tests/testing/patience.h"
#include "waystar/v1/path_service.grpc.pb.h"

namespace waystar {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

class FleetServerTest : public waystar::OneMemberTest {
 protected:
  runtime::Options FleetOptions() const {
    runtime::Options options;
    options.cluster = absl::StrCat("etcd://", etcd::TextOf(etcd_->Options().endpoints.front()), "/games");
    return options;
  }
};

TEST_F(FleetServerTest, AQuestionWaitsForWhatAnotherServerHasAcknowledged) {
  TestServer a(FleetOptions());
  TestServer b(FleetOptions());
  a.Create("arena", {"...", "..."});
  v1::FindPathRequest query = PathRequest("arena", CellAt(0, 0), CellAt(2, 0));
  for (int i = 0; i < 20; ++i) {
    TestServer& writer = i % 2 == 0 ? a : b;
    TestServer& reader = i % 2 == 0 ? b : a;
    v1::UpdateMapRequest update = BlockRequest("arena", {CellAt(1, 0)});
    update.set_request_id(absl::StrCat("update-", i));
    const auto updated = writer.client().UpdateMap(update).value();
    *query.mutable_view()->mutable_least_version() = updated.version();
    const v1::FindPathResponse found = reader.Find(query);
    EXPECT_GE(found.info().version().revision(), updated.version().revision());
    EXPECT_EQ(found.info().version().epoch(), updated.version().epoch());
    // A retry at another server is the same batch.
    const auto again = reader.client().UpdateMap(update).value();
    EXPECT_TRUE(again.already_applied());
    EXPECT_EQ(again.version().revision(), updated.version().revision());
  }
  EXPECT_EQ(VersionOf(a, "arena").revision(), 21U);
  const v1::GetMetricsResponse metrics = a.Metrics();
  EXPECT_TRUE(client::MetricsOf(metrics, "waystar_storage_refuses").empty());
  EXPECT_EQ(client::SumOf(metrics, "waystar_fleet_landed_total"), 11);
  EXPECT_EQ(client::SumOf(metrics, "waystar_fleet_followed_total"), 10);
  EXPECT_EQ(metrics.conditions_size(), 0);
}

TEST_F(FleetServerTest, ACreationIsMadeOnceAtWhicheverServersItArrives) {
  TestServer a(FleetOptions());
  TestServer b(FleetOptions());
  v1::CreateMapRequest request;
  request.add_rows("...");
  for (int i = 0; i < 10; ++i) {
    request.set_map(absl::StrCat("arena-", i));
    request.set_request_id(absl::StrCat("creation-", i));
    const bool is_at_once = i % 2 == 1;
    auto from_a = std::async(std::launch::async, [&] { return a.client().CreateMap(request); });
    if (!is_at_once) {
      from_a.wait();
    }
    const auto from_b = b.client().CreateMap(request);
    const auto created = from_a.get().value();
    ASSERT_TRUE(from_b.ok()) << from_b.status();
    EXPECT_NE(created.already_created(), from_b->already_created());
    EXPECT_TRUE(is_at_once || from_b->already_created());
    EXPECT_EQ(created.info().version().epoch(), from_b->info().version().epoch());
  }
  // Another request has no part in the map.
  request.set_map("lobby");
  ASSERT_TRUE(a.client().CreateMap(request).ok());
  request.set_request_id("another");
  EXPECT_THAT(b.client().CreateMap(request),
              IsRefused(absl::StatusCode::kAlreadyExists, "MAP_EXISTS", "map"));
}

TEST_F(FleetServerTest, AWatchGoesOnAtAnotherServer) {
  TestServer other(FleetOptions());
  const auto change = [&](int x) {
    const auto changed = other.client().UpdateMap(BlockRequest("arena", {CellAt(x, 0)}));
    EXPECT_TRUE(changed.ok()) << changed.status();
  };
  v1::Version last;
  {
    TestServer first(FleetOptions());
    other.Create("arena", {".....", "....."});
    auto latest = About<v1::GetMapRequest>("arena");
    latest.set_latest_of_cluster(true);
    ASSERT_TRUE(first.client().GetMap(latest).ok());
    WatchOfMap watch(first, WatchRequest("arena"));
    EXPECT_EQ(watch.Next(), "watching 1");
    change(0);
    last = watch.NextEvent().commit().version();
    EXPECT_EQ(last.revision(), 2U);
  }
  change(1);
  change(2);
  // It has read what was committed before it came.
  TestServer third(FleetOptions());
  ASSERT_TRUE(third.client().UpdateMap(BlockRequest("arena", {CellAt(3, 0)})).ok());
  v1::WatchMapRequest request = WatchRequest("arena");
  *request.mutable_after() = last;
  for (const TestServer* const server : {&other, &third}) {
    WatchOfMap resumed(*server, request);
    EXPECT_THAT(resumed.Next(), StartsWith("watching"));
    EXPECT_EQ(resumed.Next(), "revision 3");
    EXPECT_EQ(resumed.Next(), "revision 4");
    EXPECT_EQ(resumed.Next(), "revision 5");
  }
}

TEST_F(FleetServerTest, AWatchWaitsForTheVersionThatItsClientKnows) {
  TestServer a(FleetOptions());
  TestServer b(FleetOptions());
  for (int i = 0; i < 10; ++i) {
    const std::string map = absl::StrCat("arena-", i / 2);
    if (i % 2 == 0) {
      a.Create(map, {"...", "..."});
    }
    v1::WatchMapRequest request = WatchRequest(map);
    *request.mutable_after() = VersionOf(a, map);
    {
      WatchOfMap created(b, request);
      EXPECT_EQ(created.Next(), absl::StrCat("watching ", request.after().revision()));
    }
    const auto updated = a.client().UpdateMap(BlockRequest(map, {CellAt(1, 0)})).value();
    *request.mutable_after() = updated.version();
    WatchOfMap later(b, request);
    EXPECT_EQ(later.Next(), absl::StrCat("watching ", updated.version().revision()));
  }
  // A map and a revision that no server has are refused.
  v1::WatchMapRequest request = WatchRequest("arena-0");
  *request.mutable_after() = VersionOf(a, "arena-0");
  request.mutable_after()->set_revision(100);
  v1::WatchMapResponse none;
  WatchOfMap future(b, request);
  EXPECT_FALSE(future->Next(none));
  EXPECT_EQ(client::ReasonOf(future->Finish()), "FUTURE_REVISION");
  request.set_map("attic");
  WatchOfMap missing(b, request);
  EXPECT_FALSE(missing->Next(none));
  EXPECT_EQ(client::ReasonOf(missing->Finish()), "MAP_NOT_FOUND");
}

TEST_F(FleetServerTest, AnswersTellHowOldTheyMayBeOnceEtcdIsSilent) {
  TestServer server(FleetOptions());
  server.Create("arena", {"...", "..."});
  const v1::FindPathRequest query = PathRequest("arena", CellAt(0, 0), CellAt(2, 0));
  auto batch = About<v1::FindPathsRequest>("arena");
  client::AddEnds(query, batch);
  auto ray = About<v1::CastRayRequest>("arena");
  *ray.mutable_from()->mutable_cell() = CellAt(0, 0);
  *ray.mutable_to()->mutable_cell() = CellAt(2, 0);
  auto get = About<v1::GetMapRequest>("arena");
  EXPECT_FALSE(server.Find(query).info().has_staleness());
  etcd_->Freeze(0);
  WaitUntil([&] { return server.Find(query).info().has_staleness(); },
            "an answer that tells how old it may be");
  const v1::FindPathResponse found = server.Find(query);
  EXPECT_GE(found.info().staleness().seconds(), 3);
  EXPECT_EQ(found.path().points_size(), 3);
  EXPECT_EQ(found.info().version().revision(), 1U);
  const auto answers = server.client().FindPaths(batch).value();
  EXPECT_GE(answers.info().staleness().seconds(), 3);
  EXPECT_FALSE(answers.results(0).answer().info().has_staleness());
  const auto seen = server.client().CastRay(ray).value();
  EXPECT_GE(seen.info().staleness().seconds(), 3);
  const auto info = server.client().GetMap(get).value();
  EXPECT_GE(info.staleness().seconds(), 3);
  v1::StreamCheckMovesRequest moves;
  *moves.mutable_moves() = Parsed<v1::CheckMovesRequest>(
      "map: 'arena' speed: 1 moves { from { cell {} } to { cell { x: 2 } } elapsed { seconds: 2 } }");
  BoundedContext context;
  const auto stub = v1::PathService::NewStub(server.NewChannel());
  const auto stream = stub->StreamCheckMoves(&context);
  v1::StreamCheckMovesResponse judged;
  ASSERT_TRUE(stream->Write(moves) && stream->Read(&judged));
  EXPECT_GE(judged.answer().info().staleness().seconds(), 3);
  // A map that comes with its query is as new as that.
  v1::FindPathRequest own = query;
  own.clear_map();
  own.mutable_inline_map()->add_rows("...");
  EXPECT_FALSE(server.Find(own).info().has_staleness());
  etcd_->Thaw(0);
  WaitUntil([&] { return !server.Find(query).info().has_staleness(); }, "an answer that is new again");
}

TEST_F(FleetServerTest, AMapIsTheLatestOfTheFleetIfThatIsAskedFor) {
  TestServer a(FleetOptions());
  TestServer b(FleetOptions());
  auto latest = About<v1::GetMapRequest>("arena");
  latest.set_latest_of_cluster(true);
  EXPECT_THAT(b.client().GetMap(latest), IsRefused(absl::StatusCode::kNotFound, "MAP_NOT_FOUND", "map"));
  auto removal = About<v1::DeleteMapRequest>("arena");
  for (int i = 0; i < 5; ++i) {
    // Another map of the same name each time.
    a.Create("arena", {"...", "..."});
    const auto created = b.client().GetMap(latest).value();
    EXPECT_EQ(created.info().version().epoch(), VersionOf(a, "arena").epoch());
    for (int update = 0; update < 5; ++update) {
      const auto updated = a.client().UpdateMap(BlockRequest("arena", {CellAt(1, 0)}));
      ASSERT_TRUE(updated.ok()) << updated.status();
      for (TestServer* const server : {&a, &b}) {
        const auto got = server->client().GetMap(latest);
        ASSERT_TRUE(got.ok()) << got.status();
        EXPECT_EQ(got->info().version().epoch(), updated->version().epoch());
        EXPECT_EQ(got->info().version().revision(), updated->version().revision());
      }
    }
    ASSERT_TRUE(a.client().DeleteMap(removal).ok());
    EXPECT_THAT(b.client().GetMap(latest), IsRefused(absl::StatusCode::kNotFound, "MAP_NOT_FOUND", "map"));
  }
  latest.set_map("No Such Name");
  EXPECT_THAT(b.client().GetMap(latest), IsRefused(absl::StatusCode::kInvalidArgument, "BAD_MAP_ID", "map"));
}

TEST_F(FleetServerTest, WhatTheFleetKnowsCannotBeAskedForWithoutEtcd) {
  TestServer server(FleetOptions());
  server.Create("arena", {"...", "..."});
  auto get = About<v1::GetMapRequest>("arena");
  etcd_->Kill(0);
  EXPECT_TRUE(server.client().GetMap(get).ok());
  get.set_latest_of_cluster(true);
  EXPECT_THAT(server.client().GetMap(get), IsRefused(absl::StatusCode::kUnavailable, "STORAGE_FAILED", ""));
  EXPECT_THAT(server.client().ListServers(), IsRefused(absl::StatusCode::kUnavailable, "STORAGE_FAILED", ""));
  etcd_->Restart(0);
  WaitUntil([&] { return server.client().GetMap(get).ok(); }, "the fleet");
}

TEST_F(FleetServerTest, EachServerListsAllThatAreThere) {
  runtime::Options of_a = FleetOptions();
  of_a.advertise = "game-1:7450";
  TestServer a(of_a);
  const auto addresses = [&] {
    std::vector<std::string> listed;
    const auto list = a.client().ListServers();
    EXPECT_TRUE(list.ok()) << list.status();
    for (const v1::ServerPresence& server : list->servers()) {
      listed.push_back(server.address());
    }
    return listed;
  };
  EXPECT_THAT(addresses(), ElementsAre("game-1:7450"));
  a.Create("arena", {"..."});
  {
    TestServer b(FleetOptions());
    WaitUntil(
        [&] {
          return addresses() == std::vector<std::string>{b.target(), "game-1:7450"};
        },
        "a second server");
    const auto list = a.client().ListServers().value();
    EXPECT_TRUE(list.is_fleet());
    ASSERT_EQ(list.servers_size(), 2);
    const v1::ServerPresence& other = list.servers(0);
    const v1::ServerPresence& own = list.servers(1);
    EXPECT_FALSE(other.is_this());
    EXPECT_TRUE(own.is_this());
    EXPECT_EQ(other.maps(), 1);
    EXPECT_EQ(own.maps(), 1);
    const auto info = b.client().GetServerInfo().value();
    EXPECT_EQ(other.version(), info.version());
    EXPECT_EQ(other.start_time().seconds(), info.start_time().seconds());
    EXPECT_GT(other.etcd_revision(), 0);
    EXPECT_TRUE(other.has_staleness());
    EXPECT_GE(other.report_time().seconds(), other.start_time().seconds());
    EXPECT_TRUE(b.End().ok());
  }
  EXPECT_THAT(addresses(), ElementsAre("game-1:7450"));
}

TEST_F(FleetServerTest, AServerIsListedAgainAfterItsEntryIsLost) {
  TestServer a(FleetOptions());
  TestServer b(FleetOptions());
  const auto listed = [&] {
    const auto list = a.client().ListServers();
    return list.ok() ? list->servers_size() : 0;
  };
  WaitUntil([&] { return listed() == 2; }, "both servers");
  etcd_->Control("del --prefix /games/servers/");
  EXPECT_EQ(listed(), 1);
  WaitUntil([&] { return listed() == 2; }, "both servers again");
}

TEST(ServerAloneTest, ListsItselfAndHasTheLatestMaps) {
  TestServer server;
  server.Create("arena", {"..."});
  auto get = About<v1::GetMapRequest>("arena");
  get.set_latest_of_cluster(true);
  const auto got = server.client().GetMap(get).value();
  EXPECT_EQ(got.info().version().revision(), 1U);
  EXPECT_FALSE(got.has_staleness());
  const auto list = server.client().ListServers().value();
  EXPECT_FALSE(list.is_fleet());
  ASSERT_EQ(list.servers_size(), 1);
  EXPECT_EQ(list.servers(0).address(), server.target());
  EXPECT_TRUE(list.servers(0).is_this());
  EXPECT_EQ(list.servers(0).maps(), 1);
  EXPECT_FALSE(list.servers(0).has_staleness());
}

}  // namespace
}  // namespace waystar
