// Times the scenarios of the Moving AI maps below $WAYSTAR_DATA, in this process, on one thread. Ends with 1
// at the first answer of the wrong length.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/hierarchy/hierarchy.h"
#include "server/core/search/query.h"
#include "tests/bench/bench.h"

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

// Returns the algorithm that a flag names, or ends the program.
core::Algorithm AlgorithmNamed(absl::string_view name) {
  constexpr std::pair<absl::string_view, core::Algorithm> kAlgorithms[] = {
      {"auto", core::Algorithm::kAuto},
      {"astar", core::Algorithm::kAStar},
      {"dijkstra", core::Algorithm::kDijkstra},
      {"jump_point", core::Algorithm::kJumpPoint},
      {"hierarchy", core::Algorithm::kSubgoalHierarchy}};
  for (const auto& [known, algorithm] : kAlgorithms) {
    if (known == name) {
      return algorithm;
    }
  }
  Die(absl::StrCat("an algorithm is auto, astar, dijkstra, jump_point or hierarchy, not ", name));
}

// One entry a scenario.
struct Timings {
  // The least of all passes.
  std::vector<double> micros;
  std::vector<double> expanded;
  std::vector<double> costs;
};

// Asks for each scenario's path, over all scenarios `passes` times: what disturbs a shared machine rarely
// disturbs one query in every pass, and between two passes the other queries push it out of the caches.
Timings Time(const core::GridMap& map, const std::vector<Scenario>& scenarios, core::Algorithm algorithm,
             int passes, core::Scratch& scratch) {
  Timings timings;
  timings.micros.assign(scenarios.size(), std::numeric_limits<double>::infinity());
  timings.expanded.resize(scenarios.size());
  timings.costs.resize(scenarios.size());
  for (int pass = 0; pass < passes; ++pass) {
    for (std::size_t i = 0; i < scenarios.size(); ++i) {
      const core::PathQuery query{.start = scenarios[i].start,
                                  .goal = scenarios[i].goal,
                                  .algorithm = algorithm,
                                  .path_form = core::PathForm::kCorners};
      absl::StatusOr<core::PathResult> result;
      const double micros = MicrosOf([&] { result = core::FindPath(map, query, {}, scratch); });
      const bool found = result.ok() && result->outcome == core::Outcome::kFound;
      timings.micros[i] = std::min(timings.micros[i], micros);
      timings.expanded[i] = found ? static_cast<double>(result->statistics.expanded) : 0.0;
      timings.costs[i] = found ? result->cost : std::numeric_limits<double>::infinity();
    }
  }
  return timings;
}

// Ends the program with a message if a cost is not its scenario's optimal length.
void CheckCosts(const std::vector<Scenario>& scenarios, const Timings& timings) {
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    const Scenario& asked = scenarios[i];
    if (!(std::abs(timings.costs[i] - asked.optimal_length) <= asked.tolerance)) {
      Die(absl::StrCat("wrong answer from ", asked.start.x, ",", asked.start.y, " to ", asked.goal.x, ",",
                       asked.goal.y, ": ", timings.costs[i], " instead of ", asked.optimal_length));
    }
  }
}

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

void PrintRow(const std::string& name, Row& row) {
  std::cout << absl::StreamFormat("%-28s %9u %10.1f %10.1f %10.1f %10.0f", name, row.micros.size(),
                                  row.micros.Mean(), row.micros.Median(), row.micros.Percentile(0.99),
                                  row.expanded.Mean());
  for (const Row::Pair& pair : row.beside) {
    std::cout << absl::StreamFormat(" %13.1f %8.1f", pair.other.Mean(), pair.other.Mean() / pair.own.Mean());
  }
  std::cout << "\n" << std::flush;
}

template <typename T>
std::vector<T> EveryNth(const std::vector<T>& all, int n) {
  std::vector<T> chosen;
  for (std::size_t i = 0; i < all.size(); i += static_cast<std::size_t>(std::max(n, 1))) {
    chosen.push_back(all[i]);
  }
  return chosen;
}

void AddAll(const std::vector<double>& values, Sample& sample) {
  for (const double value : values) {
    sample.Add(value);
  }
}

Row MeasureMap(const core::GridMap& map, std::vector<Scenario> scenarios,
               const std::vector<std::string>& beside, core::Scratch& scratch) {
  const bool is_weighted = absl::GetFlag(FLAGS_weighted);
  const int passes = std::max(absl::GetFlag(FLAGS_repeat), 1);
  const int beside_every = is_weighted ? 1 : absl::GetFlag(FLAGS_beside_every);
  if (is_weighted) {
    const Timings judge = Time(map, scenarios, core::Algorithm::kAStar, 1, scratch);
    for (std::size_t i = 0; i < scenarios.size(); ++i) {
      scenarios[i].optimal_length = judge.costs[i];
      scenarios[i].tolerance = 1e-6;
    }
  }
  const Timings timings =
      Time(map, scenarios, AlgorithmNamed(absl::GetFlag(FLAGS_algorithm)), passes, scratch);
  CheckCosts(scenarios, timings);
  Row row;
  AddAll(timings.micros, row.micros);
  AddAll(timings.expanded, row.expanded);
  const std::vector<Scenario> shared = EveryNth(scenarios, beside_every);
  for (const std::string& name : beside) {
    const Timings other = Time(map, shared, AlgorithmNamed(name), passes, scratch);
    CheckCosts(shared, other);
    Row::Pair& pair = row.beside.emplace_back();
    AddAll(other.micros, pair.other);
    AddAll(EveryNth(timings.micros, beside_every), pair.own);
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
  map.static_index().Put(*std::move(built), map.walkable());
}

void Run() {
  const bool is_weighted = absl::GetFlag(FLAGS_weighted);
  const std::vector<std::string> beside =
      is_weighted ? std::vector<std::string>{"astar"} : absl::GetFlag(FLAGS_beside);
  std::cout << absl::StreamFormat("%-28s %9s %10s %10s %10s %10s", "map", "queries", "mean us", "median us",
                                  "p99 us", "expanded");
  for (const std::string& name : beside) {
    std::cout << absl::StreamFormat(" %13s %8s", absl::StrCat(name, " us"), "times");
  }
  std::cout << "\n";
  core::Scratch scratch(std::size_t{1} << 30);
  Row all;
  for (const MovingAiMap& file : MapsNamed({absl::GetFlag(FLAGS_map)})) {
    if (is_weighted && !absl::StartsWith(file.name, "wc3maps512/")) {
      continue;
    }
    const core::GridMap map = is_weighted ? LoadWeightedMovingAiMap(file) : LoadMovingAiMap(file);
    if (absl::GetFlag(FLAGS_algorithm) == "hierarchy") {
      BuildHierarchy(file.name, map);
    }
    Row row = MeasureMap(map, EveryNth(LoadScenarios(file), absl::GetFlag(FLAGS_every)), beside, scratch);
    PrintRow(file.name, row);
    all.Append(row);
  }
  PrintRow("all", all);
}

}  // namespace
}  // namespace waystar::bench

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  waystar::bench::Run();
  return 0;
}
