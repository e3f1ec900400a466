// Why there is no path on a grid.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/grid/engines/blocker_ground.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/search/blockers.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar::core {

struct GridExplanation : Explanation {
  // Every cell of the path, stored in the scratch until its next search.
  absl::Span<const Cell> cells = {};
  // The portals that it passes, open or not. They belong to the map.
  std::vector<PortalCrossing> crossings = {};
};

// Finds a path through blockers whose cost and prices together are lowest, by A* over BlockerGround. Without
// the blockers that it names, the path is legal and costs what the explanation says; fewer might do. A
// diagonal step may pass a corner that is blocked only by what blocks one of its ends. Portals to other maps
// are not used. Only the ends, the corner rule and the footprint of the query count.
//
// The table of blockers takes about a quarter of the memory limit of the scratch besides.
//
// Returns the errors of CheckPrices and CheckEntries; OUT_OF_RANGE / OFF_MAP with "start" or "goal";
// RESOURCE_EXHAUSTED / REGION_TOO_LARGE without a field if a limit ends the search; and the errors of
// InterruptionError.
absl::StatusOr<GridExplanation> ExplainPath(const BlockedMap& blocked, const PathQuery& query,
                                            const BlockerPrices& prices, const Budget& budget,
                                            Scratch& scratch);

}  // namespace waystar::core
