// A slow, obvious judge of paths. Shares no code with the search: it asks the map for one cell at a time and
// keeps costs as doubles.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "server/core/map/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/search/query.h"

namespace waystar::testing {

// Whether one step from `from`, which is walkable, to `to` is legal.
bool IsLegalStep(const core::GridMap& map, core::CornerRule rule, core::Cell from, core::Cell to);

// Of a legal step that enters `to`.
double StepCost(const core::GridMap& map, core::Cell from, core::Cell to);

// Cheapest costs from one cell to every cell of a map, by textbook Dijkstra.
class Oracle {
 public:
  // REQUIRES: start is walkable.
  Oracle(const core::GridMap& map, core::CornerRule rule, core::Cell start);

  // Nothing if the cell cannot be reached.
  std::optional<double> CostTo(core::Cell cell) const;

  // Where UnreachablePolicy::kNearestByDistance must lead. Costs that differ by less than rounding count as
  // equal.
  core::Cell NearestTo(core::Cell goal) const;

 private:
  const core::GridMap& map_;
  std::vector<std::optional<double>> costs_;
};

// What is wrong with a path given cell by cell; empty if it starts and ends where it should, each step is
// legal, and its cost is `cost` to within 1e-6.
std::string PathFault(const core::GridMap& map, core::CornerRule rule, core::Cell start, core::Cell end,
                      absl::Span<const core::Cell> points, double cost);

}  // namespace waystar::testing
