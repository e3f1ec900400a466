// What happens to connections, over real sockets, also of strangers who speak no gRPC or not enough of it.

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "grpcpp/client_context.h"
#include "tests/service/bounded_context.h"
#include "tests/service/test_server.h"
#include "tests/service/transport/net/tcp_client.h"
#include "tests/testing/patience.h"
#include "waystar/v1/map_service.grpc.pb.h"
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

// Creates the map "m" on a server that ends connections early: calls that meet such an end are made again.
void CreateInTime(TestServer& server) {
  v1::CreateMapRequest create;
  create.set_map("m");
  create.add_rows("..");
  EXPECT_TRUE(WaitUntil([&] { return !absl::IsUnavailable(server.client().CreateMap(create).status()); },
                        "a call that meets no end of a connection"));
}

v1::FindPathRequest Query() { return PathRequest("m", CellAt(0, 0), CellAt(1, 0)); }

bool Serves(TestServer& server) { return server.client().FindPath(Query()).ok(); }

std::unique_ptr<grpc::ClientReader<v1::WatchMapResponse>> Watch(v1::MapService::Stub& stub,
                                                                grpc::ClientContext& context) {
  v1::WatchMapRequest request;
  request.set_map("m");
  return stub.WatchMap(&context, request);
}

// The watches would never end by themselves.
TEST(ConnectionsTest, EndAtTheirAgeAndGrace) {
  TestServer server(
      {.connections = {.max_age = absl::Milliseconds(300), .max_age_grace = absl::Milliseconds(300)}});
  CreateInTime(server);
  const auto stub = v1::MapService::NewStub(server.NewChannel());
  const auto is_told_and_ended = [&] {
    bool has_begun = false;
    BoundedContext context;
    const auto watch = Watch(*stub, context);
    v1::WatchMapResponse event;
    while (watch->Read(&event)) {
      has_begun = true;
    }
    EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
    return has_begun;
  };
  EXPECT_TRUE(WaitUntil(is_told_and_ended, "a watch that begins before its connection ends"));
}

TEST(ConnectionsTest, TakeOnlySoManyCallsAtATime) {
  TestServer server({.connections = {.max_concurrent_streams = 1}});
  server.Create("m", {".."});
  const auto channel = server.NewChannel();
  const auto maps = v1::MapService::NewStub(channel);
  const auto paths = v1::PathService::NewStub(channel);
  BoundedContext watching;
  const auto watch = Watch(*maps, watching);
  v1::WatchMapResponse event;
  ASSERT_TRUE(watch->Read(&event));

  // Waits at the client for as long as the watch is open.
  v1::FindPathResponse response;
  grpc::ClientContext waiting;
  waiting.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(50));
  EXPECT_EQ(paths->FindPath(&waiting, Query(), &response).error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  watching.TryCancel();
  EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::CANCELLED);
  BoundedContext free;
  EXPECT_TRUE(paths->FindPath(&free, Query(), &response).ok());
  // Others have connections of their own.
  EXPECT_TRUE(Serves(server));
}

TEST(ConnectionsTest, ServeWithinALimitOfMemory) {
  TestServer server({.connections = {.memory_mib = 64}});
  server.Create("m", {".."});
  EXPECT_TRUE(Serves(server));
}

constexpr absl::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// Returns true if the server serves a client who was not connected yet.
bool ServesNewcomer(TestServer& server) {
  BoundedContext context;
  v1::FindPathResponse response;
  return v1::PathService::NewStub(server.NewChannel())->FindPath(&context, Query(), &response).ok();
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
  EXPECT_EQ(client::SumOf(server.Metrics(), "waystar_connections"), 20);
  strangers.clear();
  EXPECT_TRUE(WaitUntil([&] { return ServesNewcomer(server); }, "a place for a newcomer"));
}

TEST(StrangersTest, ThoseWhoDoNotSayWhatTheySpeakAreCut) {
  TestServer server({.connections = {.handshake_timeout = absl::Milliseconds(200)}});
  CreateInTime(server);
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
