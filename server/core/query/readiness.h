// Preparation of a map for queries: builds the expensive data that an agent's searches need.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/search/query.h"

namespace waystar::core {

// Cells scanned in the time of one expansion, in work over the whole map.
inline constexpr std::uint64_t kCellsPerExpansion = 256;

// Charges the budget's upkeep for work over `cells` cells, before the work begins. Returns UpkeepError if too
// little is left, or the errors of InterruptionError.
absl::Status BeginUpkeep(const Budget& budget, std::uint64_t cells);

// Builds the data for agents of this size and corner rule if it is missing: the walk grid of the cells where
// the agent fits, the components, the cost floor and, for jump searches, their index. After edits and in
// overlays, this data is updated in proportion to the change.
//
// Returns the errors of BeginUpkeep, and MAPS_MEMORY_FULL with field "agent.footprint" if the walk grid does
// not fit in memory.
// REQUIRES: 1 <= footprint <= kMaxFootprint.
absl::Status MakeReady(const GridMap& map, int footprint, CornerRule rule, bool by_jumps,
                       const Budget& budget);

}  // namespace waystar::core
