// Times every scenario of the Moving AI maps below $WAYSTAR_DATA, in this process, on one thread.

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "server/core/map/grid_map.h"
#include "server/core/search/find_path.h"
#include "tests/bench/sample.h"
#include "tests/testing/movingai_data.h"

ABSL_FLAG(std::string, map, "", "Only maps whose name contains this.");
ABSL_FLAG(int, every, 1, "Only every n-th scenario of each map.");
ABSL_FLAG(std::string, algorithm, "auto", "auto, astar or dijkstra.");

namespace waystar::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Figures {
  Sample micros;
  Sample expanded;
};

std::optional<core::Algorithm> AlgorithmNamed(const std::string& name) {
  if (name == "auto") {
    return core::Algorithm::kAuto;
  }
  if (name == "astar") {
    return core::Algorithm::kAStar;
  }
  if (name == "dijkstra") {
    return core::Algorithm::kDijkstra;
  }
  return std::nullopt;
}

// False, with a line on standard error, for an answer of the wrong length.
bool Measure(const core::GridMap& map, const testing::Scenario& scenario, core::Algorithm algorithm,
             core::Scratch& scratch, Figures& figures) {
  const core::PathQuery query{.start = scenario.start, .goal = scenario.goal, .algorithm = algorithm};
  const Clock::time_point begin = Clock::now();
  const absl::StatusOr<core::PathResult> result = core::FindPath(map, query, {}, scratch);
  const Clock::time_point end = Clock::now();
  if (!result.ok() || std::abs(result->cost - scenario.optimal_length) > scenario.tolerance) {
    std::cerr << "wrong answer from " << scenario.start.x << "," << scenario.start.y << "\n";
    return false;
  }
  figures.micros.Add(std::chrono::duration<double, std::micro>(end - begin).count());
  figures.expanded.Add(static_cast<double>(result->statistics.expanded));
  return true;
}

void PrintRow(const std::string& name, Figures& figures) {
  std::cout << absl::StreamFormat("%-28s %9u %10.1f %10.1f %10.1f %10.0f\n", name, figures.micros.size(),
                                  figures.micros.Mean(), figures.micros.Percentile(0.5),
                                  figures.micros.Percentile(0.99), figures.expanded.Mean())
            << std::flush;
}

int Run(const std::filesystem::path& data, core::Algorithm algorithm) {
  std::cout << absl::StreamFormat("%-28s %9s %10s %10s %10s %10s\n", "map", "queries", "mean us", "median us",
                                  "p99 us", "expanded");
  core::Scratch scratch(std::size_t{1} << 30);
  Figures all;
  for (const testing::MovingAiMap& file : testing::FindMovingAiMaps(data)) {
    if (!absl::StrContains(file.name, absl::GetFlag(FLAGS_map))) {
      continue;
    }
    const core::GridMap map = testing::LoadMovingAiMap(file);
    const std::vector<testing::Scenario> scenarios = testing::LoadScenarios(file);
    Figures figures;
    for (std::size_t i = 0; i < scenarios.size(); i += static_cast<std::size_t>(absl::GetFlag(FLAGS_every))) {
      if (!Measure(map, scenarios[i], algorithm, scratch, figures)) {
        return 1;
      }
    }
    PrintRow(file.name, figures);
    all.micros.Append(figures.micros);
    all.expanded.Append(figures.expanded);
  }
  PrintRow("all", all);
  return 0;
}

}  // namespace
}  // namespace waystar::bench

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  const auto data = waystar::testing::DataFolder();
  if (!data) {
    std::cerr << "WAYSTAR_DATA names no folder with the Moving AI maps\n";
    return 1;
  }
  const auto algorithm = waystar::bench::AlgorithmNamed(absl::GetFlag(FLAGS_algorithm));
  if (!algorithm || absl::GetFlag(FLAGS_every) < 1) {
    std::cerr << "--algorithm is auto, astar or dijkstra; --every is at least 1\n";
    return 1;
  }
  return waystar::bench::Run(*data, *algorithm);
}
