// Outlines of obstacles that change the costs of cells.
#pragma once

#include "server/core/grid/map/grid_map.h"
#include "server/geometry/cell.h"
#include "server/render/scene/layout.h"
#include "server/render/scene/scene.h"

namespace waystar::core {

// Adds the outlines as dashed lines clipped to the plot: amber if the obstacle multiplies costs, red if it
// adds to them, green if it reduces them. Draws rectangles, discs and polygons, at most the first 1000.
void AddObstacleOutlines(const GridMap& map, const Rectangle& region, const Layout& layout, Scene& scene);

}  // namespace waystar::core
