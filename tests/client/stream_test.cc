#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "client/client.h"
#include "client/streams.h"
#include "tests/client/fake_server.h"
#include "tests/testing/patience.h"

namespace waystar::client {
namespace {

using ::waystar::testing::ExpectReturns;
using ::waystar::testing::FakeServer;
using ::waystar::testing::kPatience;
using ::waystar::testing::Refusal;

class StreamTest : public ::testing::Test {
 protected:
  FakeServer server_;
  // Made late: the script must be written before.
  const Client& client() {
    if (!client_) {
      Options options;
      options.target = server_.target();
      options.stream_timeout = kPatience;
      client_ = std::make_unique<Client>(options);
    }
    return *client_;
  }

 private:
  std::unique_ptr<Client> client_;
};

TEST_F(StreamTest, UpdatesAreAnsweredInOrder) {
  server_.stream_obstacle_updates = [](auto&, const v1::StreamObstacleUpdatesRequest& request,
                                       v1::StreamObstacleUpdatesResponse& response) {
    response.mutable_applied()->mutable_version()->set_revision(
        request.update().expected_version().revision() + 1);
    return grpc::Status::OK;
  };
  const auto stream = client().StreamObstacleUpdates();
  for (uint64_t revision = 1; revision <= 3; ++revision) {
    v1::UpdateObstaclesRequest batch;
    batch.mutable_expected_version()->set_revision(revision);
    EXPECT_TRUE(stream->Send(batch));
  }
  stream->EndSending();
  std::vector<uint64_t> revisions;
  v1::StreamObstacleUpdatesResponse answer;
  while (stream->Receive(answer)) {
    revisions.push_back(answer.applied().version().revision());
  }
  EXPECT_EQ(revisions, (std::vector<uint64_t>{2, 3, 4}));
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(StreamTest, AnErrorEndsUpdates) {
  server_.stream_obstacle_updates = [](auto&, const auto&, auto&) {
    return Refusal(grpc::StatusCode::UNAVAILABLE, "the server is stopping", "DRAINING");
  };
  const auto stream = client().StreamObstacleUpdates();
  stream->Send({});
  v1::StreamObstacleUpdatesResponse answer;
  EXPECT_FALSE(stream->Receive(answer));
  EXPECT_EQ(ReasonOf(stream->Finish()), "DRAINING");
}

// What is destroyed before its end cancels its call, and waits neither for answers nor for the server.
TEST_F(StreamTest, UpdatesMayBeAbandoned) {
  server_.stream_obstacle_updates = [](auto&, const auto&, auto&) { return grpc::Status::OK; };
  auto stream = client().StreamObstacleUpdates();
  EXPECT_TRUE(stream->Send({}));
  ExpectReturns([&] { stream.reset(); }, "a stream of updates that is abandoned");
}

TEST_F(StreamTest, AWatchHandsOverEventsAndTellsWhyItEnds) {
  server_.watch_map = [](auto&, const v1::WatchMapRequest& request,
                         std::vector<v1::WatchMapResponse>& events) {
    events.resize(2);
    *events[0].mutable_watching()->mutable_version() = request.after();
    events[1].mutable_commit()->mutable_version()->set_revision(request.after().revision() + 1);
    return Refusal(grpc::StatusCode::NOT_FOUND, "the map has been deleted", "MAP_NOT_FOUND", "map");
  };
  v1::WatchMapRequest request;
  request.mutable_after()->set_revision(7);
  const auto watch = client().WatchMap(request);
  v1::WatchMapResponse event;
  ASSERT_TRUE(watch->Next(event));
  EXPECT_EQ(event.watching().version().revision(), 7);
  ASSERT_TRUE(watch->Next(event));
  EXPECT_EQ(event.commit().version().revision(), 8);
  EXPECT_FALSE(watch->Next(event));
  EXPECT_EQ(ReasonOf(watch->Finish()), "MAP_NOT_FOUND");
}

}  // namespace
}  // namespace waystar::client
