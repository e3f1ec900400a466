// Whether a map is ready for the queries of an agent: what they need of it, made once, that takes long.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "server/core/grid/corner_rule.h"
#include "server/core/map/grid_map.h"
#include "server/core/search/query.h"

namespace waystar::core {

// How many cells of a map are looked at in the time of an expansion, by what goes over all of them.
inline constexpr std::uint64_t kCellsPerExpansion = 256;

// Takes the cost of work over so many cells off the budget's upkeep, before it begins. Returns UpkeepError if
// less is left, or the errors of InterruptionError.
absl::Status BeginUpkeep(const Budget& budget, std::uint64_t cells);

// Makes what queries of an agent of this size under this rule need, if it is not there: the grid of cells
// where it can stand, the components and, for searches by jumps, their index. In what edits or an overlay
// make of the map it is then brought up to date in proportion to what changed.
//
// Returns the errors of BeginUpkeep, and MAPS_MEMORY_FULL with field "footprint" if there is no memory for
// the grid. REQUIRES: 1 <= footprint <= kMaxFootprint.
absl::Status MakeReady(const GridMap& map, int footprint, CornerRule rule, bool by_jumps,
                       const Budget& budget);

}  // namespace waystar::core
