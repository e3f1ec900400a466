// What a server says about itself and what it has done, and what may be set while it runs.

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/service/metrics/metric_collector.h"
#include "server/service/metrics/store_metrics.h"
#include "tests/service/metrics/scrape.h"
#include "tests/service/test_server.h"
#include "tests/service/transport/net/tcp_client.h"
#include "tests/testing/status_codes.h"

namespace waystar::rpc {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;

class GetMetricsTest : public ::testing::Test {
 protected:
  double SumOf(const std::string& family, const client::MetricLabels& labels = {}) {
    return client::SumOf(server_.Metrics(), family, labels);
  }

  TestServer server_{{.metrics_listen = "127.0.0.1:0"}};
};

TEST_F(GetMetricsTest, CountsTheQueriesOfAStream) {
  server_.Create("m", {"..."});
  const auto stream = server_.client().StreamFindPath();
  v1::StreamFindPathRequest request;
  for (const int x : {1, 2, 9}) {
    v1::StreamedQuery& query = *request.add_queries();
    *query.mutable_query() = PathRequest("m", CellAt(0, 0), CellAt(x, 0));
  }
  ASSERT_TRUE(stream->Send(request));
  v1::StreamFindPathResponse answers;
  for (int answered = 0; answered < 3; answered += answers.answers_size()) {
    ASSERT_TRUE(stream->Receive(answers));
  }
  const auto streams = server_.CountsOf("waystar.v1.PathService/StreamFindPath");
  EXPECT_EQ(streams.requests, 3);
  EXPECT_EQ(streams.open_calls, 1);
  EXPECT_THAT(streams.failures, ElementsAre(Pair("OutOfRange", 1)));
  EXPECT_EQ(SumOf("waystar_stream_request_seconds", {{"grpc_method", "StreamFindPath"}}), 3);
}

TEST_F(GetMetricsTest, CountsTheBatchesOfAStream) {
  server_.Create("m", {"..."});
  const auto stream = server_.client().StreamUpdates();
  ASSERT_TRUE(stream->Send(waystar::BlockRequest("m", {CellAt(1, 0)})));
  ASSERT_TRUE(stream->Send(waystar::BlockRequest("m", {CellAt(9, 0)})));
  v1::StreamUpdatesResponse answer;
  ASSERT_TRUE(stream->Receive(answer));
  ASSERT_TRUE(stream->Receive(answer));
  const auto streams = server_.CountsOf("waystar.v1.MapService/StreamUpdates");
  EXPECT_EQ(streams.requests, 2);
  EXPECT_THAT(streams.failures, SizeIs(1));
}

TEST_F(GetMetricsTest, ListsTheLargestMapsFirst) {
  const int maps = rpc::MapMetrics::kMaxListedMaps;
  server_.Create("large", std::vector<std::string>(400, std::string(400, '.')));
  for (int i = 0; i < maps; ++i) {
    server_.Create(absl::StrCat("small-", i), {"."});
  }
  const v1::GetMetricsResponse metrics = server_.Metrics();
  const auto bytes = client::MetricsOf(metrics, "waystar_map_bytes");
  ASSERT_THAT(bytes, SizeIs(maps));
  EXPECT_EQ(client::LabelOf(*bytes[0], "map"), "large");
  EXPECT_EQ(client::SumOf(metrics, "waystar_map_revision", {{"map", "large"}}), 1);
  EXPECT_EQ(client::SumOf(metrics, "waystar_maps"), maps + 1);
  EXPECT_GT(client::SumOf(metrics, "waystar_maps_bytes"), client::SumOf(metrics, "waystar_map_bytes"));
}

TEST_F(GetMetricsTest, ReturnsTheFamiliesThatAreRequested) {
  v1::GetMetricsRequest request;
  for (const char* const name : {"waystar_queue_workers", "made_up", "grpc_server_handling_seconds"}) {
    request.add_families(name);
  }
  const auto metrics = server_.client().GetMetrics(request).value();
  EXPECT_TRUE(metrics.has_uptime());
  ASSERT_THAT(metrics.families(), SizeIs(2));
  for (const char* const lane : {"small", "large", "updates", "imports"}) {
    EXPECT_GT(client::SumOf(metrics, "waystar_queue_workers", {{"lane", lane}}), 0) << lane;
  }
}

// Returns the parts of a sample, in an order that does not depend on that of its labels.
std::vector<std::string> PartsOf(const std::string& sample) {
  std::vector<std::string> parts = absl::StrSplit(sample, absl::ByAnyChar("{,}"), absl::SkipEmpty());
  std::sort(parts.begin(), parts.end());
  return parts;
}

// Returns the samples that Prometheus would read of these metrics.
std::map<std::vector<std::string>, double> SamplesOf(const v1::GetMetricsResponse& metrics) {
  std::map<std::vector<std::string>, double> samples;
  for (const v1::MetricFamily& family : metrics.families()) {
    for (const v1::Metric& metric : family.metrics()) {
      std::string labels;
      for (const auto& [label, value] : metric.labels()) {
        absl::StrAppend(&labels, ",", label, "=\"", value, "\"");
      }
      const auto add = [&](const char* suffix, double value, const std::string& bound = "") {
        samples[PartsOf(absl::StrCat(family.name(), suffix, labels, bound))] = value;
      };
      if (!metric.has_histogram()) {
        add("", metric.value());
        continue;
      }
      const auto count = static_cast<double>(metric.histogram().count());
      add("_count", count);
      add("_sum", metric.histogram().sum());
      add("_bucket", count, ",le=\"+Inf\"");
      for (int i = 0; i < family.bounds_size(); ++i) {
        add("_bucket", static_cast<double>(metric.histogram().cumulative(i)),
            absl::StrFormat(",le=\"%.16g\"", family.bounds(i)));
      }
    }
  }
  return samples;
}

TEST_F(GetMetricsTest, ReturnsWhatPrometheusReads) {
  server_.Create("m", {"..."});
  ASSERT_TRUE(server_.client().FindPath(PathRequest("m", CellAt(0, 0), CellAt(2, 0))).ok());
  ASSERT_TRUE(server_.client().UpdateMap(waystar::BlockRequest("m", {CellAt(1, 0)})).ok());
  const Scrape before = ScrapeMetrics(server_.server().metrics_port());
  const v1::GetMetricsResponse metrics = server_.Metrics();
  const Scrape after = ScrapeMetrics(server_.server().metrics_port());
  std::map<std::string, std::string> types;
  for (const v1::MetricFamily& family : metrics.families()) {
    types[family.name()] =
        absl::AsciiStrToLower(absl::StripPrefix(v1::MetricType_Name(family.type()), "METRIC_TYPE_"));
  }
  EXPECT_EQ(types, before.types);
  const auto samples = SamplesOf(metrics);
  EXPECT_EQ(samples.size(), before.samples.size());
  std::size_t equal = 0;
  for (const auto& [sample, value] : before.samples) {
    const auto found = samples.find(PartsOf(sample));
    ASSERT_TRUE(found != samples.end()) << sample;
    // Some are changed by the call itself or by the passing of time.
    if (!absl::StrContains(sample, "GetMetrics") && !absl::StartsWith(sample, "process_") &&
        !absl::StartsWith(sample, "waystar_client") && !absl::StartsWith(sample, "waystar_queue_running") &&
        after[sample] == value) {
      ++equal;
      EXPECT_DOUBLE_EQ(found->second, value) << sample;
    }
  }
  EXPECT_GT(equal, samples.size() / 2);
}

TEST(ServerInfoTest, TellsWhatTheServerIsAndTakes) {
  const absl::Time before = absl::Now();
  TestServer server({.workers = 3,
                     .max_client_calls = 9,
                     .max_maps = 7,
                     .max_maps_memory_mib = 3,
                     .max_map_side = 100,
                     .max_call_memory_mib = 5,
                     .max_connection_memory_mib = 4,
                     .max_message_bytes = 123'456});
  server.Create("m", {"..."});
  const auto info = server.client().GetServerInfo().value();
  EXPECT_THAT(info.version(), HasSubstr("."));
  EXPECT_GE(absl::FromUnixSeconds(info.start_time().seconds()), before - absl::Seconds(2));
  EXPECT_GE(info.uptime().seconds(), 0);
  EXPECT_EQ(info.workers(), 3);
  EXPECT_EQ(info.maps(), 1);
  EXPECT_EQ(info.limits().max_maps(), 7);
  EXPECT_EQ(info.limits().max_map_side(), 100);
  EXPECT_EQ(info.limits().max_maps_memory_bytes(), 3 << 20);
  EXPECT_EQ(info.limits().max_client_calls(), 9);
  EXPECT_EQ(info.limits().max_call_memory_bytes(), 5 << 20);
  EXPECT_EQ(info.limits().max_connection_memory_bytes(), 4 << 20);
  EXPECT_EQ(info.limits().max_message_bytes(), 123'456);
  EXPECT_EQ(info.limits().max_queries(), 10'000);
  EXPECT_EQ(info.limits().transfer_timeout().seconds(), 60);
  EXPECT_EQ(info.limits().transfer_stall_timeout().seconds(), 10);
  EXPECT_EQ(info.limits().request_id_retention().seconds(), 600);
  EXPECT_EQ(info.limits().max_request_ids_bytes(), 64 << 20);
  EXPECT_THAT(info.algorithms(), Contains(v1::ALGORITHM_ASTAR));
  EXPECT_THAT(info.algorithms(), Not(Contains(v1::ALGORITHM_AUTO)));
  EXPECT_EQ(info.log_level(), v1::LOG_LEVEL_INFO);
}

TEST(LogLevelTest, IsSetWhileTheServerRuns) {
  TestServer server;
  const auto log_of_a_map = [&server](const std::string& id) {
    return LogOf([&] { server.Create(id, {"."}); });
  };
  EXPECT_THAT(log_of_a_map("a"), HasSubstr("event=map_created map=a"));
  v1::SetLogLevelRequest request;
  request.set_level(v1::LOG_LEVEL_WARNING);
  auto set = server.client().SetLogLevel(request);
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->previous(), v1::LOG_LEVEL_INFO);
  EXPECT_EQ(log_of_a_map("b"), "");
  EXPECT_EQ(server.client().GetServerInfo()->log_level(), v1::LOG_LEVEL_WARNING);

  request.set_level(v1::LOG_LEVEL_INFO);
  set = server.client().SetLogLevel(request);
  ASSERT_TRUE(set.ok());
  EXPECT_EQ(set->previous(), v1::LOG_LEVEL_WARNING);
  EXPECT_THAT(log_of_a_map("c"), HasSubstr("event=map_created map=c"));
}

TEST(LogLevelTest, RefusesWhatIsNoLevel) {
  TestServer server;
  EXPECT_THAT(server.client().SetLogLevel({}), IsRefused(kInvalid, "MISSING_FIELD", "level"));
  v1::SetLogLevelRequest request;
  request.set_level(static_cast<v1::LogLevel>(9));
  EXPECT_THAT(server.client().SetLogLevel(request), IsRefused(kInvalid, "UNKNOWN_ENUM_VALUE", "level"));
}

// The metrics port among clients that are slow on purpose.

constexpr char kRequest[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

// Returns more than a connection holds.
std::string Books() { return absl::StrCat(std::string(2'000'000, 'x'), "\nreaders_total 7\n"); }

class MetricsServerTest : public ::testing::Test {
 protected:
  MetricsServerTest() {
    auto server = MetricsServer::Start("127.0.0.1:0", &Books, [] { return true; });
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  std::string AnswerTo(const std::string& request) {
    TcpClient client(server_->port());
    client.Send(request);
    return client.ReadToTheEnd();
  }

  void ExpectScrapes() {
    EXPECT_THAT(AnswerTo(kRequest),
                AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), EndsWith("\nreaders_total 7\n")));
  }

  // Returns connections on which those bytes were sent and nothing is read.
  std::vector<std::unique_ptr<TcpClient>> Connections(int count, const std::string& bytes) {
    std::vector<std::unique_ptr<TcpClient>> clients;
    for (int i = 0; i < count; ++i) {
      clients.push_back(std::make_unique<TcpClient>(server_->port()));
      clients.back()->Send(bytes);
    }
    return clients;
  }

  std::unique_ptr<MetricsServer> server_;
};

TEST_F(MetricsServerTest, AnswersWhileOthersSendHalfARequest) {
  const auto slow = Connections(150, "GET /metrics HTTP/1.1\r\nX: ");
  ExpectScrapes();
}

TEST_F(MetricsServerTest, AnswersWhileOthersDoNotRead) {
  const auto deaf = Connections(5, kRequest);
  ExpectScrapes();
}

TEST_F(MetricsServerTest, ClosesASlowConnectionInTheEnd) {
  TcpClient silent(server_->port());
  EXPECT_EQ(silent.ReadToTheEnd(), "");
}

TEST_F(MetricsServerTest, TellsOthersWhatTheyDidWrong) {
  EXPECT_THAT(AnswerTo("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(AnswerTo("POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"),
              StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(AnswerTo("hello\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(AnswerTo(std::string(20'000, 'x')), StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(AnswerTo("GET //metrics HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(AnswerTo("GET /metrics?name=books HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(MetricsServerTest, SaysWhyItCannotListen) {
  const std::string taken = absl::StrCat("127.0.0.1:", server_->port());
  EXPECT_THAT(MetricsServer::Start(taken, &Books, [] { return true; }).status().message(),
              AllOf(HasSubstr("--metrics_listen=" + taken), HasSubstr("in use")));
}

}  // namespace
}  // namespace waystar::rpc
