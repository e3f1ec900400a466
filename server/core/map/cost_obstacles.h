// What obstacles that change costs do to the cells below them.
#pragma once

#include "absl/types/span.h"
#include "server/core/map/grid_map_editor.h"
#include "server/core/map/obstacle_table.h"
#include "server/core/shape/span_set.h"

namespace waystar::core {

// Says anew what steps into these cells cost: the cost of the terrain, times the factors and then plus the
// additions of all obstacles that cover the cell, taken in the order of ids, so that nothing depends on which
// came first; from kMinTerrainCost to kMaxTerrainCost. Rounds alike on every machine.
void RefreshCosts(const ObstacleTable& obstacles, absl::Span<const RowSpan> cells, GridMapEditor& editor);

}  // namespace waystar::core
