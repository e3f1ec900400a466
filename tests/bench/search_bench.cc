// Times the scenarios of the Moving AI maps below $WAYSTAR_DATA, in this process, on one thread. Ends with 1
// at the first answer of the wrong length.

#include <cstddef>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/hierarchy/hierarchy.h"
#include "server/core/grid/map/grid_map.h"
#include "tests/bench/algorithm_name.h"
#include "tests/bench/sample.h"
#include "tests/bench/timed_scenarios.h"
#include "tests/testing/movingai_data.h"

ABSL_FLAG(std::string, map, "", "Only maps whose name contains this.");
ABSL_FLAG(int, every, 1, "Only every n-th scenario of each map.");
ABSL_FLAG(int, repeat, 1, "Passes over each map's scenarios; a query's time is the least of its passes.");
ABSL_FLAG(std::string, algorithm, "auto",
          "auto, astar, dijkstra, jump_point or hierarchy, whose index is built first.");
ABSL_FLAG(std::vector<std::string>, beside, {},
          "Algorithms to time as well, each a column, with how many times longer they take on the same "
          "scenarios. \"astar\", plain A* with a heap, is the yardstick.");
ABSL_FLAG(int, beside_every, 20, "--beside times every n-th of the scenarios timed.");
ABSL_FLAG(bool, weighted, false,
          "The Warcraft III maps, with swamp at cost 1.5 and water at 2. The answers are judged by those of "
          "astar, which is timed beside on every scenario.");

namespace waystar::bench {
namespace {

struct Beside {
  std::string name;
  core::Algorithm algorithm = core::Algorithm::kAStar;
};

struct Options {
  core::Algorithm algorithm = core::Algorithm::kAuto;
  std::vector<Beside> beside;
  std::size_t every = 1;
  std::size_t beside_every = 20;
  int repeat = 1;
  bool weighted = false;
};

// What a row of the table sums up: a map, or all.
struct Row {
  Sample micros;
  Sample expanded;
  // For each algorithm beside: its times, and those of the algorithm measured on the same scenarios.
  struct Pair {
    Sample other;
    Sample own;
  };
  std::vector<Pair> beside;

  void Append(const Row& row) {
    micros.Append(row.micros);
    expanded.Append(row.expanded);
    beside.resize(row.beside.size());
    for (std::size_t i = 0; i < beside.size(); ++i) {
      beside[i].other.Append(row.beside[i].other);
      beside[i].own.Append(row.beside[i].own);
    }
  }
};

void PrintHeader(const Options& options) {
  std::cout << absl::StreamFormat("%-28s %9s %10s %10s %10s %10s", "map", "queries", "mean us", "median us",
                                  "p99 us", "expanded");
  for (const Beside& beside : options.beside) {
    std::cout << absl::StreamFormat(" %13s %8s", absl::StrCat(beside.name, " us"), "times");
  }
  std::cout << "\n";
}

void PrintRow(const std::string& name, Row& row) {
  std::cout << absl::StreamFormat("%-28s %9u %10.1f %10.1f %10.1f %10.0f", name, row.micros.size(),
                                  row.micros.Mean(), row.micros.Percentile(0.5), row.micros.Percentile(0.99),
                                  row.expanded.Mean());
  for (const Row::Pair& pair : row.beside) {
    std::cout << absl::StreamFormat(" %13.1f %8.1f", pair.other.Mean(), pair.other.Mean() / pair.own.Mean());
  }
  std::cout << "\n" << std::flush;
}

template <typename T>
std::vector<T> EveryNth(const std::vector<T>& all, std::size_t n) {
  std::vector<T> chosen;
  for (std::size_t i = 0; i < all.size(); i += n) {
    chosen.push_back(all[i]);
  }
  return chosen;
}

void AddAll(const std::vector<double>& values, Sample& sample) {
  for (const double value : values) {
    sample.Add(value);
  }
}

Row MeasureMap(const core::GridMap& map, std::vector<testing::Scenario> scenarios, const Options& options,
               core::Scratch& scratch) {
  if (options.weighted) {
    const Timings judge = Time(map, scenarios, core::Algorithm::kAStar, 1, scratch);
    for (std::size_t i = 0; i < scenarios.size(); ++i) {
      scenarios[i].optimal_length = judge.costs[i];
      scenarios[i].tolerance = 1e-6;
    }
  }
  const Timings timings = Time(map, scenarios, options.algorithm, options.repeat, scratch);
  CheckCosts(scenarios, timings);
  Row row;
  AddAll(timings.micros, row.micros);
  AddAll(timings.expanded, row.expanded);
  const std::vector<testing::Scenario> shared = EveryNth(scenarios, options.beside_every);
  for (const Beside& beside : options.beside) {
    const Timings other = Time(map, shared, beside.algorithm, options.repeat, scratch);
    CheckCosts(shared, other);
    Row::Pair& pair = row.beside.emplace_back();
    AddAll(other.micros, pair.other);
    AddAll(EveryNth(timings.micros, options.beside_every), pair.own);
  }
  return row;
}

// Where the index does not fit into memory, jump point search answers.
void BuildHierarchy(const std::string& name, const core::GridMap& map) {
  absl::StatusOr<std::unique_ptr<const core::Hierarchy>> built;
  const double micros = MicrosOf([&] {
    built =
        core::Hierarchy::Build(map.walk(), map.step_costs().min_straight, map.step_costs().min_diagonal, {});
  });
  if (!built.ok()) {
    std::cout << name << ": " << built.status() << "\n";
    return;
  }
  std::cout << absl::StreamFormat("%-28s index: %.0f ms, %.1f MiB\n", name, micros / 1000.0,
                                  static_cast<double>((*built)->memory_bytes()) / (1 << 20));
  map.static_index().Put(*std::move(built));
}

int Run(const std::filesystem::path& data, const Options& options) {
  PrintHeader(options);
  core::Scratch scratch(std::size_t{1} << 30);
  Row all;
  for (const testing::MovingAiMap& file : testing::FindMovingAiMaps(data)) {
    if (!absl::StrContains(file.name, absl::GetFlag(FLAGS_map)) ||
        (options.weighted && !absl::StartsWith(file.name, "wc3maps512/"))) {
      continue;
    }
    const core::GridMap map =
        options.weighted ? testing::LoadWeightedMovingAiMap(file) : testing::LoadMovingAiMap(file);
    if (options.algorithm == core::Algorithm::kSubgoalHierarchy) {
      BuildHierarchy(file.name, map);
    }
    Row row = MeasureMap(map, EveryNth(testing::LoadScenarios(file), options.every), options, scratch);
    PrintRow(file.name, row);
    all.Append(row);
  }
  PrintRow("all", all);
  return 0;
}

// Nothing, with a line on standard error, if a flag is no good.
std::optional<Options> OptionsFromFlags() {
  const auto algorithm = AlgorithmNamed(absl::GetFlag(FLAGS_algorithm));
  if (!algorithm || absl::GetFlag(FLAGS_every) < 1 || absl::GetFlag(FLAGS_beside_every) < 1 ||
      absl::GetFlag(FLAGS_repeat) < 1) {
    std::cerr << "--algorithm is " << kAlgorithmNames
              << "; --every, --beside_every and --repeat are at least 1\n";
    return std::nullopt;
  }
  Options options{.algorithm = *algorithm,
                  .every = static_cast<std::size_t>(absl::GetFlag(FLAGS_every)),
                  .beside_every = static_cast<std::size_t>(absl::GetFlag(FLAGS_beside_every)),
                  .repeat = absl::GetFlag(FLAGS_repeat),
                  .weighted = absl::GetFlag(FLAGS_weighted)};
  std::vector<std::string> names = absl::GetFlag(FLAGS_beside);
  if (options.weighted) {
    names = {"astar"};
    options.beside_every = 1;
  }
  for (const std::string& name : names) {
    const auto beside = AlgorithmNamed(name);
    if (!beside) {
      std::cerr << "--beside names algorithms: " << kAlgorithmNames << "\n";
      return std::nullopt;
    }
    options.beside.push_back({name, *beside});
  }
  return options;
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
  const auto options = waystar::bench::OptionsFromFlags();
  return options ? waystar::bench::Run(*data, *options) : 1;
}
