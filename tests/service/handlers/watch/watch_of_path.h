// What tests of WatchPath share.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/connection.h"
#include "client/options.h"
#include "client/streams.h"
#include "gmock/gmock.h"
#include "grpcpp/channel.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"
#include "waystar/v1/path_service.grpc.pb.h"

namespace waystar::testing {

inline v1::UpdateObstaclesRequest UnblockRequest(const std::string& map, const std::vector<v1::Cell>& cells) {
  v1::UpdateObstaclesRequest request;
  request.set_map(map);
  request.add_edits()->mutable_unblock()->mutable_cells()->Assign(cells.begin(), cells.end());
  return request;
}

// A watch over a connection of its own.
class WatchOfPath {
 public:
  WatchOfPath(const TestServer& server, const v1::FindPathRequest& query)
      : WatchOfPath(server.NewChannel(), query) {}

  WatchOfPath(const std::shared_ptr<grpc::Channel>& channel, const v1::FindPathRequest& query)
      : stub_(v1::PathService::NewStub(channel)) {
    v1::WatchPathRequest request;
    *request.mutable_query() = query;
    watch_.emplace(connection_, stub_.get(), request, kPatience);
  }

  client::PathWatch* operator->() { return &*watch_; }

  v1::WatchPathResponse Next() {
    v1::WatchPathResponse message;
    if (!watch_->Next(message)) {
      ADD_FAILURE() << watch_->Finish();
    }
    return message;
  }

  // How it ends, whatever is told before.
  absl::Status End() {
    v1::WatchPathResponse message;
    while (watch_->Next(message)) {
    }
    return watch_->Finish();
  }

 private:
  // What calls bear: nothing.
  const client::Connection connection_{client::Options{}};
  std::unique_ptr<v1::PathService::Stub> stub_;
  std::optional<client::PathWatch> watch_;
};

inline void Update(TestServer& server, const v1::UpdateObstaclesRequest& request) {
  const auto updated = server.client().UpdateObstacles(request);
  ASSERT_TRUE(updated.ok()) << updated.status();
}

}  // namespace waystar::testing
