// Times queries on a map, and changes of it, as the programs that ./dev bench peers compares with do: in this
// process, on one thread. tests/bench/peers/run.py documents the arguments and the output.

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iostream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/grid/engines/find_path.h"
#include "tests/bench/bench.h"

namespace waystar::bench {
namespace {

constexpr std::size_t kScratchBytes = std::size_t{1} << 30;

struct Query {
  core::Cell start;
  core::Cell goal;
  double nanos = std::numeric_limits<double>::infinity();
  double cost = std::numeric_limits<double>::infinity();
};

std::vector<Query> LoadQueries(const std::string& path) {
  std::ifstream file(path);
  std::vector<Query> queries;
  Query query;
  while (file >> query.start.x >> query.start.y >> query.goal.x >> query.goal.y) {
    queries.push_back(query);
  }
  return queries;
}

// Asks for the path and notes its cost, and the time if it is the least so far.
void Ask(const core::GridMap& map, core::Scratch& scratch, Query& query) {
  const core::PathQuery path_query{
      .start = query.start, .goal = query.goal, .path_form = core::PathForm::kCorners};
  absl::StatusOr<core::PathResult> result;
  const double micros = MicrosOf([&] { result = core::FindPath(map, path_query, {}, scratch); });
  OrDie(result.status());
  query.nanos = std::min(query.nanos, micros * 1000.0);
  if (result->outcome == core::Outcome::kFound) {
    query.cost = result->cost;
  }
}

void TimeQueries(const std::string& map_path, const std::string& queries_path, int passes) {
  const core::GridMap map = LoadMovingAiMap({.path = map_path, .name = map_path});
  std::vector<Query> queries = LoadQueries(queries_path);
  if (queries.empty()) {
    Die(queries_path + " has no queries");
  }
  core::Scratch scratch(kScratchBytes);
  for (int pass = 0; pass < passes; ++pass) {
    for (Query& query : queries) {
      Ask(map, scratch, query);
    }
  }
  for (const Query& query : queries) {
    std::cout << absl::StreamFormat("%d %d %d %d %.0f %.9g\n", query.start.x, query.start.y, query.goal.x,
                                    query.goal.y, query.nanos, query.cost);
  }
}

// Step of a trace: a change of the map, or a query.
struct Step {
  std::vector<core::Edit> change;
  Query query;
  double nanos = std::numeric_limits<double>::infinity();
};

// Reads a trace, in which adjacent changes of cells are one step.
std::vector<Step> LoadTrace(const std::string& path) {
  std::ifstream file(path);
  std::vector<Step> steps;
  core::Shape block;
  core::Shape unblock;
  const auto end_change = [&] {
    Step step;
    if (!block.cells.empty()) {
      step.change.emplace_back(core::BlockCells{std::exchange(block, {})});
    }
    if (!unblock.cells.empty()) {
      step.change.emplace_back(core::UnblockCells{std::exchange(unblock, {})});
    }
    if (!step.change.empty()) {
      steps.push_back(std::move(step));
    }
  };
  for (char kind = 0; file >> kind;) {
    if (kind == 'c') {
      core::Cell cell;
      bool is_blocked = false;
      file >> cell.x >> cell.y >> is_blocked;
      (is_blocked ? block : unblock).cells.push_back(cell);
      continue;
    }
    end_change();
    Query& query = steps.emplace_back().query;
    file >> query.start.x >> query.start.y >> query.goal.x >> query.goal.y;
  }
  end_change();
  return steps;
}

void Play(core::GridMap map, core::Scratch& scratch, std::vector<Step>& steps) {
  for (Step& step : steps) {
    if (step.change.empty()) {
      Ask(map, scratch, step.query);
      continue;
    }
    const double micros = MicrosOf([&] { map = OrDie(core::ApplyEdits(map, step.change)).map; });
    step.nanos = std::min(step.nanos, micros * 1000.0);
  }
}

void TimeTrace(const std::string& map_path, const std::string& trace_path, int passes) {
  std::vector<Step> steps = LoadTrace(trace_path);
  for (int pass = 0; pass < passes; ++pass) {
    core::Scratch scratch(kScratchBytes);
    core::GridMap map = LoadMovingAiMap({.path = map_path, .name = map_path});
    map.Prepare();
    Play(std::move(map), scratch, steps);
  }
  for (const Step& step : steps) {
    if (!step.change.empty()) {
      std::cout << absl::StreamFormat("c %.0f\n", step.nanos);
    } else {
      std::cout << absl::StreamFormat("q %.0f %.9g\n", step.query.nanos, step.query.cost);
    }
  }
}

}  // namespace
}  // namespace waystar::bench

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool is_dynamic = !arguments.empty() && arguments[0] == "--dynamic";
  const std::size_t first = is_dynamic ? 1 : 0;
  int passes = 0;
  if (arguments.size() != first + 3 || !absl::SimpleAtoi(arguments[first + 2], &passes) || passes < 1) {
    std::cerr << "usage: peers_bench MAP QUERIES PASSES, or peers_bench --dynamic MAP TRACE PASSES\n";
    return 2;
  }
  (is_dynamic ? waystar::bench::TimeTrace : waystar::bench::TimeQueries)(arguments[first],
                                                                         arguments[first + 1], passes);
  return 0;
}
