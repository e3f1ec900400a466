// The region that a flood with a cost limit can come to.
#pragma once

#include "absl/types/span.h"
#include "server/core/field/flood_sense.h"
#include "server/core/field/passages.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/cost.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

// Returns a rectangle around all cells of the region that could be within the cost of a seed if there were no
// walls, on foot or through passages between cells of the region. It costs a nanosecond for each passage,
// and, unless the region is all within the cost on foot, for each pair of those within it. REQUIRES: the seed
// lies in the region, which lies on the map.
Rectangle ReachRegion(const GridMap& map, absl::Span<const Passage> passages, Cell seed, FloodSense sense,
                      Cost max_cost, const Rectangle& region);

}  // namespace waystar::core
