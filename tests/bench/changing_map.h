// Queries at full rate on a map that changes meanwhile, beside the same queries on a map that does not.
#pragma once

#include <string>

#include "server/core/grid/map/grid_map.h"

namespace waystar::bench {

struct ChangingMapOptions {
  int readers = 2;
  int cells_per_second = 10'000;
  int cells_per_batch = 10;
  // Of one phase; a round is a still phase and a changing one.
  double phase_seconds = 2.0;
  int rounds = 5;
};

void PrintChangingMapHeader();

// Prints a line: queries a second, median and 99th percentile of a query's time in both kinds of phases,
// their ratios (each the median of the rounds), and what an update took from call to answer.
void PrintChangingMap(const std::string& name, const core::GridMap& map, const ChangingMapOptions& options);

}  // namespace waystar::bench
