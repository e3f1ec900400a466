// Times given queries on a map, as the programs that ./dev bench peers compares with do, in this process and
// on one thread: peers_bench MAP QUERIES PASSES. MAP is a Moving AI map and QUERIES a file with four numbers
// a line: the x and y of the start, and those of the goal. Prints for each query these four, the least
// nanoseconds that it took in a pass over all, and its cost ("inf" if there is no path).

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "server/core/grid/engines/find_path.h"
#include "tests/bench/bench.h"

namespace waystar::bench {
namespace {

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

void Run(const std::string& map_path, const std::string& queries_path, int passes) {
  const core::GridMap map = testing::LoadMovingAiMap({.path = map_path, .name = map_path});
  std::vector<Query> queries = LoadQueries(queries_path);
  if (queries.empty()) {
    Die(queries_path + " has no queries");
  }
  core::Scratch scratch(std::size_t{1} << 30);
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

}  // namespace
}  // namespace waystar::bench

int main(int argc, char** argv) {
  int passes = 0;
  if (argc != 4 || !absl::SimpleAtoi(argv[3], &passes) || passes < 1) {
    std::cerr << "usage: peers_bench MAP QUERIES PASSES\n";
    return 2;
  }
  waystar::bench::Run(argv[1], argv[2], passes);
  return 0;
}
