// What a server tells of itself, and what may be set while it runs.

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
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::LogOf;
using ::waystar::testing::TestServer;

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
