// What a server tells Prometheus, over real sockets.

#include <memory>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/batch.h"
#include "client/errors.h"
#include "gmock/gmock.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "server/service/metrics/store_metrics.h"
#include "tests/service/about_map.h"
#include "tests/service/handlers/watch/watches.h"
#include "tests/service/metrics/scrape.h"
#include "tests/service/test_server.h"
#include "tests/storage/folder/crashing_folder.h"
#include "tests/storage/folder/durable_store.h"
#include "tests/testing/patience.h"

namespace waystar {
namespace {

using ::grpc::health::v1::HealthCheckResponse;
using ::testing::Contains;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::SizeIs;

class MetricsTest : public ::testing::Test {
 protected:
  Scrape Metrics() { return ScrapeMetrics(server_.server().metrics_port()); }

  void Find(const std::string& map, v1::Cell start, v1::Cell goal) {
    static_cast<void>(server_.client().FindPath(PathRequest(map, start, goal)));
  }

  TestServer server_{WithPatientTransfers({.metrics_listen = "127.0.0.1:0"})};
  std::shared_ptr<grpc::Channel> channel_ = server_.NewChannel();
};

std::string FindPathSample(const std::string& name, const std::string& more = "") {
  return absl::StrCat(
      name, R"({grpc_type="unary",grpc_service="waystar.v1.PathService",grpc_method="FindPath")", more, "}");
}

TEST_F(MetricsTest, CountsCallsByMethodAndStatus) {
  server_.Create("m", {"..."});
  for (int i = 0; i < 3; ++i) {
    Find("m", CellAt(0, 0), CellAt(2, 0));
  }
  Find("m", CellAt(0, 0), CellAt(3, 0));
  const Scrape scrape = Metrics();
  EXPECT_THAT(scrape.strange, IsEmpty());
  EXPECT_EQ(scrape[FindPathSample("grpc_server_started_total")], 4);
  EXPECT_EQ(scrape[FindPathSample("grpc_server_msg_received_total")], 4);
  EXPECT_EQ(scrape[FindPathSample("grpc_server_msg_sent_total")], 3);
  EXPECT_EQ(scrape[FindPathSample("grpc_server_handled_total", ",grpc_code=\"OK\"")], 3);
  EXPECT_EQ(scrape[FindPathSample("grpc_server_handled_total", ",grpc_code=\"OutOfRange\"")], 1);
  EXPECT_EQ(scrape[FindPathSample("grpc_server_handling_seconds_count")], 4);
  EXPECT_EQ(scrape[FindPathSample("grpc_server_handling_seconds_bucket", ",le=\"+Inf\"")], 4);
  EXPECT_EQ(scrape.types.at("grpc_server_handling_seconds"), "histogram");
}

TEST_F(MetricsTest, CountsStreamsHealthAndWhatIsNeverCalled) {
  server_.Create("m", {"..."});
  EXPECT_TRUE(server_.client().CheckHealth({}).ok());
  auto request = About<v1::ExportMapRequest>("m");
  EXPECT_TRUE(server_.client().ExportMap(request).ok());
  const Scrape scrape = Metrics();
  EXPECT_EQ(scrape[R"(grpc_server_started_total{grpc_type="unary",grpc_service="grpc.health.v1.Health",)"
                   R"(grpc_method="Check"})"],
            1);
  EXPECT_EQ(scrape[R"(grpc_server_msg_sent_total{grpc_type="server_stream",)"
                   R"(grpc_service="waystar.v1.MapService",grpc_method="ExportMap"})"],
            2);
  EXPECT_THAT(scrape.samples,
              Contains(Key(FindPathSample("grpc_server_handled_total", ",grpc_code=\"OK\""))));
}

TEST_F(MetricsTest, StreamIsOneCallOfManyMessages) {
  server_.Create("m", {"....."});
  const auto stream = server_.client().StreamUpdates();
  v1::StreamUpdatesResponse answer;
  for (int x = 1; x < 4; ++x) {
    ASSERT_TRUE(stream->Send(BlockRequest("m", {CellAt(x, 0)})));
    ASSERT_TRUE(stream->Receive(answer));
  }
  const std::string labels =
      R"({grpc_type="bidi_stream",grpc_service="waystar.v1.MapService",grpc_method="StreamUpdates"})";
  const Scrape scrape = Metrics();
  EXPECT_EQ(scrape["grpc_server_started_total" + labels], 1);
  EXPECT_EQ(scrape["grpc_server_msg_received_total" + labels], 3);
  EXPECT_EQ(scrape["grpc_server_msg_sent_total" + labels], 3);
  EXPECT_EQ(scrape["grpc_server_handling_seconds_count" + labels], 0);
}

TEST_F(MetricsTest, CancelledWatchesOfHealthAreNoFaults) {
  const auto health = grpc::health::v1::Health::NewStub(channel_);
  BoundedContext context;
  const auto watch = health->Watch(&context, {});
  grpc::health::v1::HealthCheckResponse response;
  ASSERT_TRUE(watch->Read(&response));
  const std::string watches =
      R"({grpc_type="server_stream",grpc_service="grpc.health.v1.Health",grpc_method="Watch",grpc_code="Canceled"})";
  EXPECT_EQ(LogOf([&] {
              context.TryCancel();
              EXPECT_TRUE(WaitUntil([&] { return Metrics()["grpc_server_handled_total" + watches] > 0; },
                                    "the end of the watch in the metrics"));
            }),
            "");
}

TEST_F(MetricsTest, UnknownMethodsMakeNoLabels) {
  const std::set<std::string> before = Metrics().LabelsOf("grpc_server_started_total", "grpc_method");
  for (int i = 0; i < 200; ++i) {
    EXPECT_TRUE(absl::IsUnimplemented(
        CallRaw(*channel_, absl::StrCat("/made.up.Service", i, "/Method", i), "").status()));
  }
  const Scrape scrape = Metrics();
  EXPECT_EQ(scrape.LabelsOf("grpc_server_started_total", "grpc_method"), before);
  EXPECT_EQ(scrape[R"(grpc_server_started_total{grpc_type="unary",grpc_service="unknown",)"
                   R"(grpc_method="unknown"})"],
            200);
}

TEST_F(MetricsTest, MapNamesMakeOnlySoManyLabels) {
  std::set<std::string> names;
  for (int round = 0; round < 8; ++round) {
    for (int i = 0; i < 30; ++i) {
      server_.Create(absl::StrCat("map-", round, "-", i),
                     {std::string(static_cast<std::size_t>(i + 1), '.')});
    }
    // Nor do names of maps that there are not.
    Find(absl::StrCat("none-", round), CellAt(0, 0), CellAt(0, 0));
    const Scrape scrape = Metrics();
    EXPECT_EQ(scrape["waystar_maps{kind=\"grid\"}"], 30);
    const std::set<std::string> now = scrape.LabelsOf("waystar_map_bytes", "map");
    EXPECT_LE(now.size(), rpc::MapMetrics::kMaxMaps);
    names.insert(now.begin(), now.end());
    for (int i = 0; i < 30; ++i) {
      auto request = About<v1::DeleteMapRequest>(absl::StrCat("map-", round, "-", i));
      ASSERT_TRUE(server_.client().DeleteMap(request).ok());
    }
  }
  EXPECT_THAT(names, SizeIs(rpc::MapMetrics::kMaxNames));
}

TEST_F(MetricsTest, CountsSearchesByAlgorithmAndOutcome) {
  server_.Create("m", {"...#."});
  Find("m", CellAt(0, 0), CellAt(2, 0));
  Find("m", CellAt(0, 0), CellAt(4, 0));
  auto several = About<v1::FindPathsRequest>("m");
  several.set_algorithm(v1::ALGORITHM_ASTAR);
  for (int x = 0; x < 2; ++x) {
    client::AddEnds(PathRequest("", CellAt(x, 0), CellAt(2, 0)), several);
  }
  ASSERT_TRUE(server_.client().FindPaths(several).ok());
  const Scrape scrape = Metrics();
  EXPECT_EQ(scrape.LabelsOf("waystar_search_seconds_count", "outcome"),
            (std::set<std::string>{"found", "unreachable"}));
  EXPECT_THAT(scrape.LabelsOf("waystar_search_seconds_count", "algorithm"), Contains("jump_point_search"));
  double searches = 0;
  for (const auto& [sample, value] : scrape.samples) {
    searches += absl::StartsWith(sample, "waystar_search_expansions_count{") ? value : 0;
  }
  EXPECT_EQ(searches, 4);
  EXPECT_EQ(scrape["waystar_query_wait_seconds_count"], 3);
}

TEST_F(MetricsTest, CountsSearchesOfTracesAndAgents) {
  server_.Create("m", {"..."});
  v1::TraceSearchRequest trace;
  *trace.mutable_query() = PathRequest("m", CellAt(0, 0), CellAt(2, 0));
  trace.mutable_query()->set_algorithm(v1::ALGORITHM_ASTAR);
  ASSERT_TRUE(server_.client().TraceSearch(trace, [](const v1::SearchEvent&) {}).ok());
  FollowedPath followed(server_, trace.query());
  ASSERT_TRUE(followed.Next().has_answer());
  const Scrape scrape = Metrics();
  EXPECT_EQ(scrape["waystar_search_seconds_count{algorithm=\"astar\",outcome=\"found\"}"], 2);
  EXPECT_EQ(scrape["waystar_query_wait_seconds_count"], 2);
}

TEST_F(MetricsTest, CountsWhatBecameOfUpdates) {
  server_.Create("m", {"....."});
  v1::UpdateMapRequest update = BlockRequest("m", {CellAt(1, 0), CellAt(2, 0)});
  update.set_request_id("once");
  EXPECT_TRUE(server_.client().UpdateMap(update).ok());
  EXPECT_TRUE(server_.client().UpdateMap(update).ok());
  v1::UpdateMapRequest stale = BlockRequest("m", {CellAt(3, 0)});
  *stale.mutable_expected_version() = VersionOf(server_, "m");
  stale.mutable_expected_version()->set_revision(1);
  EXPECT_FALSE(server_.client().UpdateMap(stale).ok());
  EXPECT_FALSE(server_.client().UpdateMap(BlockRequest("none", {CellAt(3, 0)})).ok());
  auto empty = About<v1::UpdateMapRequest>("m");
  EXPECT_FALSE(server_.client().UpdateMap(empty).ok());
  const auto stream = server_.client().StreamUpdates();
  EXPECT_TRUE(stream->Send(BlockRequest("m", {CellAt(4, 0)})));
  v1::StreamUpdatesResponse answer;
  EXPECT_TRUE(stream->Receive(answer));

  const Scrape scrape = Metrics();
  EXPECT_EQ(scrape["waystar_update_batches_total{result=\"applied\"}"], 2);
  EXPECT_EQ(scrape["waystar_update_batches_total{result=\"repeated\"}"], 1);
  EXPECT_EQ(scrape["waystar_update_refusals_total{reason=\"STALE_REVISION\"}"], 1);
  EXPECT_EQ(scrape["waystar_update_refusals_total{reason=\"MAP_NOT_FOUND\"}"], 1);
  EXPECT_EQ(scrape["waystar_update_refusals_total{reason=\"EMPTY_BATCH\"}"], 1);
  EXPECT_EQ(scrape["waystar_commits_total"], 2);
  EXPECT_EQ(scrape["waystar_snapshots_total"], 2);
  EXPECT_EQ(scrape["waystar_edits_total"], 2);
  EXPECT_EQ(scrape["waystar_changed_cells_total"], 3);
  EXPECT_EQ(scrape["waystar_map_revision{map=\"m\"}"], 3);
}

TEST_F(MetricsTest, TellsOfWatchesTransfersAndWhoHoldsWhichRevision) {
  LargeExport reading(server_);
  auto request = About<v1::WatchMapRequest>("large");
  auto watch = server_.client().WatchMap(request);
  v1::WatchMapResponse event;
  ASSERT_TRUE(watch->Next(event));
  ASSERT_TRUE(server_.client().UpdateMap(BlockRequest("large", {CellAt(1, 1)})).ok());

  const Scrape scrape = Metrics();
  EXPECT_EQ(scrape["waystar_watches"], 1);
  EXPECT_EQ(scrape["waystar_transfers"], 1);
  for (const char* const sample :
       {"waystar_clients", "waystar_client_calls_refused_total", "waystar_transfers_waiting",
        "waystar_transfers_refused_total{limit=\"client\"}", "waystar_watches_refused_total{limit=\"all\"}",
        "waystar_call_memory_bytes", "waystar_call_memory_refused_total{limit=\"connection\"}",
        "waystar_tokens_refused_total", "waystar_connections_turned_out_total"}) {
    EXPECT_TRUE(scrape.samples.contains(sample)) << sample;
  }
  EXPECT_EQ(scrape["waystar_maps{kind=\"grid\"}"], 1);
  EXPECT_GT(scrape["waystar_maps_bytes"], 5000 * 5000 / 8);
  EXPECT_EQ(scrape["waystar_map_bytes{map=\"large\"}"], scrape["waystar_maps_bytes"]);
  EXPECT_EQ(scrape["waystar_map_revision{map=\"large\"}"], 2);

  EXPECT_TRUE(reading.ReadToTheEnd().ok());
  EXPECT_EQ(Metrics()["waystar_transfers"], 0);
  // The client hears of the end before the export lets its snapshot go.
  EXPECT_TRUE(WaitUntil([&] { return Metrics()["waystar_old_snapshots"] == 0; }, "the old snapshot to go"));
  EXPECT_EQ(Metrics()["waystar_map_oldest_pinned_revision{map=\"large\"}"], 2);
}

TEST_F(MetricsTest, TellsOfTheProcess) {
  const Scrape scrape = Metrics();
  EXPECT_GT(scrape["process_resident_memory_bytes"], 1 << 20);
  EXPECT_GT(scrape["process_virtual_memory_bytes"], scrape["process_resident_memory_bytes"]);
  EXPECT_GT(scrape["process_open_fds"], 3);
  EXPECT_GT(scrape["process_max_fds"], scrape["process_open_fds"]);
  EXPECT_GT(scrape["process_threads"], 2);
  // After the year 2020, and not long ago.
  EXPECT_GT(scrape["process_start_time_seconds"], 1'577'836'800);
  EXPECT_THAT(scrape.LabelsOf("waystar_build_info", "version"), SizeIs(1));
  EXPECT_THAT(scrape.samples, Contains(Key("waystar_log_lines_dropped_total")));
  EXPECT_THAT(Metrics()["process_cpu_seconds_total"], Ge(scrape["process_cpu_seconds_total"]));
}

TEST(MetricsPortTest, IsOffUnlessAskedFor) {
  TestServer server;
  EXPECT_EQ(server.server().metrics_port(), 0);
}

// What a server tells of its data folder: in statistics, metrics and health, while the disk works and while
// it fails.

class StorageStatusTest : public ::testing::Test {
 protected:
  StorageStatusTest() { server_.Create("arena", {"..."}); }

  double SumOf(const std::string& family) { return client::SumOf(server_.Metrics(), family); }
  // Returns the conditions, one per line.
  std::string Conditions() {
    std::string lines;
    const v1::GetMetricsResponse metrics = server_.Metrics();
    for (const v1::Condition& condition : metrics.conditions()) {
      absl::StrAppend(&lines, condition.metric(), ": ", condition.text(), "\n");
    }
    return lines;
  }

  absl::Status Block(int x) {
    return server_.client().UpdateMap(BlockRequest("arena", {CellAt(x, 0)})).status();
  }

  // Answers and statistics know of a change before health does.
  bool WaitForHealth(HealthCheckResponse::ServingStatus status) {
    return WaitUntil([&] { return HealthOf(server_.NewChannel(), "waystar.storage") == status; },
                     "the health of the storage");
  }

  CrashingFolder folder_;
  TestServer server_{
      {.data_dir = "in memory", .metrics_listen = "127.0.0.1:0"}, absl::Hours(1), OpenBorrowed(folder_)};
};

TEST_F(StorageStatusTest, CountsWhatIsWritten) {
  const v1::GetMetricsResponse before = server_.Metrics();
  EXPECT_EQ(client::SumOf(before, "waystar_storage_commit_seconds"), 1);
  ASSERT_TRUE(Block(0).ok());
  const v1::GetMetricsResponse after = server_.Metrics();
  EXPECT_EQ(client::SumOf(after, "waystar_storage_commit_seconds"), 2);
  for (const char* const grows :
       {"waystar_storage_sync_seconds", "waystar_storage_written_bytes_total", "waystar_storage_log_bytes"}) {
    EXPECT_GT(client::SumOf(after, grows), client::SumOf(before, grows)) << grows;
  }
  EXPECT_EQ(client::SumOf(after, "waystar_storage_loss_window_seconds"), 0);
  EXPECT_EQ(after.conditions_size(), 0);
  const Scrape scrape = ScrapeMetrics(server_.server().metrics_port());
  EXPECT_EQ(scrape.types.at("waystar_storage_commit_seconds"), "histogram");
  EXPECT_EQ(scrape["waystar_storage_commit_seconds_count"], 2);
  EXPECT_GT(scrape["waystar_storage_commit_seconds_sum"], 0);
  EXPECT_EQ(scrape["waystar_storage_commit_seconds_bucket{le=\"+Inf\"}"], 2);
  EXPECT_EQ(scrape.types.at("waystar_storage_sync_seconds"), "histogram");
  EXPECT_EQ(scrape["waystar_storage_refuses"], 0);
}

TEST_F(StorageStatusTest, HealthTellsWhileChangesAreRefused) {
  EXPECT_EQ(HealthOf(server_.NewChannel(), "waystar.storage"), HealthCheckResponse::SERVING);
  folder_.FailAfter(0, true);
  const absl::Status refused = Block(0);
  EXPECT_EQ(client::ReasonOf(refused), "STORAGE_FAILED");
  EXPECT_EQ(client::RetryDelayOf(refused), absl::Seconds(1));
  EXPECT_TRUE(WaitForHealth(HealthCheckResponse::NOT_SERVING));
  EXPECT_EQ(SumOf("waystar_storage_refuses"), 1);
  EXPECT_THAT(Conditions(), ::testing::MatchesRegex("waystar_storage_refuses: changes are refused: .+\n"));
  EXPECT_EQ(SumOf("waystar_storage_refusals_total"), 1);
  EXPECT_EQ(ScrapeMetrics(server_.server().metrics_port())["waystar_storage_refuses"], 1);
  // Queries go on.
  EXPECT_EQ(HealthOf(server_.NewChannel(), ""), HealthCheckResponse::SERVING);
  EXPECT_TRUE(server_.client().FindPath(PathRequest("arena", CellAt(0, 0), CellAt(2, 0))).ok());

  folder_.StopFailing();
  EXPECT_TRUE(WaitUntil([&] { return Conditions().empty(); }, "the disk's recovery"));
  EXPECT_TRUE(WaitForHealth(HealthCheckResponse::SERVING));
  EXPECT_TRUE(Block(0).ok());
}

TEST(StorageMetricsTest, AreAbsentInMemory) {
  TestServer server;
  EXPECT_TRUE(client::MetricsOf(server.Metrics(), "waystar_storage_refuses").empty());
}

}  // namespace
}  // namespace waystar
