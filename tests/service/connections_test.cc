// What happens to connections, over real sockets.

#include <chrono>
#include <memory>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "grpcpp/client_context.h"
#include "tests/service/bounded_context.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"
#include "waystar/v1/map_service.grpc.pb.h"

namespace waystar {
namespace {

using ::waystar::testing::BoundedContext;
using ::waystar::testing::CellAt;
using ::waystar::testing::PathRequest;
using ::waystar::testing::TestServer;
using ::waystar::testing::WaitUntil;

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
  v1::CreateMapRequest create;
  create.set_map("m");
  create.add_rows("..");
  // Calls that meet the end of a connection fail too.
  EXPECT_TRUE(WaitUntil([&] { return !absl::IsUnavailable(server.client().CreateMap(create).status()); },
                        "a call that meets no end of a connection"));
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
  EXPECT_EQ(paths->FindPath(&waiting, PathRequest("m", CellAt(0, 0), CellAt(1, 0)), &response).error_code(),
            grpc::StatusCode::DEADLINE_EXCEEDED);
  watching.TryCancel();
  EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::CANCELLED);
  BoundedContext free;
  EXPECT_TRUE(paths->FindPath(&free, PathRequest("m", CellAt(0, 0), CellAt(1, 0)), &response).ok());
  // Others have connections of their own.
  EXPECT_TRUE(server.client().FindPath(PathRequest("m", CellAt(0, 0), CellAt(1, 0))).ok());
}

TEST(ConnectionsTest, ServeWithinALimitOfMemory) {
  TestServer server({.connections = {.memory_mib = 64}});
  server.Create("m", {".."});
  EXPECT_TRUE(server.client().FindPath(PathRequest("m", CellAt(0, 0), CellAt(1, 0))).ok());
}

}  // namespace
}  // namespace waystar
