// Watches of maps and followed paths, for tests of WatchMap and FollowAgents.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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

  // Returns how it ends, without a further event.
  absl::Status End() {
    EXPECT_EQ(EventsToEnd(), 0);
    return watch_.Finish();
  }
  // Returns how it ends, whatever events come before.
  absl::Status EndAfterEvents() {
    EventsToEnd();
    return watch_.Finish();
  }
  // Returns how it ends; OK if there is an event.
  absl::Status FirstOrEnd() {
    v1::WatchMapResponse event;
    return watch_.Next(event) ? absl::OkStatus() : watch_.Finish();
  }
  // Returns the number of events before it ends.
  int EventsToEnd() {
    int events = 0;
    for (v1::WatchMapResponse event; watch_.Next(event);) {
      ++events;
    }
    return events;
  }

 private:
  // Adds at most a token to calls.
  const client::Connection connection_;
  std::unique_ptr<v1::MapService::Stub> stub_;
  client::MapWatch watch_;
};

// The path of one agent that stands, over a connection of its own.
class FollowedPath {
 public:
  FollowedPath(const TestServer& server, const v1::FindPathRequest& query)
      : FollowedPath(server.NewChannel(), query) {}
  FollowedPath(const std::shared_ptr<grpc::Channel>& channel, const v1::FindPathRequest& query)
      : stub_(v1::PathService::NewStub(channel)), stream_(stub_->FollowAgents(&context_)) {
    v1::FollowAgentsRequest request;
    request.mutable_at_most_every();
    request.mutable_cheaper_every();
    *request.add_changes()->mutable_put() = query;
    stream_->Write(request);
  }
  FollowedPath(const FollowedPath&) = delete;
  FollowedPath& operator=(const FollowedPath&) = delete;
  // Ends the stream.
  ~FollowedPath() {
    context_.TryCancel();
    static_cast<void>(Finish());
  }

  v1::AgentState Next() {
    while (stream_->Read(&message_)) {
      if (message_.states_size() > 0) {
        return message_.states(0);
      }
    }
    ADD_FAILURE() << "the stream has ended: " << Finish();
    return {};
  }
  // Returns why the agent is not followed any more, whatever is told before.
  absl::Status End() {
    while (stream_->Read(&message_)) {
      if (message_.states_size() > 0 && message_.states(0).has_end()) {
        return client::FromMessage(message_.states(0).end());
      }
    }
    return Finish();
  }

 private:
  absl::Status Finish() {
    if (!status_) {
      status_ = client::FromGrpc(stream_->Finish());
    }
    return *status_;
  }

  BoundedContext context_;
  std::unique_ptr<v1::PathService::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::FollowAgentsRequest, v1::FollowAgentsResponse>> stream_;
  v1::FollowAgentsResponse message_;
  std::optional<absl::Status> status_;
};

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
