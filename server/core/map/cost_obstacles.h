// The effect of obstacles that change costs on the cells below them.
#pragma once

#include "absl/types/span.h"
#include "server/core/map/grid_map_editor.h"
#include "server/core/map/obstacle_table.h"
#include "server/core/shape/span_set.h"

namespace waystar::core {

// Computes anew what steps into these cells cost: the cost of the terrain, times the factors and then plus
// the additions of all obstacles that cover the cell, clamped to kMinTerrainCost and kMaxTerrainCost.
// Obstacles are taken in the order of ids, so that nothing depends on which came first. Results are rounded
// alike on every machine.
void RefreshCosts(const ObstacleTable& obstacles, absl::Span<const RowSpan> cells, GridMapEditor& editor);

}  // namespace waystar::core
