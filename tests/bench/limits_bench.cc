// Times what is hardest for a search: goals out of reach, and the largest maps. In this process, on one
// thread.

#include <cstddef>
#include <iostream>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "server/core/grid/cells/grid_settings.h"
#include "tests/bench/algorithm_name.h"
#include "tests/bench/largest_maps.h"
#include "tests/bench/unreachable_goals.h"

ABSL_FLAG(std::string, algorithm, "auto", "auto, astar, dijkstra or jump_point.");
ABSL_FLAG(int, queries, 20, "Queries for each map with goals out of reach; 0 leaves those maps out.");
ABSL_FLAG(int, side, 8192, "Of the largest maps, from 64 to 8192; 0 leaves them out.");
ABSL_FLAG(int, scratch_mib, 4096, "What a search on the largest maps may use.");

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  const auto algorithm = waystar::bench::AlgorithmNamed(absl::GetFlag(FLAGS_algorithm));
  if (!algorithm) {
    std::cerr << "--algorithm is " << waystar::bench::kAlgorithmNames << "\n";
    return 1;
  }
  const int side = absl::GetFlag(FLAGS_side);
  if (side != 0 && (side < 64 || side > waystar::core::kMaxMapSide)) {
    std::cerr << "--side is 0, or from 64 to " << waystar::core::kMaxMapSide << "\n";
    return 1;
  }
  if (absl::GetFlag(FLAGS_queries) > 0) {
    waystar::bench::PrintUnreachableGoals(absl::GetFlag(FLAGS_queries), *algorithm);
    std::cout << "\n";
  }
  if (side != 0) {
    waystar::bench::PrintLargestMaps(side, static_cast<std::size_t>(absl::GetFlag(FLAGS_scratch_mib)) << 20,
                                     *algorithm);
  }
  return 0;
}
