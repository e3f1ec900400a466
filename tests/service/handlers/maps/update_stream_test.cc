// StreamUpdates, by real clients over real sockets.

#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "client/connection.h"
#include "client/errors.h"
#include "gmock/gmock.h"
#include "grpcpp/channel.h"
#include "grpcpp/support/byte_buffer.h"
#include "tests/service/about_map.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"
#include "waystar/v1/map_service.grpc.pb.h"

namespace waystar {
namespace {

// A stream over a connection of its own.
class Updates {
 public:
  explicit Updates(const TestServer& server) : Updates(server.NewChannel(), kPatience) {}

  Updates(const std::shared_ptr<grpc::Channel>& channel, absl::Duration timeout)
      : stub_(v1::MapService::NewStub(channel)), stream_(connection_, stub_.get(), timeout) {}

  client::UpdateStream* operator->() { return &stream_; }

  v1::StreamUpdatesResponse Next() {
    v1::StreamUpdatesResponse answer;
    EXPECT_TRUE(stream_.Receive(answer));
    return answer;
  }

  absl::Status End() {
    v1::StreamUpdatesResponse answer;
    EXPECT_FALSE(stream_.Receive(answer)) << answer.DebugString();
    return stream_.Finish();
  }

 private:
  // Adds nothing to calls.
  const client::Connection connection_{client::Options{}};
  std::unique_ptr<v1::MapService::Stub> stub_;
  client::UpdateStream stream_;
};

// Blocks and unblocks one cell in turn.
v1::UpdateMapRequest Toggle(const std::string& map, int i) {
  auto request = About<v1::UpdateMapRequest>(map);
  v1::Edit& edit = *request.add_edits();
  *(i % 2 == 0 ? edit.mutable_block() : edit.mutable_unblock())->add_cells() = CellAt(1, 0);
  return request;
}

std::uint64_t RevisionOf(TestServer& server, const std::string& map) {
  return VersionOf(server, map).revision();
}

std::string ReasonIn(const google::rpc::Status& status) {
  const absl::Status problem = client::FromMessage(status);
  return client::ReasonOf(problem) + " " + client::FieldOf(problem);
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
    const v1::StreamUpdatesResponse answer = updates.Next();
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
  v1::UpdateMapRequest stale = Toggle("room", 1);
  *stale.mutable_expected_version() = VersionOf(server, "room");
  stale.mutable_expected_version()->set_revision(7);
  updates->Send(stale);
  auto disc = About<v1::UpdateMapRequest>("room");
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
    const v1::StreamUpdatesResponse answer = updates.Next();
    EXPECT_EQ(answer.index(), index++);
    EXPECT_EQ(answer.problem().code(), static_cast<int>(refusal.code)) << answer.DebugString();
    EXPECT_EQ(ReasonIn(answer.problem()), refusal.reason);
    EXPECT_FALSE(answer.problem().message().empty());
  }
  EXPECT_EQ(updates.Next().applied().version().revision(), 3U);
  EXPECT_TRUE(updates.End().ok());
}

TEST(UpdateStreamTest, BatchThatWasSentBeforeIsNotAppliedAgain) {
  TestServer server;
  server.Create("room", {"...", "..."});
  Updates updates(server);
  v1::UpdateMapRequest batch = Toggle("room", 0);
  batch.set_request_id("a");
  updates->Send(batch);
  updates->Send(Toggle("room", 1));
  updates->Send(batch);
  batch.mutable_edits(0)->mutable_block()->mutable_cells(0)->set_x(2);
  updates->Send(batch);
  updates->EndSending();
  EXPECT_EQ(updates.Next().applied().version().revision(), 2U);
  EXPECT_EQ(updates.Next().applied().version().revision(), 3U);
  const v1::StreamUpdatesResponse again = updates.Next();
  EXPECT_EQ(again.applied().version().revision(), 2U);
  EXPECT_TRUE(again.applied().already_applied());
  EXPECT_EQ(ReasonIn(updates.Next().problem()), "REQUEST_ID_REUSED request_id");
  EXPECT_TRUE(updates.End().ok());
  EXPECT_EQ(RevisionOf(server, "room"), 3U);
}

// Answers to what was sent before come first.
TEST(UpdateStreamTest, BytesThatAreNoMessageEndTheStream) {
  TestServer server;
  server.Create("room", {"...", "..."});
  const auto channel = server.NewChannel();
  const grpc::internal::RpcMethod method("/waystar.v1.MapService/StreamUpdates",
                                         grpc::internal::RpcMethod::BIDI_STREAMING);
  BoundedContext context;
  using Stream = grpc::ClientReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>;
  const std::unique_ptr<Stream> stream(
      grpc::internal::ClientReaderWriterFactory<grpc::ByteBuffer, grpc::ByteBuffer>::Create(
          channel.get(), method, &context));
  v1::StreamUpdatesRequest good;
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

// StreamUpdates of clients that read slowly, go, or are many, and of a server that stops.

// It cannot make the server hold answers without end; others are served meanwhile.
TEST(UpdateStreamLifeTest, ClientThatNeverReadsIsNotReadFrom) {
  constexpr int kAttempts = 1'000'000;
  TestServer server({.stream_window = 16});
  server.Create("room", {"...", "..."});
  server.Create("other", {"...", "..."});
  Updates updates(server.NewNarrowChannel(), absl::Seconds(3));
  // Until the deadline: it blocks when nobody reads what it writes.
  int sent = 0;
  while (sent < kAttempts && updates->Send(Toggle("room", sent))) {
    ++sent;
  }
  EXPECT_LT(sent, kAttempts);
  EXPECT_TRUE(server.client().UpdateMap(Toggle("other", 0)).ok());
  // As many as their answers fit into what the transport holds, and the window.
  EXPECT_LE(RevisionOf(server, "room"), 50'000U);
}

// So that cancelling meets reading, converting, committing and writing.
TEST(UpdateStreamLifeTest, ClientsMayGiveUpAtAnyTime) {
  TestServer server({.stream_window = 3});
  server.Create("room", {"...", "..."});
  for (int i = 0; i < 200; ++i) {
    Updates updates(server);
    for (int batch = 0; batch < 5; ++batch) {
      updates->Send(Toggle("room", batch));
    }
    std::thread canceller([&] { updates->Cancel(); });
    if (i % 2 == 0) {
      updates->EndSending();
    }
    std::uint64_t index = 0;
    v1::StreamUpdatesResponse answer;
    while (updates->Receive(answer)) {
      EXPECT_EQ(answer.index(), index++);
    }
    canceller.join();
    const absl::Status status = updates->Finish();
    EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kCancelled) << status;
  }
  EXPECT_TRUE(server.client().UpdateMap(Toggle("room", 0)).ok());
}

TEST(UpdateStreamLifeTest, StopAnswersWhatWasReadAndEndsTheStream) {
  TestServer server;
  server.Create("room", {"...", "..."});
  Updates idle(server);
  Updates busy(server);
  constexpr int kBatches = 50;
  idle->Send(Toggle("room", 0));
  EXPECT_TRUE(idle.Next().has_applied());
  for (int i = 0; i < kBatches; ++i) {
    busy->Send(Toggle("room", i));
  }
  EXPECT_TRUE(busy.Next().has_applied());
  std::thread stop([&] { server.server().Stop(kPatience); });
  const absl::Status ended = idle.End();
  EXPECT_EQ(ended.code(), absl::StatusCode::kUnavailable) << ended;
  EXPECT_EQ(client::ReasonOf(ended), "DRAINING");
  std::uint64_t index = 1;
  v1::StreamUpdatesResponse answer;
  while (busy->Receive(answer)) {
    EXPECT_EQ(answer.index(), index++);
    EXPECT_TRUE(answer.has_applied()) << answer.DebugString();
  }
  EXPECT_EQ(client::ReasonOf(busy->Finish()), "DRAINING");
  stop.join();
}

}  // namespace
}  // namespace waystar
