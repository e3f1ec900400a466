// Recordings of what clients say to a real server, played back against others.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/client.h"
#include "client/record/proxy.h"
#include "client/record/recording_file.h"
#include "client/record/replay.h"
#include "client/record/units.h"
#include "gmock/gmock.h"
#include "tests/rpc/test_server.h"
#include "tests/testing/own_folder.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_codes.h"

namespace waystar::record {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::waystar::testing::BlockRequest;
using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kPatience;
using ::waystar::testing::OwnFolder;
using ::waystar::testing::PathRequest;
using ::waystar::testing::TestServer;
using ::waystar::testing::VersionOf;

const std::vector<std::string> kYard = {"......", "..##..", "......"};

class RecordTest : public ::testing::Test {
 protected:
  RecordTest() {
    server_.Create("yard", kYard);
    auto recording = RecordingWriter::Create(path_, {});
    EXPECT_TRUE(recording.ok()) << recording.status();
    auto proxy = Proxy::Start("127.0.0.1:0", {.target = server_.target()}, *std::move(recording));
    EXPECT_TRUE(proxy.ok()) << proxy.status();
    proxy_ = *std::move(proxy);
    client_ =
        std::make_unique<client::Client>(client::Options{.target = absl::StrCat("127.0.0.1:", proxy_->port()),
                                                         .timeout = kPatience,
                                                         .transfer_timeout = kPatience,
                                                         .retry = false,
                                                         .stream_timeout = kPatience});
  }

  absl::StatusOr<v1::FindPathResponse> Find(int goal_x, int goal_y) {
    return client_->FindPath(PathRequest("yard", CellAt(0, 1), CellAt(goal_x, goal_y)));
  }

  // Of what was recorded.
  ReplayReport ReplayAgainst(TestServer& server, const ReplayOptions& options = {}) {
    EXPECT_TRUE(proxy_->Stop().ok());
    const auto reader = RecordingReader::Open(path_);
    EXPECT_TRUE(reader.ok()) << reader.status();
    auto units = ReadUnits(**reader);
    EXPECT_TRUE(units.ok()) << units.status();
    auto report = Replay(*std::move(units), {.target = server.target(), .timeout = kPatience}, options,
                         [](const ReplayProgress&) {});
    EXPECT_TRUE(report.ok()) << report.status();
    return *std::move(report);
  }

  const OwnFolder folder_;
  const std::string path_ = folder_.PathOf("session.rec");
  TestServer server_;
  std::unique_ptr<Proxy> proxy_;
  std::unique_ptr<client::Client> client_;
};

TEST_F(RecordTest, AServerLikeTheRecordedOneShowsNoDifferences) {
  ASSERT_TRUE(Find(5, 1).ok());
  v1::UpdateObstaclesRequest update = BlockRequest("yard", {CellAt(2, 0)});
  *update.mutable_expected_version() = VersionOf(server_, "yard");
  ASSERT_TRUE(client_->UpdateObstacles(update).ok());
  ASSERT_TRUE(Find(5, 1).ok());
  EXPECT_THAT(Find(9, 1), IsRefused(absl::StatusCode::kOutOfRange, "OFF_MAP", "goals[0]"));
  v1::CreateMapRequest create;
  create.set_map("cell");
  create.add_rows("..");
  create.set_request_id("once");
  ASSERT_TRUE(client_->CreateMap(create).ok());
  v1::FindPathRequest query = PathRequest("cell", CellAt(0, 0), CellAt(1, 0));
  *query.mutable_view()->mutable_least_version() = VersionOf(server_, "cell");
  ASSERT_TRUE(client_->FindPath(query).ok());
  ASSERT_TRUE(client_->CreateMap(create)->already_created());
  v1::DeleteMapRequest gone;
  gone.set_map("cell");
  *gone.mutable_expected_version() = VersionOf(server_, "cell");
  ASSERT_TRUE(client_->DeleteMap(gone).ok());
  EXPECT_FALSE(client_->FindPath(PathRequest("cell", CellAt(0, 0), CellAt(1, 0))).ok());

  TestServer fresh;
  // So that its revisions have other numbers.
  fresh.Create("other", {"."});
  fresh.Create("yard", kYard);
  ASSERT_TRUE(fresh.client().UpdateObstacles(BlockRequest("yard", {CellAt(2, 0)})).ok());
  v1::UpdateObstaclesRequest undo;
  undo.set_map("yard");
  *undo.add_edits()->mutable_unblock()->add_cells() = CellAt(2, 0);
  ASSERT_TRUE(fresh.client().UpdateObstacles(undo).ok());

  const ReplayReport report = ReplayAgainst(fresh);
  EXPECT_EQ(report.played, 9);
  EXPECT_EQ(report.updates, 3);
  EXPECT_EQ(report.differing, 0) << report.differences.front().method << " "
                                 << report.differences.front().what;
}

// The new map has revisions that the old one had, too.
TEST_F(RecordTest, MapsThatAreCreatedAgainArePlayedBackInTheirOrder) {
  v1::CreateMapRequest create;
  create.set_map("cell");
  create.add_rows("...");
  create.add_rows("...");
  v1::DeleteMapRequest gone;
  gone.set_map("cell");
  for (const int row : {0, 1}) {
    ASSERT_TRUE(client_->CreateMap(create).ok());
    for (const int x : {1, 2}) {
      ASSERT_TRUE(client_->UpdateObstacles(BlockRequest("cell", {CellAt(x, row)})).ok());
      ASSERT_TRUE(client_->FindPath(PathRequest("cell", CellAt(0, 0), CellAt(0, 1))).ok());
    }
    ASSERT_TRUE(client_->DeleteMap(gone).ok());
  }
  TestServer fresh;
  const ReplayReport report = ReplayAgainst(fresh);
  EXPECT_EQ(report.played, 12);
  EXPECT_EQ(report.differing, 0) << report.differences.front().method << " "
                                 << report.differences.front().what;
}

TEST_F(RecordTest, AServerWithAnotherMapDoes) {
  ASSERT_TRUE(Find(5, 1).ok());
  ASSERT_TRUE(Find(0, 0).ok());
  TestServer other;
  other.Create("yard", {".#....", ".#..#.", ".#...."});
  const ReplayReport report = ReplayAgainst(other);
  EXPECT_EQ(report.played, 2);
  ASSERT_THAT(report.differences, SizeIs(1));
  EXPECT_EQ(report.differences[0].method, "waystar.v1.PathService/FindPath");
  EXPECT_EQ(report.differences[0].map, "yard");
  EXPECT_THAT(report.differences[0].what, HasSubstr("OUTCOME_FOUND -> OUTCOME_UNREACHABLE"));
}

TEST_F(RecordTest, StreamsArePlayedBackQueryByQuery) {
  const auto queries = client_->StreamFindPath();
  v1::StreamFindPathRequest message;
  for (const int x : {1, 5, 9}) {
    v1::StreamedQuery& query = *message.add_queries();
    query.set_id(static_cast<std::uint64_t>(x));
    *query.mutable_query() = PathRequest("yard", CellAt(0, 0), CellAt(x, 0));
  }
  ASSERT_TRUE(queries->Send(message));
  queries->EndSending();
  v1::StreamFindPathResponse answers;
  while (queries->Receive(answers)) {
  }
  ASSERT_TRUE(queries->Finish().ok());
  const auto updates = client_->StreamObstacleUpdates();
  ASSERT_TRUE(updates->Send(BlockRequest("yard", {CellAt(1, 1)})));
  ASSERT_TRUE(updates->Send(BlockRequest("yard", {CellAt(9, 9)})));
  updates->EndSending();
  v1::StreamObstacleUpdatesResponse answer;
  while (updates->Receive(answer)) {
  }
  ASSERT_TRUE(updates->Finish().ok());

  TestServer fresh;
  fresh.Create("yard", kYard);
  const ReplayReport report = ReplayAgainst(fresh);
  EXPECT_EQ(report.queries, 3);
  EXPECT_EQ(report.updates, 2);
  EXPECT_EQ(report.differing, 0) << report.differences.front().what;
}

TEST_F(RecordTest, UploadsArePlayedBackAndExportsAreNot) {
  ASSERT_TRUE(client_
                  ->ImportMap(
                      [] {
                        v1::ImportMapHeader header;
                        header.set_map("file");
                        return header;
                      }(),
                      "...\n.#.\n")
                  .ok());
  v1::ExportMapRequest request;
  request.set_map("file");
  const auto exported = client_->ExportMap(request);
  ASSERT_TRUE(exported.ok()) << exported.status();
  EXPECT_THAT(exported->bytes, HasSubstr(".#."));
  TestServer fresh;
  const ReplayReport report = ReplayAgainst(fresh);
  EXPECT_EQ(report.updates, 1);
  EXPECT_EQ(report.differing, 0);
  EXPECT_THAT(report.left_out, SizeIs(1));
  EXPECT_TRUE(fresh.client().FindPath(PathRequest("file", CellAt(0, 0), CellAt(2, 0))).ok());
}

TEST_F(RecordTest, OnlyQueriesOrOnlyUpdates) {
  ASSERT_TRUE(Find(5, 1).ok());
  ASSERT_TRUE(client_->UpdateObstacles(BlockRequest("yard", {CellAt(2, 0)})).ok());
  TestServer fresh;
  fresh.Create("yard", kYard);
  EXPECT_EQ(ReplayAgainst(fresh, {.only = Only::kQueries}).updates, 0);
  EXPECT_EQ(ReplayAgainst(fresh, {.only = Only::kUpdates}).queries, 0);
}

TEST_F(RecordTest, WatchesGoThroughAndEndWithTheProxy) {
  v1::WatchMapRequest request;
  request.set_map("yard");
  const auto watch = client_->WatchMap(request);
  v1::WatchMapResponse event;
  ASSERT_TRUE(watch->Next(event));
  ASSERT_TRUE(server_.client().UpdateObstacles(BlockRequest("yard", {CellAt(2, 0)})).ok());
  ASSERT_TRUE(watch->Next(event));
  EXPECT_TRUE(event.has_commit());
  EXPECT_TRUE(proxy_->Stop().ok());
  EXPECT_FALSE(watch->Next(event));
}

TEST_F(RecordTest, AClientThatGivesUpIsGivenUpOn) {
  v1::WatchMapRequest request;
  request.set_map("yard");
  for (int i = 0; i < 20; ++i) {
    const auto watch = client_->WatchMap(request);
    v1::WatchMapResponse event;
    ASSERT_TRUE(watch->Next(event));
    watch->Cancel();
  }
  EXPECT_TRUE(proxy_->Stop().ok());
}

TEST(ProxyTest, SaysWhyItCannotListen) {
  const OwnFolder folder;
  const std::string path = folder.PathOf("deaf.rec");
  const auto start = [&path](const std::string& listen) {
    auto recording = RecordingWriter::Create(path, {});
    EXPECT_TRUE(recording.ok());
    return Proxy::Start(listen, {.target = "127.0.0.1:1"}, *std::move(recording));
  };
  for (const char* const listen : {"", "7452", ":7452", "127.0.0.1:99999", "127.0.0.1:x"}) {
    EXPECT_EQ(start(listen).status().code(), absl::StatusCode::kInvalidArgument) << listen;
  }
  const auto first = start("127.0.0.1:0");
  ASSERT_TRUE(first.ok());
  const absl::Status in_use = start(absl::StrCat("127.0.0.1:", (*first)->port())).status();
  EXPECT_EQ(in_use.code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(in_use.message().find("in use"), absl::string_view::npos) << in_use;
  EXPECT_TRUE((*first)->Stop().ok());
}

TEST(ProxyTest, AServerThatIsNotThereIsUnavailableToItsClients) {
  const OwnFolder folder;
  auto recording = RecordingWriter::Create(folder.PathOf("nobody.rec"), {});
  ASSERT_TRUE(recording.ok());
  const auto proxy = Proxy::Start("127.0.0.1:0", {.target = "127.0.0.1:1"}, *std::move(recording));
  ASSERT_TRUE(proxy.ok());
  const client::Client client(
      {.target = absl::StrCat("127.0.0.1:", (*proxy)->port()), .timeout = kPatience, .retry = false});
  EXPECT_EQ(client.FindPath({}).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE((*proxy)->Stop().ok());
}

}  // namespace
}  // namespace waystar::record
