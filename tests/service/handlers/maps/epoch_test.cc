// Epochs and request_times on the wire. That a server started anew is another one is tested by two servers
// that have the same map.

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "grpcpp/support/status.h"
#include "tests/service/bounded_context.h"
#include "tests/service/handlers/watch/watches.h"
#include "tests/service/test_server.h"

namespace waystar {
namespace {

using ::waystar::testing::BlockRequest;
using ::waystar::testing::BoundedContext;
using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::LocationAt;
using ::waystar::testing::PathRequest;
using ::waystar::testing::TestServer;
using ::waystar::testing::WatchFrom;
using ::waystar::testing::WatchOfMap;

std::uint64_t EpochOf(TestServer& server) { return VersionOf(server, "room").epoch(); }

template <typename Request>
Request About(const std::string& map) {
  Request request;
  request.set_map(map);
  return request;
}

class EpochTest : public ::testing::Test {
 protected:
  EpochTest() {
    before_.Create("room", {"....", "...."});
    epoch_ = EpochOf(before_);
    EXPECT_NE(epoch_, 0U);
  }

  TestServer before_;
  std::uint64_t epoch_ = 0;
};

TEST_F(EpochTest, AnswersTellIt) {
  client::Client& client = before_.client();
  const v1::FindPathRequest query = PathRequest("room", CellAt(0, 0), CellAt(3, 1));
  EXPECT_EQ(client.FindPath(query)->version().epoch(), epoch_);

  auto queries = About<v1::FindPathsRequest>("room");
  *queries.add_queries() = query;
  const auto found = client.FindPaths(queries);
  EXPECT_EQ(found->version().epoch(), epoch_);
  EXPECT_EQ(found->results(0).answer().version().epoch(), epoch_);

  auto reach = About<v1::FindReachableRequest>("room");
  *reach.mutable_start() = LocationAt(0, 0);
  reach.set_max_cost(2);
  const auto reached = client.FindReachable(reach);
  ASSERT_TRUE(reached.ok()) << reached.status();
  EXPECT_EQ(reached->version().epoch(), epoch_);

  EXPECT_EQ(client.ListObstacles(About<v1::ListObstaclesRequest>("room"))->version().epoch(), epoch_);
  EXPECT_EQ(client.ListPortals(About<v1::ListPortalsRequest>("room"))->version().epoch(), epoch_);
  EXPECT_EQ(client.RenderMap(About<v1::RenderMapRequest>("room"))->version().epoch(), epoch_);
  EXPECT_EQ(client.GetServerStatistics()->maps(0).version().epoch(), epoch_);

  v1::WatchPathRequest watched;
  *watched.mutable_query() = query;
  v1::WatchPathResponse answer;
  ASSERT_TRUE(client.WatchPath(watched)->Next(answer));
  EXPECT_EQ(answer.version().epoch(), epoch_);
  EXPECT_EQ(answer.answer().version().epoch(), epoch_);

  EXPECT_EQ(client.UpdateObstacles(BlockRequest("room", {CellAt(1, 1)}))->version().epoch(), epoch_);
  EXPECT_EQ(client.DeleteMap(About<v1::DeleteMapRequest>("room"))->version().epoch(), epoch_);
}

TEST_F(EpochTest, WatchesDoNotGoOnInAnotherHistory) {
  TestServer after;
  after.Create("room", {"....", "...."});
  for (TestServer* server : {&before_, &after}) {
    for (int i = 0; i < 8; ++i) {
      ASSERT_TRUE(server->client().UpdateObstacles(BlockRequest("room", {CellAt(1, 1)})).ok());
    }
  }
  v1::WatchMapRequest request = WatchFrom(before_, "room", 7);
  WatchOfMap same(before_, request);
  const v1::WatchMapResponse watching = same.NextEvent();
  EXPECT_EQ(watching.watching().version().revision(), 9U);
  EXPECT_EQ(watching.watching().version().epoch(), epoch_);
  const v1::WatchMapResponse revision = same.NextEvent();
  EXPECT_EQ(revision.commit().version().revision(), 7U);
  EXPECT_EQ(revision.commit().version().epoch(), epoch_);

  WatchOfMap other(after, request);
  const v1::WatchMapResponse resynchronize = other.NextEvent();
  EXPECT_EQ(resynchronize.resynchronize().version().revision(), 9U);
  EXPECT_EQ(resynchronize.resynchronize().version().epoch(), EpochOf(after));
  ASSERT_TRUE(after.client().UpdateObstacles(BlockRequest("room", {CellAt(1, 1)})).ok());
  EXPECT_EQ(other.Next(), "revision 10");

  // A revision that this map has not reached.
  request.mutable_after()->set_revision(100);
  EXPECT_EQ(WatchOfMap(after, request).Next(), "resynchronize 10");

  // A map that was created again on the same server.
  before_.client().DeleteMap(About<v1::DeleteMapRequest>("room")).IgnoreError();
  before_.Create("room", {"....", "...."});
  EXPECT_NE(EpochOf(before_), epoch_);
  EXPECT_EQ(WatchOfMap(before_, request).Next(), "resynchronize 1");
}

TEST(RequestTimeTest, LateRetriesAreRefused) {
  TestServer server({.max_request_ids_mib = 1});
  server.Create("room", {"....", "...."});
  v1::UpdateObstaclesRequest request = BlockRequest("room", {CellAt(1, 1)});
  request.set_request_id("first");
  request.mutable_request_time()->set_seconds(absl::ToUnixSeconds(absl::Now()) - 1);
  ASSERT_TRUE(server.client().UpdateObstacles(request).ok());
  EXPECT_TRUE(server.client().UpdateObstacles(request)->already_applied());
  // More than a MiB of ids. The client sets their times.
  const auto stream = server.client().StreamObstacleUpdates();
  v1::UpdateObstaclesRequest other = BlockRequest("room", {CellAt(2, 1)});
  v1::StreamObstacleUpdatesResponse answer;
  for (int i = 0; i < 5000; ++i) {
    other.set_request_id(absl::StrCat(std::string(100, 'x'), i));
    ASSERT_TRUE(stream->Send(other));
    ASSERT_TRUE(stream->Receive(answer) && answer.has_applied()) << answer.DebugString();
  }
  EXPECT_THAT(server.client().UpdateObstacles(request),
              IsRefused(absl::StatusCode::kFailedPrecondition, "REQUEST_ID_EXPIRED", "request_time"));
  // Of a client that gives no times.
  request.clear_request_time();
  const auto stub = v1::MapService::NewStub(server.NewChannel());
  BoundedContext context;
  v1::UpdateObstaclesResponse response;
  EXPECT_EQ(stub->UpdateObstacles(&context, request, &response).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
}

}  // namespace
}  // namespace waystar
