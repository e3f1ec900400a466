// Times queries on maps that change meanwhile, in this process.

#include <iostream>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "server/core/grid/map/grid_map.h"
#include "tests/bench/changing_map.h"
#include "tests/testing/layouts.h"
#include "tests/testing/movingai_data.h"

ABSL_FLAG(std::string, maps, "arena2,TheFrozenSea,battleground",
          "Maps below $WAYSTAR_DATA/movingai, by parts of their names with commas between.");
ABSL_FLAG(int, readers, 2, "Threads that ask for paths.");
ABSL_FLAG(int, cells_per_second, 10'000, "How many cells change.");
ABSL_FLAG(int, cells_per_batch, 10, "How many cells an update changes.");
ABSL_FLAG(double, seconds, 2.0, "Of one phase, still or changing.");
ABSL_FLAG(int, rounds, 5, "How often both phases are run.");

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  const waystar::bench::ChangingMapOptions options{.readers = absl::GetFlag(FLAGS_readers),
                                                   .cells_per_second = absl::GetFlag(FLAGS_cells_per_second),
                                                   .cells_per_batch = absl::GetFlag(FLAGS_cells_per_batch),
                                                   .phase_seconds = absl::GetFlag(FLAGS_seconds),
                                                   .rounds = absl::GetFlag(FLAGS_rounds)};
  waystar::bench::PrintChangingMapHeader();
  waystar::testing::Random random(1);
  waystar::core::GridMap noise = *waystar::core::GridMap::Create(1024, 1024, {});
  waystar::testing::LayNoise(random, 0.1, noise);
  waystar::bench::PrintChangingMap("random 10 % 1024", noise, options);
  const auto data = waystar::testing::DataFolder();
  if (!data) {
    std::cerr << "WAYSTAR_DATA names no folder with maps; they are left out\n";
    return 0;
  }
  for (const absl::string_view part : absl::StrSplit(absl::GetFlag(FLAGS_maps), ',', absl::SkipEmpty())) {
    for (const waystar::testing::MovingAiMap& map : waystar::testing::FindMovingAiMaps(*data)) {
      if (absl::EndsWith(map.name, part)) {
        waystar::bench::PrintChangingMap(map.name, waystar::testing::LoadMovingAiMap(map), options);
      }
    }
  }
  return 0;
}
