// Connections of those who speak no gRPC, or not enough of it, beside a client who does.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "tests/service/bounded_context.h"
#include "tests/service/test_server.h"
#include "tests/service/transport/net/tcp_client.h"
#include "tests/testing/patience.h"
#include "waystar/v1/path_service.grpc.pb.h"

namespace waystar {
namespace {

using ::waystar::testing::BoundedContext;
using ::waystar::testing::CellAt;
using ::waystar::testing::kPatience;
using ::waystar::testing::PathRequest;
using ::waystar::testing::TcpClient;
using ::waystar::testing::TestServer;
using ::waystar::testing::WaitUntil;

constexpr absl::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

bool Serves(TestServer& server) {
  return server.client().FindPath(PathRequest("m", CellAt(0, 0), CellAt(1, 0))).ok();
}

// Whether the server serves a client who was not connected yet.
bool ServesNewcomer(TestServer& server) {
  BoundedContext context;
  v1::FindPathResponse response;
  return v1::PathService::NewStub(server.NewChannel())
      ->FindPath(&context, PathRequest("m", CellAt(0, 0), CellAt(1, 0)), &response)
      .ok();
}

std::vector<std::unique_ptr<TcpClient>> Connect(TestServer& server, int count) {
  std::vector<std::unique_ptr<TcpClient>> clients;
  for (int i = 0; i < count; ++i) {
    clients.push_back(std::make_unique<TcpClient>(server.server().port()));
  }
  return clients;
}

TEST(StrangersTest, ThoseBeyondTheLimitAreClosedAndTheOthersMakeRoomWhenTheyLeave) {
  // No stranger is to be cut for its silence while the others are counted.
  TestServer server(
      {.connections = {
           .max_connections = 30, .max_address_connections = 20, .handshake_timeout = kPatience}});
  server.Create("m", {".."});
  auto strangers = Connect(server, 50);
  const auto open = [&] {
    return std::count_if(strangers.begin(), strangers.end(), [](const auto& each) { return each->IsOpen(); });
  };
  EXPECT_TRUE(WaitUntil([&] { return open() == 19; }, "the end of connections beyond the limit"));
  EXPECT_TRUE(Serves(server));
  EXPECT_FALSE(ServesNewcomer(server));
  EXPECT_EQ(open(), 19);
  const auto statistics = server.client().GetServerStatistics({});
  ASSERT_TRUE(statistics.ok());
  EXPECT_EQ(statistics->connections(), 20);
  strangers.clear();
  EXPECT_TRUE(WaitUntil([&] { return ServesNewcomer(server); }, "a place for a newcomer"));
}

TEST(StrangersTest, ThoseWhoDoNotSayWhatTheySpeakAreCut) {
  TestServer server({.connections = {.handshake_timeout = absl::Milliseconds(200)}});
  v1::CreateMapRequest create;
  create.set_map("m");
  create.add_rows("..");
  // A slow client may be cut as well before it is connected, and tries again.
  EXPECT_TRUE(WaitUntil([&] { return !absl::IsUnavailable(server.client().CreateMap(create).status()); },
                        "a client that is connected in time"));
  for (const absl::string_view sent : {absl::string_view(), kPreface.substr(0, 10), kPreface}) {
    TcpClient stranger(server.server().port());
    stranger.Send(sent);
    stranger.ReadToTheEnd();
    EXPECT_FALSE(stranger.IsOpen());
  }
  EXPECT_TRUE(Serves(server));
}

}  // namespace
}  // namespace waystar
