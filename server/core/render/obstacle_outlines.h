// Outlines of obstacles that change the costs of cells.
#pragma once

#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/render/layout.h"
#include "server/core/render/scene.h"

namespace waystar::core {

// Adds the outlines as broken lines, as far as they lie on the plot: amber where the obstacle multiplies
// costs, red where it adds to them, green where it takes from them. It adds rectangles, discs and polygons,
// and only the first thousand.
void AddObstacleOutlines(const GridMap& map, const Rectangle& region, const Layout& layout, Scene& scene);

}  // namespace waystar::core
