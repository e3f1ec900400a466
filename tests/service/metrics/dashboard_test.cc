// The dashboard that docker/ brings along shows metrics that there are.

#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/service/metrics/scrape.h"
#include "tests/service/test_server.h"
#include "tests/storage/folder/crashing_folder.h"
#include "tests/storage/folder/durable_store.h"
#include "tests/testing/folders.h"

namespace waystar {
namespace {

using ::waystar::testing::BlockRequest;
using ::waystar::testing::CellAt;
using ::waystar::testing::PathRequest;
using ::waystar::testing::Scrape;
using ::waystar::testing::TestServer;

// Of all panels. (protobuf's own reader of JSON cannot be used under the thread sanitizer.)
std::vector<std::string> Expressions() {
  std::ifstream file(testing::SourceFolder() / "docker/grafana/dashboards/waystar.json");
  static const std::regex kExpression(R"re("expr": "(.*)",)re");
  std::vector<std::string> expressions;
  std::smatch match;
  for (std::string line; std::getline(file, line);) {
    if (std::regex_search(line, match, kExpression)) {
      expressions.push_back(match[1]);
    }
  }
  return expressions;
}

std::set<std::string> MetricsIn(const std::string& expression) {
  static const std::regex kMetric("(waystar|grpc_server|process)_[a-z_]+");
  return {std::sregex_token_iterator(expression.begin(), expression.end(), kMetric),
          std::sregex_token_iterator()};
}

std::set<std::string> NamesIn(const Scrape& scrape) {
  std::set<std::string> names;
  for (const auto& [sample, value] : scrape.samples) {
    names.insert(sample.substr(0, sample.find('{')));
  }
  return names;
}

// Of these metrics there is nothing to tell before something has happened.
void DoSomeOfEverything(TestServer& server) {
  server.Create("m", {"..."});
  EXPECT_TRUE(server.client().FindPath(PathRequest("m", CellAt(0, 0), CellAt(2, 0))).ok());
  EXPECT_TRUE(server.client().UpdateMap(BlockRequest("m", {CellAt(1, 0)})).ok());
  EXPECT_FALSE(server.client().UpdateMap(BlockRequest("m", {CellAt(3, 0)})).ok());
}

TEST(DashboardTest, ShowsMetricsThatThereAre) {
  testing::CrashingFolder folder;
  TestServer server({.data_dir = "in memory", .max_maps_memory_mib = 256, .metrics_listen = "127.0.0.1:0"},
                    absl::Hours(1), testing::OpenBorrowed(folder));
  DoSomeOfEverything(server);
  const std::set<std::string> names = NamesIn(testing::ScrapeMetrics(server.server().metrics_port()));
  std::set<std::string> shown;
  for (const std::string& expression : Expressions()) {
    const std::set<std::string> metrics = MetricsIn(expression);
    EXPECT_FALSE(metrics.empty()) << expression;
    shown.insert(metrics.begin(), metrics.end());
  }
  EXPECT_GT(shown.size(), 20);
  for (const std::string& metric : shown) {
    EXPECT_TRUE(names.contains(metric)) << metric;
  }
}

}  // namespace
}  // namespace waystar
