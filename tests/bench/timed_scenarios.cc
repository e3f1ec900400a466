#include "tests/bench/timed_scenarios.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <limits>

#include "absl/status/statusor.h"
#include "tests/bench/sample.h"

namespace waystar::bench {
namespace {

[[noreturn]] void Die(const testing::Scenario& scenario, double cost) {
  std::cerr << "wrong answer from " << scenario.start.x << "," << scenario.start.y << " to "
            << scenario.goal.x << "," << scenario.goal.y << ": " << cost << " instead of "
            << scenario.optimal_length << "\n";
  std::exit(1);
}

}  // namespace

Timings Time(const core::GridMap& map, absl::Span<const testing::Scenario> scenarios,
             core::Algorithm algorithm, int passes, core::Scratch& scratch) {
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

void CheckCosts(absl::Span<const testing::Scenario> scenarios, const Timings& timings) {
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    if (!(std::abs(timings.costs[i] - scenarios[i].optimal_length) <= scenarios[i].tolerance)) {
      Die(scenarios[i], timings.costs[i]);
    }
  }
}

}  // namespace waystar::bench
