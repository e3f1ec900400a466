// Oracle of paths: a slow, obvious judge. It shares no code with the search: it asks the map for one cell at
// a time and keeps costs as doubles.
//
// An agent of footprint n stands on the n x n cells from its position to the right and down; a path is one of
// positions. The corner rules look at positions as well: where they ask whether a cell is walkable, the agent
// must be able to stand there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar {

// Whether all cells of the footprint are walkable; false if some are off the map.
bool CanStand(const core::GridMap& map, core::Cell position, int footprint = 1);

// Whether one step from `from`, where the agent can stand, to `to` is legal.
bool IsLegalStep(const core::GridMap& map, core::CornerRule rule, core::Cell from, core::Cell to,
                 int footprint = 1);

// The cost of a straight step into the cell: its own, or its terrain's.
double CellCost(const core::GridMap& map, core::Cell cell);

// The cost of a legal step that enters `to`, by the dearest cell below the agent once it stands there.
double StepCost(const core::GridMap& map, core::Cell from, core::Cell to, int footprint = 1);

// Cheapest costs from one cell to every cell of a map, by textbook Dijkstra.
class Oracle {
 public:
  // REQUIRES: CanStand(map, start, footprint).
  Oracle(const core::GridMap& map, core::CornerRule rule, core::Cell start, int footprint = 1);

  // Returns nothing if the cell cannot be reached.
  std::optional<double> CostTo(core::Cell cell) const;

  // Returns where UnreachablePolicy::kNearestByDistance must lead. Costs that differ by less than rounding
  // count as equal.
  core::Cell NearestTo(core::Cell goal) const;

 private:
  const core::GridMap& map_;
  std::vector<std::optional<double>> costs_;
};

// Returns what is wrong with a path given cell by cell: nothing if it starts and ends where it should, each
// step is legal, and its cost is `cost` to within 1e-6.
std::string PathFault(const core::GridMap& map, core::CornerRule rule, core::Cell start, core::Cell end,
                      absl::Span<const core::Cell> points, double cost, int footprint = 1);

}  // namespace waystar
