// What a server tells of what it has done.

#include <numeric>
#include <string>

#include "gmock/gmock.h"
#include "tests/service/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::testing::SizeIs;
using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::PathRequest;
using ::waystar::testing::TestServer;

// Empty if there is none.
v1::MethodStatistics Of(const std::string& method, const v1::GetServerStatisticsResponse& statistics) {
  for (const v1::MethodStatistics& row : statistics.methods()) {
    if (row.method() == method) {
      return row;
    }
  }
  return {};
}

class ServerStatisticsTest : public ::testing::Test {
 protected:
  v1::GetServerStatisticsResponse Ask(int max_maps = 0) {
    v1::GetServerStatisticsRequest request;
    request.set_max_maps(max_maps);
    auto response = server_.client().GetServerStatistics(request);
    EXPECT_TRUE(response.ok()) << response.status();
    return *std::move(response);
  }

  TestServer server_;
};

TEST_F(ServerStatisticsTest, CountsRequestsAndTheirFailures) {
  Ask();
  server_.Create("m", {"...", "..."});
  for (int x = 0; x < 3; ++x) {
    ASSERT_TRUE(server_.client().FindPath(PathRequest("m", CellAt(0, 0), CellAt(x, 1))).ok());
  }
  ASSERT_FALSE(server_.client().FindPath(PathRequest("m", CellAt(0, 0), CellAt(9, 9))).ok());

  const v1::GetServerStatisticsResponse statistics = Ask();
  const v1::MethodStatistics paths = Of("waystar.v1.PathService/FindPath", statistics);
  EXPECT_EQ(paths.requests(), 4);
  EXPECT_EQ(paths.open_calls(), 0);
  ASSERT_THAT(paths.failures(), SizeIs(1));
  EXPECT_EQ(paths.failures(0).code(), static_cast<int>(absl::StatusCode::kOutOfRange));
  EXPECT_EQ(paths.failures(0).count(), 1);
  const auto& counts = paths.latency_counts();
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0U), 4);
  EXPECT_EQ(Of("waystar.v1.MapService/CreateMap", statistics).requests(), 1);
  // The first question is answered, this one not yet.
  const auto itself = Of("waystar.v1.ServerService/GetServerStatistics", statistics);
  EXPECT_EQ(itself.requests(), 1);
  EXPECT_EQ(itself.open_calls(), 1);
}

TEST_F(ServerStatisticsTest, CountsTheQueriesOfAStream) {
  server_.Create("m", {"..."});
  const auto stream = server_.client().StreamFindPath();
  v1::StreamFindPathRequest request;
  for (const int x : {1, 2, 9}) {
    v1::StreamedQuery& query = *request.add_queries();
    *query.mutable_query() = PathRequest("m", CellAt(0, 0), CellAt(x, 0));
  }
  ASSERT_TRUE(stream->Send(request));
  v1::StreamFindPathResponse answers;
  for (int answered = 0; answered < 3; answered += answers.answers_size()) {
    ASSERT_TRUE(stream->Receive(answers));
  }
  const v1::MethodStatistics streams = Of("waystar.v1.PathService/StreamFindPath", Ask());
  EXPECT_EQ(streams.requests(), 3);
  EXPECT_EQ(streams.open_calls(), 1);
  ASSERT_THAT(streams.failures(), SizeIs(1));
  EXPECT_EQ(streams.failures(0).count(), 1);
}

TEST_F(ServerStatisticsTest, CountsTheBatchesOfAStream) {
  server_.Create("m", {"..."});
  const auto stream = server_.client().StreamObstacleUpdates();
  ASSERT_TRUE(stream->Send(waystar::testing::BlockRequest("m", {CellAt(1, 0)})));
  ASSERT_TRUE(stream->Send(waystar::testing::BlockRequest("m", {CellAt(9, 0)})));
  v1::StreamObstacleUpdatesResponse answer;
  ASSERT_TRUE(stream->Receive(answer));
  ASSERT_TRUE(stream->Receive(answer));
  const v1::MethodStatistics streams = Of("waystar.v1.MapService/StreamObstacleUpdates", Ask());
  EXPECT_EQ(streams.requests(), 2);
  EXPECT_THAT(streams.failures(), SizeIs(1));
}

TEST_F(ServerStatisticsTest, TellsOfTheLargestMapsFirst) {
  server_.Create("small", {"."});
  server_.Create("large", std::vector<std::string>(400, std::string(400, '.')));
  const v1::GetServerStatisticsResponse all = Ask();
  ASSERT_THAT(all.maps(), SizeIs(2));
  EXPECT_EQ(all.maps(0).map(), "large");
  EXPECT_EQ(all.maps(0).bytes() + all.maps(1).bytes(), all.map_bytes());
  EXPECT_EQ(all.maps(1).map(), "small");
  EXPECT_GT(all.maps(1).version().revision(), 0);
  const v1::GetServerStatisticsResponse one = Ask(1);
  EXPECT_THAT(one.maps(), SizeIs(1));
  EXPECT_EQ(one.map_count(), 2);
  EXPECT_EQ(one.map_bytes(), all.map_bytes());
}

TEST_F(ServerStatisticsTest, TellsOfItsWorkersAndItsProcess) {
  const v1::GetServerStatisticsResponse statistics = Ask();
  ASSERT_THAT(statistics.lanes(), SizeIs(4));
  EXPECT_EQ(statistics.lanes(0).lane(), "small");
  EXPECT_EQ(statistics.lanes(1).lane(), "large");
  EXPECT_EQ(statistics.lanes(2).lane(), "updates");
  EXPECT_EQ(statistics.lanes(3).lane(), "imports");
  EXPECT_GE(statistics.lanes(3).workers(), 2);
  EXPECT_GT(statistics.lanes(0).workers(), 0);
  EXPECT_GT(statistics.process().resident_bytes(), 1 << 20);
  EXPECT_GT(statistics.process().threads(), 2);
  EXPECT_GE(statistics.connections(), 1);
  EXPECT_TRUE(statistics.has_uptime());
}

TEST_F(ServerStatisticsTest, RefusesNumbersOfMapsBelowNought) {
  v1::GetServerStatisticsRequest request;
  request.set_max_maps(-1);
  EXPECT_THAT(server_.client().GetServerStatistics(request), IsRefused(kInvalid, "BAD_VALUE", "max_maps"));
}

}  // namespace
}  // namespace waystar
