// StreamObstacleUpdates, by real clients over real sockets.

#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "client/errors.h"
#include "gmock/gmock.h"
#include "google/rpc/error_details.pb.h"
#include "grpcpp/support/byte_buffer.h"
#include "tests/service/bounded_context.h"
#include "tests/service/handlers/maps/updates.h"
#include "tests/service/test_server.h"
#include "waystar/v1/map_service.grpc.pb.h"

namespace waystar {
namespace {

using ::waystar::testing::BlockRequest;
using ::waystar::testing::BoundedContext;
using ::waystar::testing::CellAt;
using ::waystar::testing::RevisionOf;
using ::waystar::testing::TestServer;
using ::waystar::testing::Toggle;
using ::waystar::testing::Updates;
using ::waystar::testing::VersionOf;

std::string ReasonIn(const google::rpc::Status& status) {
  google::rpc::ErrorInfo info;
  for (const auto& detail : status.details()) {
    if (detail.UnpackTo(&info)) {
      return info.reason() + " " + info.metadata().at("field");
    }
  }
  return "";
}

// Sends `count` batches while it reads their answers.
void SendAndCheck(TestServer& server, int count) {
  server.Create("room", {"...", "..."});
  Updates updates(server);
  std::thread sender([&] {
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(updates->Send(Toggle("room", i)));
    }
    updates->EndSending();
  });
  for (int i = 0; i < count; ++i) {
    const v1::StreamObstacleUpdatesResponse answer = updates.Next();
    ASSERT_EQ(answer.index(), static_cast<std::uint64_t>(i));
    ASSERT_TRUE(answer.has_applied()) << answer.DebugString();
    ASSERT_EQ(answer.applied().version().revision(), static_cast<std::uint64_t>(i) + 2);
    ASSERT_EQ(answer.applied().changed_cells(), 1);
  }
  sender.join();
  EXPECT_TRUE(updates.End().ok());
  EXPECT_EQ(RevisionOf(server, "room"), static_cast<std::uint64_t>(count) + 1);
}

TEST(UpdateStreamTest, PipelinedBatchesAreAnsweredInOrder) {
  TestServer server;
  SendAndCheck(server, 1000);
}

// Reading stops and goes on at each batch.
TEST(UpdateStreamTest, WindowOfOneWillDo) {
  TestServer server({.workers = 1, .stream_window = 1});
  SendAndCheck(server, 100);
}

TEST(UpdateStreamTest, StreamWithoutBatchesIsFine) {
  TestServer server;
  Updates updates(server);
  updates->EndSending();
  EXPECT_TRUE(updates.End().ok());
}

TEST(UpdateStreamTest, RefusedBatchesAreAnsweredAndTheStreamGoesOn) {
  TestServer server;
  server.Create("room", {"...", "..."});
  Updates updates(server);
  updates->Send(Toggle("room", 0));
  updates->Send(BlockRequest("room", {CellAt(0, 0), CellAt(3, 0)}));
  updates->Send(Toggle("nowhere", 0));
  updates->Send(Toggle("No Map", 0));
  v1::UpdateObstaclesRequest stale = Toggle("room", 1);
  *stale.mutable_expected_version() = VersionOf(server, "room");
  stale.mutable_expected_version()->set_revision(7);
  updates->Send(stale);
  v1::UpdateObstaclesRequest disc;
  disc.set_map("room");
  disc.add_edits()->mutable_block()->add_discs()->set_radius(2);
  updates->Send(disc);
  updates->Send({});
  updates->Send(Toggle("room", 1));
  updates->EndSending();

  EXPECT_EQ(updates.Next().applied().version().revision(), 2U);
  const struct {
    absl::StatusCode code;
    const char* reason;
  } refusals[] = {{absl::StatusCode::kOutOfRange, "OFF_MAP edits[0].block.cells[1]"},
                  {absl::StatusCode::kNotFound, "MAP_NOT_FOUND map"},
                  {absl::StatusCode::kInvalidArgument, "BAD_MAP_ID map"},
                  {absl::StatusCode::kAborted, "STALE_REVISION expected_version"},
                  {absl::StatusCode::kInvalidArgument, "MISSING_FIELD edits[0].block.discs[0].center"},
                  {absl::StatusCode::kInvalidArgument, "BAD_MAP_ID map"}};
  std::uint64_t index = 1;
  for (const auto& refusal : refusals) {
    const v1::StreamObstacleUpdatesResponse answer = updates.Next();
    EXPECT_EQ(answer.index(), index++);
    EXPECT_EQ(answer.refused().code(), static_cast<int>(refusal.code)) << answer.DebugString();
    EXPECT_EQ(ReasonIn(answer.refused()), refusal.reason);
    EXPECT_FALSE(answer.refused().message().empty());
  }
  EXPECT_EQ(updates.Next().applied().version().revision(), 3U);
  EXPECT_TRUE(updates.End().ok());
}

TEST(UpdateStreamTest, BatchThatWasSentBeforeIsNotAppliedAgain) {
  TestServer server;
  server.Create("room", {"...", "..."});
  Updates updates(server);
  v1::UpdateObstaclesRequest batch = Toggle("room", 0);
  batch.set_request_id("a");
  updates->Send(batch);
  updates->Send(Toggle("room", 1));
  updates->Send(batch);
  batch.mutable_edits(0)->mutable_block()->mutable_cells(0)->set_x(2);
  updates->Send(batch);
  updates->EndSending();
  EXPECT_EQ(updates.Next().applied().version().revision(), 2U);
  EXPECT_EQ(updates.Next().applied().version().revision(), 3U);
  const v1::StreamObstacleUpdatesResponse again = updates.Next();
  EXPECT_EQ(again.applied().version().revision(), 2U);
  EXPECT_TRUE(again.applied().already_applied());
  EXPECT_EQ(ReasonIn(updates.Next().refused()), "REQUEST_ID_REUSED request_id");
  EXPECT_TRUE(updates.End().ok());
  EXPECT_EQ(RevisionOf(server, "room"), 3U);
}

// Answers to what was sent before come first.
TEST(UpdateStreamTest, BytesThatAreNoMessageEndTheStream) {
  TestServer server;
  server.Create("room", {"...", "..."});
  const auto channel = server.NewChannel();
  const grpc::internal::RpcMethod method("/waystar.v1.MapService/StreamObstacleUpdates",
                                         grpc::internal::RpcMethod::BIDI_STREAMING);
  BoundedContext context;
  using Stream = grpc::ClientReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>;
  const std::unique_ptr<Stream> stream(
      grpc::internal::ClientReaderWriterFactory<grpc::ByteBuffer, grpc::ByteBuffer>::Create(
          channel.get(), method, &context));
  v1::StreamObstacleUpdatesRequest good;
  *good.mutable_update() = Toggle("room", 0);
  for (const std::string& bytes : {good.SerializeAsString(), std::string("\x0a\xff\xff\xff\xff")}) {
    const grpc::Slice slice(bytes);
    EXPECT_TRUE(stream->Write(grpc::ByteBuffer(&slice, 1)));
  }
  grpc::ByteBuffer answer;
  EXPECT_TRUE(stream->Read(&answer));
  EXPECT_FALSE(stream->Read(&answer));
  const absl::Status status = client::FromGrpc(stream->Finish());
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_EQ(client::ReasonOf(status), "BAD_VALUE");
  EXPECT_EQ(RevisionOf(server, "room"), 2U);
}

}  // namespace
}  // namespace waystar
