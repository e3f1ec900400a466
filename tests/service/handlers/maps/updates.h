// What tests of StreamObstacleUpdates share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/connection.h"
#include "client/options.h"
#include "client/streams.h"
#include "gmock/gmock.h"
#include "grpcpp/channel.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"
#include "waystar/v1/map_service.grpc.pb.h"

namespace waystar::testing {

// A stream over a connection of its own.
class Updates {
 public:
  explicit Updates(const TestServer& server) : Updates(server.NewChannel(), kPatience) {}

  Updates(const std::shared_ptr<grpc::Channel>& channel, absl::Duration timeout)
      : stub_(v1::MapService::NewStub(channel)), stream_(connection_, stub_.get(), timeout) {}

  client::UpdateStream* operator->() { return &stream_; }

  v1::StreamObstacleUpdatesResponse Next() {
    v1::StreamObstacleUpdatesResponse answer;
    EXPECT_TRUE(stream_.Receive(answer));
    return answer;
  }

  absl::Status End() {
    v1::StreamObstacleUpdatesResponse answer;
    EXPECT_FALSE(stream_.Receive(answer)) << answer.DebugString();
    return stream_.Finish();
  }

 private:
  // What calls bear: nothing.
  const client::Connection connection_{client::Options{}};
  std::unique_ptr<v1::MapService::Stub> stub_;
  client::UpdateStream stream_;
};

// Blocks and unblocks one cell in turn.
inline v1::UpdateObstaclesRequest Toggle(const std::string& map, int i) {
  v1::UpdateObstaclesRequest request;
  request.set_map(map);
  v1::Edit& edit = *request.add_edits();
  *(i % 2 == 0 ? edit.mutable_block() : edit.mutable_unblock())->add_cells() = CellAt(1, 0);
  return request;
}

inline std::uint64_t RevisionOf(TestServer& server, const std::string& map) {
  return VersionOf(server, map).revision();
}

}  // namespace waystar::testing
