// What a server says about itself and what it has done, and what may be set while it runs.

#include <numeric>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "tests/service/captured_log.h"
#include "tests/service/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::LogOf;
using ::waystar::testing::PathRequest;
using ::waystar::testing::TestServer;

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
  // The first question is answered, this one not yet.
  const auto itself = server_.CountsOf("waystar.v1.ServerService/GetServerStatistics");
  EXPECT_EQ(itself.requests(), 1);
  EXPECT_EQ(itself.open_calls(), 1);
  server_.Create("m", {"...", "..."});
  for (int x = 0; x < 3; ++x) {
    ASSERT_TRUE(server_.client().FindPath(PathRequest("m", CellAt(0, 0), CellAt(x, 1))).ok());
  }
  ASSERT_FALSE(server_.client().FindPath(PathRequest("m", CellAt(0, 0), CellAt(9, 9))).ok());

  const v1::MethodStatistics paths = server_.CountsOf("waystar.v1.PathService/FindPath");
  EXPECT_EQ(paths.requests(), 4);
  EXPECT_EQ(paths.open_calls(), 0);
  ASSERT_THAT(paths.failures(), SizeIs(1));
  EXPECT_EQ(paths.failures(0).code(), static_cast<int>(absl::StatusCode::kOutOfRange));
  EXPECT_EQ(paths.failures(0).count(), 1);
  const auto& counts = paths.latency_counts();
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0U), 4);
  EXPECT_EQ(server_.CountsOf("waystar.v1.MapService/CreateMap").requests(), 1);
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
  const v1::MethodStatistics streams = server_.CountsOf("waystar.v1.PathService/StreamFindPath");
  EXPECT_EQ(streams.requests(), 3);
  EXPECT_EQ(streams.open_calls(), 1);
  ASSERT_THAT(streams.failures(), SizeIs(1));
  EXPECT_EQ(streams.failures(0).count(), 1);
}

TEST_F(ServerStatisticsTest, CountsTheBatchesOfAStream) {
  server_.Create("m", {"..."});
  const auto stream = server_.client().StreamUpdates();
  ASSERT_TRUE(stream->Send(waystar::testing::BlockRequest("m", {CellAt(1, 0)})));
  ASSERT_TRUE(stream->Send(waystar::testing::BlockRequest("m", {CellAt(9, 0)})));
  v1::StreamUpdatesResponse answer;
  ASSERT_TRUE(stream->Receive(answer));
  ASSERT_TRUE(stream->Receive(answer));
  const v1::MethodStatistics streams = server_.CountsOf("waystar.v1.MapService/StreamUpdates");
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

TEST(ServerInfoTest, TellsWhatTheServerIsAndTakes) {
  const absl::Time before = absl::Now();
  TestServer server({.workers = 3,
                     .max_client_calls = 9,
                     .max_call_memory_mib = 5,
                     .max_connection_memory_mib = 4,
                     .max_maps = 7,
                     .max_maps_memory_mib = 3,
                     .max_map_side = 100,
                     .max_message_bytes = 123'456});
  server.Create("m", {"..."});
  const auto info = server.client().GetServerInfo();
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_THAT(info->version(), HasSubstr("."));
  EXPECT_GE(absl::FromUnixSeconds(info->start_time().seconds()), before - absl::Seconds(2));
  EXPECT_GE(info->uptime().seconds(), 0);
  EXPECT_EQ(info->workers(), 3);
  EXPECT_EQ(info->maps(), 1);
  EXPECT_EQ(info->limits().max_maps(), 7);
  EXPECT_EQ(info->limits().max_map_side(), 100);
  EXPECT_EQ(info->limits().max_maps_memory_bytes(), 3 << 20);
  EXPECT_EQ(info->limits().max_client_calls(), 9);
  EXPECT_EQ(info->limits().max_call_memory_bytes(), 5 << 20);
  EXPECT_EQ(info->limits().max_connection_memory_bytes(), 4 << 20);
  EXPECT_EQ(info->limits().max_message_bytes(), 123'456);
  EXPECT_EQ(info->limits().max_queries(), 10'000);
  EXPECT_EQ(info->limits().transfer_timeout().seconds(), 60);
  EXPECT_EQ(info->limits().transfer_stall_timeout().seconds(), 10);
  EXPECT_EQ(info->limits().request_id_retention().seconds(), 600);
  EXPECT_EQ(info->limits().max_request_ids_bytes(), 64 << 20);
  EXPECT_THAT(info->algorithms(), Contains(v1::ALGORITHM_ASTAR));
  EXPECT_THAT(info->algorithms(), Not(Contains(v1::ALGORITHM_AUTO)));
  EXPECT_EQ(info->log_level(), v1::LOG_LEVEL_INFO);
}

TEST(LogLevelTest, IsSetWhileTheServerRuns) {
  TestServer server;
  const auto log_of_a_map = [&server](const std::string& id) {
    return LogOf([&] { server.Create(id, {"."}); });
  };
  EXPECT_THAT(log_of_a_map("a"), HasSubstr("event=map_created map=a"));
  v1::SetLogLevelRequest request;
  request.set_level(v1::LOG_LEVEL_WARNING);
  auto set = server.client().SetLogLevel(request);
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->previous(), v1::LOG_LEVEL_INFO);
  EXPECT_EQ(log_of_a_map("b"), "");
  EXPECT_EQ(server.client().GetServerInfo()->log_level(), v1::LOG_LEVEL_WARNING);

  request.set_level(v1::LOG_LEVEL_INFO);
  set = server.client().SetLogLevel(request);
  ASSERT_TRUE(set.ok());
  EXPECT_EQ(set->previous(), v1::LOG_LEVEL_WARNING);
  EXPECT_THAT(log_of_a_map("c"), HasSubstr("event=map_created map=c"));
}

TEST(LogLevelTest, RefusesWhatIsNoLevel) {
  TestServer server;
  EXPECT_THAT(server.client().SetLogLevel({}), IsRefused(kInvalid, "MISSING_FIELD", "level"));
  v1::SetLogLevelRequest request;
  request.set_level(static_cast<v1::LogLevel>(9));
  EXPECT_THAT(server.client().SetLogLevel(request), IsRefused(kInvalid, "UNKNOWN_ENUM_VALUE", "level"));
}

}  // namespace
}  // namespace waystar
