// Times scenarios on a map and checks the answers.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/map/grid_map.h"
#include "tests/testing/movingai_data.h"

namespace waystar::bench {

// One entry a scenario.
struct Timings {
  // The least of all passes.
  std::vector<double> micros;
  std::vector<double> expanded;
  std::vector<double> costs;
};

// Asks for each scenario's path, over all scenarios `passes` times: what disturbs a shared machine rarely
// disturbs one query in every pass, and between two passes the other queries push it out of the caches.
Timings Time(const core::GridMap& map, absl::Span<const testing::Scenario> scenarios,
             core::Algorithm algorithm, int passes, core::Scratch& scratch);

// Ends the program with a message if a cost is not its scenario's optimal length.
void CheckCosts(absl::Span<const testing::Scenario> scenarios, const Timings& timings);

}  // namespace waystar::bench
