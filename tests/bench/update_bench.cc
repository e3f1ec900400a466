// Times changes of maps and the queries between them, in this process, on one thread.

#include <iostream>
#include <string>
#include <thread>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/match.h"
#include "server/core/grid/cells/grid_settings.h"
#include "tests/bench/algorithm_name.h"
#include "tests/bench/synthetic_updates.h"
#include "tests/bench/trace_updates.h"
#include "tests/testing/gppc_trace.h"
#include "tests/testing/movingai_data.h"

ABSL_FLAG(std::string, trace, "",
          "Only traces below $WAYSTAR_DATA/gppc-dynamic whose name contains this; \"none\" leaves all out.");
ABSL_FLAG(std::string, algorithm, "auto", "auto, astar, dijkstra or jump_point.");
ABSL_FLAG(int, max_side, 8192, "The largest of the synthetic maps; 0 leaves them out.");
ABSL_FLAG(bool, single, true, "Single changes of synthetic and game maps, made and taken back.");
ABSL_FLAG(bool, sequences, true, "Long sequences of changes of the same maps.");

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  // Shared pointers cost more in a process that has ever had a second thread, as a server has.
  std::thread([] {}).join();
  const auto algorithm = waystar::bench::AlgorithmNamed(absl::GetFlag(FLAGS_algorithm));
  if (!algorithm) {
    std::cerr << "--algorithm is " << waystar::bench::kAlgorithmNames << "\n";
    return 1;
  }
  const int max_side = absl::GetFlag(FLAGS_max_side);
  if (max_side < 0 || max_side > waystar::core::kMaxMapSide) {
    std::cerr << "--max_side is from 0 to " << waystar::core::kMaxMapSide << "\n";
    return 1;
  }
  if (const auto data = waystar::testing::DataFolder()) {
    waystar::bench::PrintTraceHeader();
    for (const auto& path : waystar::testing::FindGppcTraces(*data)) {
      if (absl::StrContains(path.stem().string(), absl::GetFlag(FLAGS_trace))) {
        waystar::bench::PrintTraceUpdates(waystar::testing::LoadGppcTrace(path), *algorithm);
      }
    }
    std::cout << "\n";
  } else {
    std::cerr << "WAYSTAR_DATA names no folder with the traces; they are left out\n";
  }
  if (max_side > 0 && absl::GetFlag(FLAGS_single)) {
    waystar::bench::PrintSyntheticUpdates(max_side, *algorithm);
    std::cout << "\n";
  }
  if (max_side > 0 && absl::GetFlag(FLAGS_sequences)) {
    waystar::bench::PrintLongSequences(max_side, *algorithm);
  }
  return 0;
}
