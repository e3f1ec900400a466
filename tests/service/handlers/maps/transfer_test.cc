// ImportMap and ExportMap, the streams.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "client/errors.h"
#include "gmock/gmock.h"
#include "tests/service/about_map.h"
#include "tests/service/auth/guarded_server.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_codes.h"
#include "waystar/v1/map_service.grpc.pb.h"
#include "waystar/v1/server_service.grpc.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar {
namespace {

v1::ImportMapRequest Header(const std::string& map, std::size_t size) {
  v1::ImportMapRequest request;
  request.mutable_header()->set_map(map);
  request.mutable_header()->set_size(static_cast<std::int64_t>(size));
  return request;
}

v1::ImportMapRequest Chunk(const std::string& bytes) {
  v1::ImportMapRequest request;
  request.set_chunk(bytes);
  return request;
}

// An import that is sent message by message.
class Import {
 public:
  explicit Import(const TestServer& server) : stub_(v1::MapService::NewStub(server.NewChannel())) {
    writer_ = stub_->ImportMap(&context_, &response_);
  }

  // False once the server has ended the call.
  bool Send(const v1::ImportMapRequest& message) { return writer_->Write(message); }

  absl::StatusOr<v1::ImportMapResponse> End() {
    writer_->WritesDone();
    return Answer();
  }

  // Waits for the server to end the call, without ending the stream.
  absl::StatusOr<v1::ImportMapResponse> Answer() {
    const grpc::Status status = writer_->Finish();
    if (!status.ok()) {
      return client::FromGrpc(status);
    }
    return response_;
  }

  void Cancel() { context_.TryCancel(); }

 private:
  std::unique_ptr<v1::MapService::Stub> stub_;
  BoundedContext context_;
  v1::ImportMapResponse response_;
  std::unique_ptr<grpc::ClientWriter<v1::ImportMapRequest>> writer_;
};

absl::StatusOr<v1::ImportMapResponse> SendAll(const TestServer& server,
                                              const std::vector<v1::ImportMapRequest>& messages) {
  Import import(server);
  for (const v1::ImportMapRequest& message : messages) {
    if (!import.Send(message)) {
      break;
    }
  }
  return import.End();
}

bool HasMap(TestServer& server, const std::string& map) {
  auto request = About<v1::GetMapRequest>(map);
  return server.client().GetMap(request).ok();
}

TEST(ImportTest, ChunksMaySplitAnywhere) {
  TestServer server;
  const std::string file = "type octile\nheight 2\nwidth 3\nmap\n.S@\nTTW\n";
  v1::ImportMapRequest header = Header("split", file.size());
  header.mutable_header()->set_format(v1::MAP_FORMAT_MOVING_AI);
  std::vector<v1::ImportMapRequest> messages = {header};
  for (const char c : file) {
    messages.push_back(Chunk(std::string(1, c)));
  }
  const auto imported = SendAll(server, messages).value();
  EXPECT_EQ(imported.info().map(), "split");
  EXPECT_EQ(imported.info().grid().walkable_cells(), 2);
}

TEST(ImportTest, FilesHaveALaneOfTheirOwn) {
  TestServer server;
  const std::string file = "type octile\nheight 1\nwidth 1\nmap\n.\n";
  ASSERT_TRUE(SendAll(server, {Header("sent", file.size()), Chunk(file)}).ok());
  auto create = About<v1::CreateMapRequest>("created");
  create.set_data(file);
  ASSERT_TRUE(server.client().CreateMap(create).ok());
  server.Create("drawn", {"."});
  const v1::GetMetricsResponse metrics = server.Metrics();
  EXPECT_EQ(client::SumOf(metrics, "waystar_queue_started_total", {{"lane", "imports"}}), 2);
  EXPECT_EQ(client::SumOf(metrics, "waystar_queue_started_total", {{"lane", "large"}}), 1);
}

// What both ways to read a file tell of what they pass over.
TEST(ImportTest, TellsWhatIsPassedOver) {
  const std::string file =
      R"(<map orientation="orthogonal" width="2" height="1" tilewidth="16" tileheight="16">
 <layer name="a" width="2" height="1" visible="0"><data encoding="csv">0,0</data></layer>
 <layer name="b" width="2" height="1" visible="0"><data encoding="csv">0,0</data></layer></map>)";
  TestServer server;
  auto header = About<v1::ImportMapHeader>("imported");
  const auto imported = server.client().ImportMap(header, file).value();
  ASSERT_EQ(imported.notes_size(), 2);
  EXPECT_EQ(imported.notes(0).text(), "hidden layers are not read");
  EXPECT_EQ(imported.notes(0).first_place(), "layer \"a\" (line 2)");
  EXPECT_EQ(imported.notes(0).count(), 2);
  EXPECT_THAT(imported.notes(1).text(),
              ::testing::HasSubstr("nothing in the file says that anything blocks"));

  auto request = About<v1::CreateMapRequest>("created");
  request.set_data(file);
  const auto created = server.client().CreateMap(request).value();
  ASSERT_EQ(created.notes_size(), 2);
  EXPECT_EQ(created.notes(0).SerializeAsString(), imported.notes(0).SerializeAsString());
}

TEST(ImportTest, LargeMapRoundTrips) {
  TestServer server;
  std::string file;
  for (std::size_t y = 0; y < 3000; ++y) {
    file += std::string(y % 7, '#') + std::string(3000 - y % 7, '.') + "\n";
  }
  auto header = About<v1::ImportMapHeader>("large");
  const auto imported = server.client().ImportMap(header, file).value();
  auto request = About<v1::ExportMapRequest>("large");
  const auto exported = server.client().ExportMap(request).value();
  EXPECT_TRUE(exported.bytes == file);
  EXPECT_EQ(exported.header.info().version().revision(), 1U);
  EXPECT_EQ(exported.header.format(), v1::MAP_FORMAT_TEXT);
}

TEST(ImportTest, RefusesBadStreams) {
  TestServer server;
  server.Create("taken", {"."});
  EXPECT_THAT(SendAll(server, {}), IsRefused(kInvalid, "BAD_STREAM", "header"));
  EXPECT_THAT(SendAll(server, {Chunk("..")}), IsRefused(kInvalid, "BAD_STREAM", "header"));
  EXPECT_THAT(SendAll(server, {Header("m", 1), Header("m", 1)}), IsRefused(kInvalid, "BAD_STREAM", "header"));
  EXPECT_THAT(SendAll(server, {Header("m", 1), {}}), IsRefused(kInvalid, "BAD_STREAM", "part"));
  EXPECT_THAT(SendAll(server, {Header("../m", 1)}), IsRefused(kInvalid, "BAD_MAP_ID", "header.map"));
  EXPECT_THAT(SendAll(server, {Header("taken", 1)}),
              IsRefused(absl::StatusCode::kAlreadyExists, "MAP_EXISTS", "header.map"));
  EXPECT_THAT(SendAll(server, {Header("m", 6), Chunk("...\n..")}), IsRefused(kInvalid, "BAD_ROW", "chunk"));
  EXPECT_THAT(SendAll(server, {Header("m", 0)}), IsRefused(kInvalid, "BAD_SIZE", "chunk"));

  v1::ImportMapRequest header = Header("m", 1);
  header.mutable_header()->set_format(static_cast<v1::MapFormat>(99));
  EXPECT_THAT(SendAll(server, {header, Chunk(".")}),
              IsRefused(kInvalid, "UNKNOWN_ENUM_VALUE", "header.format"));
  header = Header("m", 1);
  header.mutable_header()->mutable_grid()->mutable_squares()->set_diagonal_cost(3.0);
  EXPECT_THAT(SendAll(server, {header, Chunk(".")}),
              IsRefused(kInvalid, "BAD_VALUE", "header.grid.squares.diagonal_cost"));
  header = Header("m", 1);
  header.mutable_header()->clear_size();
  EXPECT_THAT(SendAll(server, {header, Chunk(".")}), IsRefused(kInvalid, "MISSING_FIELD", "header.size"));
  header.mutable_header()->set_size(-1);
  EXPECT_THAT(SendAll(server, {header, Chunk(".")}), IsRefused(kInvalid, "BAD_VALUE", "header.size"));
  EXPECT_FALSE(HasMap(server, "m"));
}

// Waits until the server has let go of every transfer, whatever its client has been told.
void WaitForFreeTransfer(TestServer& server) {
  auto probe = About<v1::ExportMapRequest>("probe");
  EXPECT_TRUE(WaitUntil(
      [&] { return client::ReasonOf(server.client().ExportMap(probe).status()) != "TRANSFERS_BUSY"; },
      "a free transfer"));
}

// A whole map in what has arrived: only the promised size tells that more was to come.
TEST(ImportTest, StreamThatEndsEarlyCreatesNothing) {
  TestServer server({.max_transfers = 1});
  EXPECT_THAT(SendAll(server, {Header("m", 8), Chunk("...\n")}),
              IsRefused(kInvalid, "TRUNCATED", "header.size"));
  WaitForFreeTransfer(server);
  EXPECT_THAT(SendAll(server, {Header("m", 8), Chunk("...\n...\n...\n")}),
              IsRefused(kInvalid, "TRUNCATED", "header.size"));
  WaitForFreeTransfer(server);
  EXPECT_FALSE(HasMap(server, "m"));

  Import cancelled(server);
  ASSERT_TRUE(cancelled.Send(Header("m", 8)));
  cancelled.Send(Chunk("...\n"));
  cancelled.Cancel();
  EXPECT_EQ(cancelled.Answer().status().code(), absl::StatusCode::kCancelled);
  WaitForFreeTransfer(server);
  EXPECT_FALSE(HasMap(server, "m"));
}

TEST(ImportTest, StreamThatNeverEndsIsCutShort) {
  TestServer server({.max_transfers = 1, .transfer_timeout = absl::Milliseconds(50)});
  Import import(server);
  import.Send(Header("m", 8));
  import.Send(Chunk("...\n"));
  EXPECT_THAT(import.Answer(), IsRefused(absl::StatusCode::kDeadlineExceeded, "TRANSFER_TIMEOUT", ""));
  WaitForFreeTransfer(server);
  EXPECT_FALSE(HasMap(server, "m"));
}

TEST(ImportTest, FileOrChunkOverItsLimitIsRefused) {
  TestServer server({.max_message_bytes = 10'000, .max_import_bytes = 20'000, .max_transfers = 1});
  EXPECT_THAT(SendAll(server, {Header("m", 20'001)}),
              IsRefused(absl::StatusCode::kResourceExhausted, "IMPORT_TOO_LARGE", "header.size"));
  WaitForFreeTransfer(server);
  const auto oversized =
      SendAll(server, {Header("m", 12'004), Chunk("...\n"), Chunk(std::string(12'000, '.'))});
  EXPECT_EQ(oversized.status().code(), absl::StatusCode::kResourceExhausted) << oversized.status();
  WaitForFreeTransfer(server);
  EXPECT_FALSE(HasMap(server, "m"));
}

// Clients that give up at every moment of an import, so that cancelling meets reading, parsing and answering.
TEST(ImportTest, ClientsMayGiveUpAtAnyTime) {
  constexpr int kImports = 200;
  // A slot is free again some time after its client has gone: a slot for each leaves no refusal to mistake.
  TestServer server({.max_transfers = kImports});
  const std::string file = std::string(2000, '.') + "\n" + std::string(2000, '#') + "\n";
  for (int i = 0; i < kImports; ++i) {
    const std::string map = absl::StrCat("m", i);
    Import import(server);
    import.Send(Header(map, file.size()));
    import.Send(Chunk(file));
    std::thread canceller([&] { import.Cancel(); });
    const auto answer = import.End();
    canceller.join();
    if (answer.ok()) {
      EXPECT_TRUE(HasMap(server, map));
    } else {
      EXPECT_EQ(answer.status().code(), absl::StatusCode::kCancelled) << answer.status();
    }
  }
}

TEST(TransferTest, OneTooManyIsRefusedUntilAnotherEnds) {
  TestServer server(WithPatientTransfers({.max_transfers = 1}));
  LargeExport export_under_way(server);
  server.Create("small", {"."});
  auto request = About<v1::ExportMapRequest>("small");
  EXPECT_EQ(client::ReasonOf(server.client().ExportMap(request).status()), "TRANSFERS_BUSY");
  EXPECT_TRUE(export_under_way.ReadToTheEnd().ok());
  WaitForFreeTransfer(server);
  EXPECT_TRUE(server.client().ExportMap(request).ok());
}

TEST(TransferTest, OneClientLeavesAnotherASlot) {
  GuardedServer server(TokenLine("greedy", "admin:*"), WithPatientTransfers({.max_transfers = 4}));
  server.Create("small", {"."});
  const auto greedy = v1::MapService::NewStub(server.server().NewChannel());
  v1::ImportMapResponse response;
  std::vector<std::unique_ptr<BoundedContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientWriter<v1::ImportMapRequest>>> imports;
  for (int i = 0; i < 10; ++i) {
    ShowToken(*contexts.emplace_back(std::make_unique<BoundedContext>()), "greedy");
    imports.push_back(greedy->ImportMap(contexts.back().get(), &response));
    imports.back()->Write(Header(absl::StrCat("m", i), 8));
  }
  const auto operator_stub = v1::ServerService::NewStub(server.server().NewChannel());
  const auto transfers = [&] {
    BoundedContext context;
    ShowToken(context, "root");
    v1::GetMetricsResponse metrics;
    EXPECT_TRUE(operator_stub->GetMetrics(&context, {}, &metrics).ok());
    return client::SumOf(metrics, "waystar_transfers");
  };
  EXPECT_TRUE(WaitUntil([&] { return transfers() == 3; }, "the client's share"));
  auto request = About<v1::ExportMapRequest>("small");
  BoundedContext context;
  ShowToken(context, "root");
  const auto exported = server.maps().ExportMap(&context, request);
  v1::ExportMapResponse chunk;
  while (exported->Read(&chunk)) {
  }
  EXPECT_TRUE(exported->Finish().ok());
  EXPECT_EQ(transfers(), 3);
  for (std::size_t i = 0; i < imports.size(); ++i) {
    contexts[i]->TryCancel();
    EXPECT_EQ(imports[i]->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  EXPECT_TRUE(WaitUntil([&] { return transfers() == 0; }, "the end of the imports"));
}

// What is wrong with an import is told before it waits, and its file is not read before it has a slot.
TEST(ImportTest, WaitsForOthersBeforeItsFileIsRead) {
  TestServer server(WithPatientTransfers({.max_transfers = 1}));
  LargeExport export_under_way(server);
  EXPECT_THAT(SendAll(server, {Header("../m", 1)}), IsRefused(kInvalid, "BAD_MAP_ID", "header.map"));
  const std::string file = std::string(4000, '.') + "\n";
  std::string large;
  for (int y = 0; y < 4000; ++y) {
    large += file;
  }
  std::atomic<bool> is_sent = false;
  absl::StatusOr<v1::ImportMapResponse> imported;
  std::thread importing([&] {
    Import import(server);
    bool is_open = import.Send(Header("m", large.size()));
    for (std::size_t sent = 0; is_open && sent < large.size(); sent += file.size() * 16) {
      is_open = import.Send(Chunk(large.substr(sent, file.size() * 16)));
    }
    is_sent = true;
    imported = import.End();
  });
  const auto imports = [&] { return server.CountsOf("waystar.v1.MapService/ImportMap").open_calls; };
  EXPECT_TRUE(WaitUntil([&] { return imports() == 1; }, "the import"));
  EXPECT_FALSE(HasMap(server, "m"));
  EXPECT_FALSE(is_sent) << "the transport holds back what is not read";
  EXPECT_TRUE(export_under_way.ReadToTheEnd().ok());
  importing.join();
  EXPECT_TRUE(imported.ok()) << imported.status();
}

TEST(ImportTest, WaitsForOthersNoLongerThanATransferMayTake) {
  TestServer server({.max_transfers = 1, .transfer_timeout = absl::Milliseconds(500)});
  Import first(server);
  Import second(server);
  first.Send(Header("m", 8));
  second.Send(Header("n", 8));
  std::vector<std::string> reasons = {client::ReasonOf(first.Answer().status()),
                                      client::ReasonOf(second.Answer().status())};
  EXPECT_THAT(reasons, ::testing::Contains("TRANSFER_TIMEOUT"));
  EXPECT_THAT(reasons, ::testing::Each(::testing::AnyOf("TRANSFER_TIMEOUT", "TRANSFERS_BUSY")));
}

TEST(ImportTest, ClientThatSendsNothingIsCutShort) {
  TestServer server({.max_transfers = 1, .transfer_stall_timeout = absl::Milliseconds(50)});
  Import import(server);
  import.Send(Header("m", 8));
  const auto refused = import.Answer();
  EXPECT_THAT(refused, IsRefused(absl::StatusCode::kDeadlineExceeded, "TRANSFER_TIMEOUT", ""));
  EXPECT_THAT(refused.status().message(), ::testing::HasSubstr("sent nothing"));
}

TEST(ExportTest, RefusesWhatItCannotWrite) {
  TestServer server;
  server.Create("river", {".~"}, Parsed<v1::GridOptions>("terrains { symbol: '~' cost: 2 }"));
  auto request = About<v1::ExportMapRequest>("river");
  request.set_format(v1::MAP_FORMAT_MOVING_AI);
  EXPECT_THAT(server.client().ExportMap(request),
              IsRefused(absl::StatusCode::kFailedPrecondition, "NOT_EXPRESSIBLE", "format"));
  request.set_format(static_cast<v1::MapFormat>(99));
  EXPECT_THAT(server.client().ExportMap(request), IsRefused(kInvalid, "UNKNOWN_ENUM_VALUE", "format"));
  request.set_map("nowhere");
  request.set_format(v1::MAP_FORMAT_TEXT);
  EXPECT_THAT(server.client().ExportMap(request),
              IsRefused(absl::StatusCode::kNotFound, "MAP_NOT_FOUND", "map"));
}

// A client that asks for a large map and does not read it loses its slot. That it may not read on for ever
// either is tested by StreamingCallTest: both times come to the call together.
TEST(ExportTest, ClientThatStopsReadingIsCutShort) {
  TestServer server(
      {.max_transfers = 1, .transfer_timeout = absl::Hours(1), .transfer_stall_timeout = absl::Seconds(4)});
  LargeExport export_under_way(server);
  WaitForFreeTransfer(server);
  EXPECT_EQ(export_under_way.ReadToTheEnd().error_code(), grpc::StatusCode::CANCELLED);
}

// Images of maps that move from one server to another.

// With its obstacles, portals and profiles, and what becomes of them there is what becomes of them here.
TEST(MapImageRpcTest, AnImageMovesAMapToAnotherServer) {
  TestServer here;
  TestServer there;
  here.Create("arena", {"......", "......", "......"},
              Parsed<v1::GridOptions>("profiles { name: 'cart' profile { footprint: 2 } }"));
  const auto request = Parsed<v1::UpdateMapRequest>(R"(
    map: "arena"
    edits { add_obstacle {
      id: "crate" shape { cells { x: 2 y: 1 } } lifetime { seconds: 3600 }
    } }
    edits { add_portal { id: "stairs" from {} to { x: 5 y: 2 } } })");
  const auto updated = here.client().UpdateMap(request).value();

  auto wanted = About<v1::ExportMapRequest>("arena");
  wanted.set_format(v1::MAP_FORMAT_WAYSTAR);
  const auto image = here.client().ExportMap(wanted).value();
  EXPECT_EQ(image.header.format(), v1::MAP_FORMAT_WAYSTAR);
  EXPECT_EQ(image.header.info().digest(), updated.digest());
  auto header = About<v1::ImportMapHeader>("arena");
  const auto imported = there.client().ImportMap(header, image.bytes).value();
  EXPECT_EQ(imported.info().version().revision(), 1U);
  EXPECT_EQ(imported.info().digest(), updated.digest());
  EXPECT_EQ(there.client().ExportMap(wanted)->bytes, image.bytes);
  auto list = About<v1::ListObstaclesRequest>("arena");
  const auto obstacles = there.client().ListObstacles(list);
  ASSERT_EQ(obstacles->obstacles_size(), 1);
  EXPECT_GT(obstacles->obstacles(0).lifetime().seconds(), 3000);
  EXPECT_EQ(there.Find(PathRequest("arena", CellAt(0, 0), CellAt(5, 2))).path().crossings_size(), 1);

  header.set_map("other");
  EXPECT_THAT(there.client().ImportMap(header, image.bytes.substr(0, 60)),
              IsRefused(kInvalid, "BAD_FORMAT", "chunk"));
  header.mutable_grid()->set_cell_size(2.0);
  EXPECT_THAT(there.client().ImportMap(header, image.bytes),
              IsRefused(kInvalid, "BAD_SOURCE", "header.grid"));
}

TEST(MapImageRpcTest, AGraphHasNoOtherFormat) {
  TestServer server;
  const auto create = Parsed<v1::CreateMapRequest>(R"(map: "roads" graph { nodes { id: "gate" } })");
  ASSERT_TRUE(server.client().CreateMap(create).ok());
  EXPECT_THAT(server.client().ExportMap(About<v1::ExportMapRequest>("roads")),
              IsRefused(absl::StatusCode::kFailedPrecondition, "WRONG_MAP_KIND", "map"));
}

class ReplacingImportTest : public ::testing::Test {
 protected:
  ReplacingImportTest() {
    server_.Create("arena", {"......", "......"});
    server_.Create("yard", {"..#"});
    header_.set_map("arena");
    header_.set_format(v1::MAP_FORMAT_WAYSTAR);
    header_.set_replace(true);
    auto wanted = About<v1::ExportMapRequest>("yard");
    wanted.set_format(v1::MAP_FORMAT_WAYSTAR);
    const auto image = server_.client().ExportMap(wanted);
    EXPECT_TRUE(image.ok()) << image.status();
    image_ = image->bytes;
    header_.set_expected_digest(image->header.info().digest());
  }

  v1::MapInfo Arena() { return InfoOf(server_, "arena"); }

  TestServer server_;
  v1::ImportMapHeader header_;
  std::string image_;
};

TEST_F(ReplacingImportTest, PutsTheMapInThePlaceOfTheOneThatIsThere) {
  ASSERT_TRUE(server_.client().UpdateMap(BlockRequest("arena", {CellAt(1, 0)})).ok());
  const v1::MapInfo before = Arena();
  EXPECT_EQ(before.version().revision(), 2U);
  const auto imported = server_.client().ImportMap(header_, image_).value();
  EXPECT_EQ(imported.info().digest(), header_.expected_digest());
  EXPECT_NE(imported.info().version().epoch(), before.version().epoch());
  EXPECT_EQ(imported.info().version().revision(), 1U);
  EXPECT_EQ(Arena().version().epoch(), imported.info().version().epoch());
}

TEST_F(ReplacingImportTest, OneThatIsRefusedChangesNothing) {
  const v1::MapInfo before = Arena();
  EXPECT_THAT(server_.client().ImportMap(header_, image_.substr(0, image_.size() - 1)),
              IsRefused(kInvalid, "BAD_FORMAT", "chunk"));
  header_.set_expected_digest(header_.expected_digest() + 1);
  EXPECT_THAT(server_.client().ImportMap(header_, image_),
              IsRefused(absl::StatusCode::kFailedPrecondition, "DIGEST_MISMATCH", "header.expected_digest"));
  EXPECT_EQ(Arena().version().epoch(), before.version().epoch());
  EXPECT_EQ(Arena().version().revision(), before.version().revision());
  header_.set_map("other");
  header_.set_replace(false);
  EXPECT_THAT(server_.client().ImportMap(header_, image_),
              IsRefused(absl::StatusCode::kFailedPrecondition, "DIGEST_MISMATCH", "header.expected_digest"));
  auto request = About<v1::GetMapRequest>("other");
  EXPECT_THAT(server_.client().GetMap(request),
              IsRefused(absl::StatusCode::kNotFound, "MAP_NOT_FOUND", "map"));
}

}  // namespace
}  // namespace waystar
