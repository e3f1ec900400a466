// What tests of WatchMap share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/connection.h"
#include "client/options.h"
#include "client/streams.h"
#include "gmock/gmock.h"
#include "grpcpp/channel.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"
#include "waystar/v1/map_service.grpc.pb.h"

namespace waystar::testing {

// Of what comes next.
inline v1::WatchMapRequest WatchRequest(const std::string& map, bool with_edits = false) {
  v1::WatchMapRequest request;
  request.set_map(map);
  request.set_with_edits(with_edits);
  return request;
}

// From a revision on of the epoch that the map has.
inline v1::WatchMapRequest WatchFrom(TestServer& server, const std::string& map, std::uint64_t from,
                                     bool with_edits = false) {
  v1::WatchMapRequest request = WatchRequest(map, with_edits);
  *request.mutable_after() = VersionOf(server, map);
  request.mutable_after()->set_revision(from - 1);
  return request;
}

// A watch over a connection of its own.
class WatchOfMap {
 public:
  WatchOfMap(const TestServer& server, const v1::WatchMapRequest& request, const std::string& token = "")
      : WatchOfMap(server.NewChannel(), request, token) {}

  WatchOfMap(const std::shared_ptr<grpc::Channel>& channel, const v1::WatchMapRequest& request,
             const std::string& token = "")
      : connection_(client::Options{.token = token}),
        stub_(v1::MapService::NewStub(channel)),
        watch_(connection_, stub_.get(), request, kPatience) {}

  client::MapWatch* operator->() { return &watch_; }

  v1::WatchMapResponse NextEvent() {
    v1::WatchMapResponse event;
    if (!watch_.Next(event)) {
      ADD_FAILURE() << watch_.Finish();
    }
    return event;
  }

  // "watching 1", "revision 2", "resynchronize 3".
  std::string Next() {
    const v1::WatchMapResponse event = NextEvent();
    switch (event.event_case()) {
      case v1::WatchMapResponse::kWatching:
        return absl::StrCat("watching ", event.watching().version().revision());
      case v1::WatchMapResponse::kCommit:
        return absl::StrCat("revision ", event.commit().version().revision());
      case v1::WatchMapResponse::kResynchronize:
        return absl::StrCat("resynchronize ", event.resynchronize().version().revision());
      case v1::WatchMapResponse::EVENT_NOT_SET:
        break;
    }
    return "nothing";
  }

  absl::Status End() {
    v1::WatchMapResponse event;
    EXPECT_FALSE(watch_.Next(event)) << event.DebugString();
    return watch_.Finish();
  }

 private:
  // What calls bear: at most a token.
  const client::Connection connection_;
  std::unique_ptr<v1::MapService::Stub> stub_;
  client::MapWatch watch_;
};

// A server with a map to watch.
class WatchedRoomTest : public ::testing::Test {
 protected:
  explicit WatchedRoomTest(const runtime::Options& options = {}) : server_(options) {
    server_.Create("room", {"....", "...."});
  }

  // Makes one revision and returns it.
  std::uint64_t Change(const std::string& map = "room") {
    v1::UpdateObstaclesRequest request;
    request.set_map(map);
    v1::Edit& edit = *request.add_edits();
    *(++changes_ % 2 == 0 ? edit.mutable_block() : edit.mutable_unblock())->add_cells() = CellAt(1, 1);
    return Apply(request);
  }

  std::uint64_t Apply(const v1::UpdateObstaclesRequest& request) {
    const auto updated = server_.client().UpdateObstacles(request);
    EXPECT_TRUE(updated.ok()) << updated.status();
    return updated->version().revision();
  }

  void Delete(const std::string& map) {
    v1::DeleteMapRequest request;
    request.set_map(map);
    EXPECT_TRUE(server_.client().DeleteMap(request).ok());
  }

  TestServer server_;
  int changes_ = 0;
};

// A batch that takes about 100 KB.
inline v1::UpdateObstaclesRequest LargeBatch() {
  v1::UpdateObstaclesRequest request;
  request.set_map("room");
  v1::Shape& shape = *request.add_edits()->mutable_block();
  for (int i = 0; i < 20'000; ++i) {
    *shape.add_cells() = CellAt(1, 1);
  }
  return request;
}

}  // namespace waystar::testing
