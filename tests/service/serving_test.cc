// The server as a whole: loading maps, health, many clients at once, stopping.

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "server/service/server.h"
#include "tests/service/bounded_context.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"

namespace waystar {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
using ::waystar::testing::BlockRequest;
using ::waystar::testing::BoundedContext;
using ::waystar::testing::CellAt;
using ::waystar::testing::kPatience;
using ::waystar::testing::PathRequest;
using ::waystar::testing::TestServer;
using ::waystar::testing::WaitUntil;
using ::waystar::testing::WithPatientTransfers;

class MapsDirTest : public ::testing::Test {
 protected:
  MapsDirTest() : folder_(std::filesystem::path(::testing::TempDir()) / absl::StrCat("maps-", ::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~MapsDirTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }

  absl::Status StartStatus() const {
    return rpc::Server::Start({.listen = "127.0.0.1:0", .maps_dir = folder_.string(), .workers = 1}).status();
  }

  std::filesystem::path folder_;
};

TEST_F(MapsDirTest, LoadsMapAndTextFilesUnderTheirStems) {
  Write("ARENA.map", "type octile\nheight 1\nwidth 3\nmap\n..@\n");
  Write("tiny.txt", "..\n");
  Write("README.md", "not a map");
  Write("ARENA.map.scen", "not a map");
  TestServer server({.maps_dir = folder_.string()});
  const auto listed = server.client().ListMaps({});
  ASSERT_TRUE(listed.ok()) << listed.status();
  ASSERT_EQ(listed->maps_size(), 2);
  EXPECT_EQ(listed->maps(0).map(), "arena");
  EXPECT_EQ(listed->maps(0).grid().walkable_cells(), 2);
  EXPECT_EQ(listed->maps(1).map(), "tiny");
}

TEST_F(MapsDirTest, RefusesToStartOnABadFileAndNamesIt) {
  Write("broken.map", "type octile\nheight 2\nwidth 3\nmap\n..@\n");
  EXPECT_EQ(StartStatus().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(StartStatus().message()),
              HasSubstr("broken.map: line 5: the file ends after 1 of the 2"));
}

TEST_F(MapsDirTest, RefusesToStartOnABadOrDoubleName) {
  Write("Bad Name.txt", "..\n");
  EXPECT_THAT(std::string(StartStatus().message()), HasSubstr("Bad Name.txt: a map's id"));
  std::filesystem::remove(folder_ / "Bad Name.txt");
  Write("twice.map", "type octile\nheight 1\nwidth 1\nmap\n.\n");
  Write("twice.txt", "..\n");
  EXPECT_THAT(std::string(StartStatus().message()), HasSubstr("twice.txt: there is a map \"twice\" already"));
}

TEST_F(MapsDirTest, RefusesToStartWithoutTheFolder) {
  std::filesystem::remove_all(folder_);
  EXPECT_EQ(StartStatus().code(), absl::StatusCode::kNotFound);
}

TEST_F(MapsDirTest, LeavesOutDamagedFilesIfItShould) {
  Write("good.txt", "..\n..\n");
  Write("bad.txt", "..?\n");
  Write("good.map", "type octile\nheight 1\nwidth 1\nmap\n.\n");
  Write("worse name.txt", ".\n");
  runtime::Options options{.maps_dir = folder_.string(), .skip_damaged_maps = true};
  TestServer server(options);
  const auto listed = server.client().ListMaps({});
  ASSERT_TRUE(listed.ok()) << listed.status();
  ASSERT_EQ(listed->maps_size(), 1);
  EXPECT_EQ(listed->maps(0).map(), "good");
  EXPECT_EQ(listed->maps(0).grid().width(), 1) << "the file that comes first";
  // That there is no room for a map is not the file's fault.
  options.max_maps = 0;
  options.workers = 1;
  options.listen = "127.0.0.1:0";
  EXPECT_EQ(rpc::Server::Start(options).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(ServingTest, ThreadsHaveNames) {
  TestServer server({.workers = 1});
  const auto has_all = [] {
    std::set<std::string> names;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
      std::string name;
      std::ifstream comm(thread.path() / "comm");
      std::getline(comm, name);
      names.insert(name);
    }
    const std::set<std::string> expected = {"expirer", "index-builder", "large-0", "map-watches", "small-0"};
    return std::includes(names.begin(), names.end(), expected.begin(), expected.end());
  };
  EXPECT_TRUE(WaitUntil(has_all, "the names of the threads"));
}

TEST(ServingTest, TakenAddressIsAnError) {
  TestServer first;
  const auto second = rpc::Server::Start({.listen = first.target(), .workers = 1});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(first.target()));
}

// A service that somebody watches and that does not exist is not listed.
TEST(ServingTest, ListsTheHealthOfItsServices) {
  TestServer server;
  const auto health = grpc::health::v1::Health::NewStub(server.NewChannel());
  BoundedContext watching;
  grpc::health::v1::HealthCheckRequest unknown;
  unknown.set_service("waystar.v1.NoService");
  const auto watch = health->Watch(&watching, unknown);
  grpc::health::v1::HealthCheckResponse seen;
  ASSERT_TRUE(watch->Read(&seen));
  EXPECT_EQ(seen.status(), grpc::health::v1::HealthCheckResponse::SERVICE_UNKNOWN);

  BoundedContext listing;
  grpc::health::v1::HealthListResponse listed;
  const grpc::Status status = health->List(&listing, grpc::health::v1::HealthListRequest(), &listed);
  ASSERT_TRUE(status.ok()) << status.error_message();
  std::vector<std::string> services;
  for (const auto& [service, answer] : listed.statuses()) {
    services.push_back(service);
    EXPECT_EQ(answer.status(), grpc::health::v1::HealthCheckResponse::SERVING) << service;
  }
  EXPECT_THAT(services, UnorderedElementsAre("", "waystar.v1.MapService", "waystar.v1.PathService",
                                             "waystar.v1.PictureService", "waystar.v1.ServerService"));
  EXPECT_TRUE(server.client().CheckHealth({}).ok());
  EXPECT_EQ(server.client().CheckHealth(unknown).status().code(), absl::StatusCode::kNotFound);
}

// Each answer is right for the revision it names: the door at (4, 2) is open at odd revisions.
TEST(ServingTest, ManyClientsAndAWriterAgree) {
  TestServer server({.workers = 3});
  server.Create("door", {"....#....", "....#....", ".........", "....#....", "....#...."});
  constexpr int kQueries = 300;
  constexpr int kBatches = 200;
  const auto ask = [&] {
    for (int i = 0; i < kQueries; ++i) {
      const auto response = server.client().FindPath(PathRequest("door", CellAt(0, 0), CellAt(8, 4)));
      ASSERT_TRUE(response.ok()) << response.status();
      ASSERT_EQ(response->outcome(),
                response->info().version().revision() % 2 == 1 ? v1::OUTCOME_FOUND : v1::OUTCOME_UNREACHABLE)
          << response->info().version().revision();
    }
  };
  std::thread first(ask);
  std::thread second(ask);
  v1::UpdateMapRequest close = BlockRequest("door", {CellAt(4, 2)});
  v1::UpdateMapRequest open;
  open.set_map("door");
  *open.add_edits()->mutable_unblock()->add_cells() = CellAt(4, 2);
  for (int i = 0; i < kBatches; ++i) {
    const auto updated = server.client().UpdateMap(i % 2 == 0 ? close : open);
    ASSERT_TRUE(updated.ok()) << updated.status();
    const auto seen = server.client().FindPath(PathRequest("door", CellAt(0, 0), CellAt(0, 0)));
    ASSERT_TRUE(seen.ok());
    ASSERT_GE(seen->info().version().revision(), updated->version().revision());
  }
  first.join();
  second.join();
}

// An export that is under way when the server is told to stop goes on to its end; new calls are refused.
TEST(ServingTest, StopFinishesCallsInFlight) {
  TestServer server(WithPatientTransfers());
  server.Create("there", {"."});
  ::waystar::testing::LargeExport export_under_way(server);
  // A watch of the health service would go on for ever; it must not hold up the stop.
  const auto health = grpc::health::v1::Health::NewStub(server.NewChannel());
  BoundedContext watching;
  const auto watch = health->Watch(&watching, grpc::health::v1::HealthCheckRequest());
  grpc::health::v1::HealthCheckResponse seen;
  ASSERT_TRUE(watch->Read(&seen));
  EXPECT_EQ(seen.status(), grpc::health::v1::HealthCheckResponse::SERVING);

  std::thread stop([&] { server.server().Stop(kPatience); });
  ASSERT_TRUE(watch->Read(&seen));
  EXPECT_EQ(seen.status(), grpc::health::v1::HealthCheckResponse::NOT_SERVING);
  absl::Status refused;
  const auto is_refused = [&] {
    refused = server.client().FindPath(PathRequest("there", CellAt(0, 0), CellAt(0, 0))).status();
    return !refused.ok();
  };
  EXPECT_TRUE(WaitUntil(is_refused, "the refusal of new calls"));
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable) << refused;
  EXPECT_EQ(client::ReasonOf(refused), "DRAINING");
  const grpc::Status status = export_under_way.ReadToTheEnd();
  EXPECT_TRUE(status.ok()) << status.error_message();
  stop.join();
}

}  // namespace
}  // namespace waystar
