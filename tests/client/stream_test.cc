// Calls that stream messages: updates, watches, traces, imports and exports.
#include <gtest/gtest.h>

#include <sstream>
#include <streambuf>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/client.h"
#include "tests/client/fake_server.h"
#include "tests/testing/patience.h"

namespace waystar::client {
namespace {

class StreamTest : public ::testing::Test {
 protected:
  FakeServer server_;
  // Its script must be written before the first call.
  const Client client_{server_.ClientOptions()};
};

TEST_F(StreamTest, UpdatesAreAnsweredInOrder) {
  server_.stream_updates = [](auto&, const v1::StreamUpdatesRequest& request,
                              v1::StreamUpdatesResponse& response) {
    response.mutable_applied()->mutable_version()->set_revision(
        request.update().expected_version().revision() + 1);
    return grpc::Status::OK;
  };
  const auto stream = client_.StreamUpdates();
  for (uint64_t revision = 1; revision <= 3; ++revision) {
    v1::UpdateMapRequest batch;
    batch.mutable_expected_version()->set_revision(revision);
    EXPECT_TRUE(stream->Send(batch));
  }
  stream->EndSending();
  std::vector<uint64_t> revisions;
  v1::StreamUpdatesResponse answer;
  while (stream->Receive(answer)) {
    revisions.push_back(answer.applied().version().revision());
  }
  EXPECT_EQ(revisions, (std::vector<uint64_t>{2, 3, 4}));
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(StreamTest, AnErrorEndsUpdates) {
  server_.stream_updates = [](auto&, const auto&, auto&) {
    return Refusal(grpc::StatusCode::UNAVAILABLE, "the server is stopping", "DRAINING");
  };
  const auto stream = client_.StreamUpdates();
  stream->Send({});
  v1::StreamUpdatesResponse answer;
  EXPECT_FALSE(stream->Receive(answer));
  EXPECT_EQ(ReasonOf(stream->Finish()), "DRAINING");
}

// What is destroyed before its end cancels its call, and waits neither for answers nor for the server.
TEST_F(StreamTest, UpdatesMayBeAbandoned) {
  server_.stream_updates = [](auto&, const auto&, auto&) { return grpc::Status::OK; };
  auto stream = client_.StreamUpdates();
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
  const auto watch = client_.WatchMap(request);
  v1::WatchMapResponse event;
  ASSERT_TRUE(watch->Next(event));
  EXPECT_EQ(event.watching().version().revision(), 7);
  ASSERT_TRUE(watch->Next(event));
  EXPECT_EQ(event.commit().version().revision(), 8);
  EXPECT_FALSE(watch->Next(event));
  EXPECT_EQ(ReasonOf(watch->Finish()), "MAP_NOT_FOUND");
}

TEST_F(StreamTest, ATraceHandsOverEventsInOrderAndReturnsTheResult) {
  server_.trace_search = [](auto&, const v1::TraceSearchRequest& request,
                            std::vector<v1::TraceSearchResponse>& messages) {
    messages.resize(3);
    messages[0].add_events()->mutable_cell()->set_x(1);
    messages[0].add_events()->mutable_cell()->set_x(2);
    messages[1].add_events()->mutable_cell()->set_x(3);
    messages[2].mutable_result()->mutable_answer()->set_cost(request.max_events());
    return grpc::Status::OK;
  };
  v1::TraceSearchRequest request;
  request.set_max_events(5);
  std::string seen;
  const auto result = client_.TraceSearch(
      request, [&seen](const v1::SearchEvent& event) { absl::StrAppend(&seen, event.cell().x(), " "); });
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(seen, "1 2 3 ");
  EXPECT_EQ(result->answer().cost(), 5);
}

TEST_F(StreamTest, ATraceWithoutAResultIsAnError) {
  server_.trace_search = [](auto&, const auto&, std::vector<v1::TraceSearchResponse>& messages) {
    messages.emplace_back().add_events();
    return grpc::Status::OK;
  };
  EXPECT_TRUE(absl::IsDataLoss(client_.TraceSearch({}, [](const v1::SearchEvent&) {}).status()));
}

TEST_F(StreamTest, RefusalsHaveTheirReasonsAndFields) {
  const auto refuse = [](auto&, const auto&, auto&) {
    return Refusal(grpc::StatusCode::NOT_FOUND, "no map 'arena'", "MAP_NOT_FOUND", "map");
  };
  server_.trace_search = refuse;
  server_.import_map = refuse;
  server_.export_map = refuse;
  for (const absl::Status& status :
       {client_.TraceSearch({}, [](const v1::SearchEvent&) {}).status(),
        client_.ImportMap({}, std::string(5 << 16, '.')).status(), client_.ExportMap({}).status()}) {
    EXPECT_EQ(ReasonOf(status), "MAP_NOT_FOUND");
    EXPECT_EQ(FieldOf(status), "map");
  }
}

constexpr size_t kChunkBytes = 65536;

class TransferTest : public StreamTest {
 protected:
  TransferTest() {
    server_.import_map = [this](auto&, const std::vector<v1::ImportMapRequest>& parts, auto&) {
      parts_ = parts;
      return grpc::Status::OK;
    };
  }

  void ExpectParts(const std::string& bytes, size_t chunks) {
    ASSERT_EQ(parts_.size(), chunks + 1);
    EXPECT_EQ(parts_[0].header().map(), "arena");
    EXPECT_TRUE(parts_[0].header().has_size());
    EXPECT_EQ(parts_[0].header().size(), static_cast<int64_t>(bytes.size()));
    std::string received;
    for (size_t i = 1; i < parts_.size(); ++i) {
      EXPECT_LE(parts_[i].chunk().size(), kChunkBytes);
      received += parts_[i].chunk();
    }
    EXPECT_EQ(received, bytes);
  }

  static v1::ImportMapHeader Header() {
    v1::ImportMapHeader header;
    header.set_map("arena");
    return header;
  }

  // Bytes by which one chunk can be told from another.
  static std::string Bytes(size_t size) {
    std::string bytes(size, '\0');
    for (size_t i = 0; i < size; ++i) {
      bytes[i] = static_cast<char>(i / kChunkBytes * 7 + i);
    }
    return bytes;
  }

  std::vector<v1::ImportMapRequest> parts_;
};

TEST_F(TransferTest, ImportsInChunksNoneOfThemEmpty) {
  for (const auto& [size, chunks] :
       {std::pair(2 * kChunkBytes + 1, 3), {2 * kChunkBytes, 2}, {std::size_t{0}, 0}}) {
    const std::string bytes = Bytes(size);
    ASSERT_TRUE(client_.ImportMap(Header(), bytes).ok());
    ExpectParts(bytes, chunks);
  }
}

TEST_F(TransferTest, ImportsAFile) {
  const std::string bytes = Bytes(kChunkBytes + 5);
  std::istringstream file(bytes);
  ASSERT_TRUE(client_.ImportMap(Header(), file).ok());
  ExpectParts(bytes, 2);
}

TEST_F(TransferTest, ImportsWhatIsLeftOfAFile) {
  std::istringstream file("skip..#.");
  file.seekg(4);
  ASSERT_TRUE(client_.ImportMap(Header(), file).ok());
  ExpectParts("..#.", 1);
}

TEST_F(TransferTest, AFileThatCannotSeekIsNotSent) {
  struct Pipe : std::streambuf {
  } pipe;
  std::istream file(&pipe);
  EXPECT_TRUE(absl::IsDataLoss(client_.ImportMap(Header(), file).status()));
  EXPECT_TRUE(parts_.empty());
}

TEST_F(TransferTest, ExportsHeaderAndBytes) {
  v1::MapInfo info;
  info.mutable_version()->set_revision(3);
  server_.ServeMap(info, {"..", "#."});
  const auto map = client_.ExportMap({});
  ASSERT_TRUE(map.ok()) << map.status();
  EXPECT_EQ(map->header.info().version().revision(), 3);
  EXPECT_EQ(map->bytes, "connectivity 8\nmap\n..\n#.\n");
}

TEST_F(TransferTest, ATruncatedExportIsAnError) {
  server_.export_map = [](auto&, const auto&, std::vector<v1::ExportMapResponse>& parts) {
    parts.resize(2);
    parts[0].mutable_header()->set_size(10);
    parts[1].set_chunk("...");
    return grpc::Status::OK;
  };
  EXPECT_TRUE(absl::IsDataLoss(client_.ExportMap({}).status()));
}

}  // namespace
}  // namespace waystar::client
