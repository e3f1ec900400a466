// The outlines of obstacles that change what cells cost.
#pragma once

#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/render/layout.h"
#include "server/core/render/scene.h"

namespace waystar::core {

// As broken lines, as far as they lie on the plot: amber where the obstacle multiplies costs, red where it
// adds to them, green where it takes from them. Of rectangles, discs and polygons, the first thousand.
void AddObstacleOutlines(const GridMap& map, const Rectangle& region, const Layout& layout, Scene& scene);

}  // namespace waystar::core
