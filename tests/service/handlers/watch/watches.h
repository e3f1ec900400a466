// What tests of WatchMap and WatchPath share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/client.h"
#include "client/connection.h"
#include "client/errors.h"
#include "gmock/gmock.h"
#include "grpcpp/channel.h"
#include "tests/service/about_map.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"
#include "waystar/v1/map_service.grpc.pb.h"
#include "waystar/v1/path_service.grpc.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar {

// Of what comes next.
inline v1::WatchMapRequest WatchRequest(const std::string& map, bool with_edits = false) {
  auto request = About<v1::WatchMapRequest>(map);
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
template <typename Service, typename Watch, typename Request, typename Response>
class OwnWatch {
 public:
  OwnWatch(const std::shared_ptr<grpc::Channel>& channel, const Request& request, const std::string& token)
      : connection_(client::Options{.token = token}),
        stub_(Service::NewStub(channel)),
        watch_(connection_, stub_.get(), request, kPatience) {}

  Watch* operator->() { return &watch_; }

  Response NextEvent() {
    Response event;
    if (!watch_.Next(event)) {
      ADD_FAILURE() << watch_.Finish();
    }
    return event;
  }

  // How it ends, whatever is told before.
  absl::Status End() {
    EventsToEnd();
    return watch_.Finish();
  }
  // How it ends; OK if something is told.
  absl::Status FirstOrEnd() {
    Response event;
    return watch_.Next(event) ? absl::OkStatus() : watch_.Finish();
  }
  // How many events are told before it ends.
  int EventsToEnd() {
    int events = 0;
    for (Response event; watch_.Next(event);) {
      ++events;
    }
    return events;
  }

 private:
  // What calls bear: at most a token.
  const client::Connection connection_;
  std::unique_ptr<typename Service::Stub> stub_;
  Watch watch_;
};

class WatchOfMap
    : public OwnWatch<v1::MapService, client::MapWatch, v1::WatchMapRequest, v1::WatchMapResponse> {
 public:
  WatchOfMap(const TestServer& server, const v1::WatchMapRequest& request, const std::string& token = "")
      : WatchOfMap(server.NewChannel(), request, token) {}
  WatchOfMap(const std::shared_ptr<grpc::Channel>& channel, const v1::WatchMapRequest& request,
             const std::string& token = "")
      : OwnWatch(channel, request, token) {}

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

  // How it ends, without a further event.
  absl::Status End() {
    EXPECT_EQ(EventsToEnd(), 0);
    return (*this)->Finish();
  }
};

class WatchOfPath
    : public OwnWatch<v1::PathService, client::PathWatch, v1::WatchPathRequest, v1::WatchPathResponse> {
 public:
  WatchOfPath(const TestServer& server, const v1::FindPathRequest& query)
      : WatchOfPath(server.NewChannel(), query) {}
  WatchOfPath(const std::shared_ptr<grpc::Channel>& channel, const v1::FindPathRequest& query)
      : OwnWatch(channel, RequestOf(query), "") {}

  v1::WatchPathResponse Next() { return NextEvent(); }

 private:
  static v1::WatchPathRequest RequestOf(const v1::FindPathRequest& query) {
    v1::WatchPathRequest request;
    *request.mutable_query() = query;
    return request;
  }
};

// A server with room for one watch refuses a second one until the first has ended. `watch(server)` makes one
// of the map `room`.
template <typename MakeWatch>
void ExpectOneTooManyIsRefused(const MakeWatch& watch) {
  TestServer server({.max_watches = 1});
  server.Create("room", {"...."});
  {
    const auto first = watch(server);
    first->NextEvent();
    const absl::Status refused = watch(server)->End();
    EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted) << refused;
    EXPECT_EQ(client::ReasonOf(refused), "TOO_MANY_WATCHES");
    (*first)->Cancel();
    EXPECT_EQ(first->End().code(), absl::StatusCode::kCancelled);
  }
  absl::Status status;
  // The server may not have heard of the end of the first yet.
  const auto has_ended = [&] {
    status = watch(server)->FirstOrEnd();
    return client::ReasonOf(status) != "TOO_MANY_WATCHES";
  };
  EXPECT_TRUE(WaitUntil(has_ended, "the end of the first watch"));
  EXPECT_TRUE(status.ok()) << status;
}

// A server with a map to watch.
class WatchedRoomTest : public ::testing::Test {
 protected:
  explicit WatchedRoomTest(const runtime::Options& options = {}) : server_(options) {
    server_.Create("room", {"....", "...."});
  }

  // Makes one revision and returns it.
  std::uint64_t Change(const std::string& map = "room") {
    auto request = About<v1::UpdateMapRequest>(map);
    v1::Edit& edit = *request.add_edits();
    *(++changes_ % 2 == 0 ? edit.mutable_block() : edit.mutable_unblock())->add_cells() = CellAt(1, 1);
    return Apply(request);
  }

  std::uint64_t Apply(const v1::UpdateMapRequest& request) {
    const auto updated = server_.client().UpdateMap(request);
    EXPECT_TRUE(updated.ok()) << updated.status();
    return updated->version().revision();
  }

  void Delete(const std::string& map) {
    auto request = About<v1::DeleteMapRequest>(map);
    EXPECT_TRUE(server_.client().DeleteMap(request).ok());
  }

  // Puts another map in the place of the room.
  void Replace() {
    auto import = About<v1::ImportMapHeader>("room");
    import.set_format(v1::MAP_FORMAT_TEXT);
    import.set_replace(true);
    const auto imported = server_.client().ImportMap(import, "....\n....\n").value();
  }

  TestServer server_;
  int changes_ = 0;
};

// A batch that takes about 100 KB.
inline v1::UpdateMapRequest LargeBatch() {
  auto request = About<v1::UpdateMapRequest>("room");
  v1::Shape& shape = *request.add_edits()->mutable_block();
  for (int i = 0; i < 20'000; ++i) {
    *shape.add_cells() = CellAt(1, 1);
  }
  return request;
}

inline v1::UpdateMapRequest UnblockRequest(const std::string& map, const std::vector<v1::Cell>& cells) {
  auto request = About<v1::UpdateMapRequest>(map);
  request.add_edits()->mutable_unblock()->mutable_cells()->Assign(cells.begin(), cells.end());
  return request;
}

inline void Update(TestServer& server, const v1::UpdateMapRequest& request) {
  const auto updated = server.client().UpdateMap(request).value();
}

}  // namespace waystar
