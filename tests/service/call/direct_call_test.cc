// Calls of methods in this process, from their begin to the last use of the server.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/slice.h"
#include "grpcpp/support/status.h"
#include "gtest/gtest.h"
#include "server/service/call/direct_methods.h"
#include "server/service/call/raw_service.h"
#include "tests/service/call/world.h"
#include "tests/testing/patience.h"
#include "waystar/v1/map_service.grpc.pb.h"

namespace waystar::rpc {
namespace {

struct NoMemory {
  Lane LaneOf(const v1::GetMapRequest& /*request*/) const { throw std::bad_alloc(); }
  void Note(const v1::GetMapRequest& /*request*/, std::chrono::nanoseconds /*took*/) const {}
};

class Service final : public RawService<v1::MapService> {
 public:
  explicit Service(const ServerContext& server) : RawService(server) {
    Serve<v1::GetMapRequest, v1::GetMapResponse>([](const auto& /*request*/, auto& /*response*/,
                                                    CallContext& /*context*/) { return absl::OkStatus(); },
                                                 no_memory_);
    Serve<v1::ListMapsRequest, v1::ListMapsResponse>(
        [](const auto& /*request*/, auto& /*response*/, CallContext& /*context*/) {
          return absl::OkStatus();
        });
  }

  const DirectMethod& Method(const char* name) const {
    return direct_methods().at(google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(
        absl::StrCat("waystar.v1.MapService.", name)));
  }

 private:
  NoMemory no_memory_;
};

grpc::ByteBuffer EmptyRequest() {
  const grpc::Slice slice;
  return grpc::ByteBuffer(&slice, 1);
}

// The caller may destroy the server when all that it waits for is gone.
TEST(DirectCallTest, LetsGoOfItsCallerWhenItHasLeftTheServer) {
  World world;
  const Service service(world.context);
  Event gone("the end of a call");
  std::atomic<std::size_t> calls = 1;
  auto caller = std::shared_ptr<void>(nullptr, [&](void*) {
    calls = world.client_calls.counts().calls;
    gone.Happen();
  });
  service.Method("ListMaps")(
      {.peer = "http:192.0.2.1"}, EmptyRequest(),
      [caller = std::move(caller)](const grpc::Status& status, const grpc::ByteBuffer& /*answer*/) {
        EXPECT_TRUE(status.ok()) << status.error_message();
      });
  gone.Wait();
  EXPECT_EQ(calls, 0);
}

TEST(DirectCallTest, IsRefusedIfThereIsNoMemoryToBeginIt) {
  World world;
  const Service service(world.context);
  grpc::Status ended;
  service.Method("GetMap")(
      {}, EmptyRequest(),
      [&](const grpc::Status& status, const grpc::ByteBuffer& /*answer*/) { ended = status; });
  EXPECT_EQ(ended.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

}  // namespace
}  // namespace waystar::rpc
