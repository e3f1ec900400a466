// The reachable cells nearest to one that cannot be reached.
#pragma once

#include <vector>

#include "server/core/map/cell.h"
#include "server/core/map/components.h"

namespace waystar::core {

// Appends all cells connected to `start` whose Euclidean distance to `goal` is least, in row-major order: the
// goal itself if it is connected, and nothing if `start` is not set or off the plane.
// REQUIRES: `goal` is on the plane.
//
// Takes blocks by their distance to the goal, leaving out those without a cell of the component: Hjaltason
// and Samet, "Distance Browsing in Spatial Databases" (1999).
void NearestConnected(const Components& components, Cell start, Cell goal, std::vector<Cell>& nearest);

}  // namespace waystar::core
