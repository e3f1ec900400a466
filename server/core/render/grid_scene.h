// Pictures of grids.
#pragma once

#include "absl/status/statusor.h"
#include "server/core/map/grid_map.h"
#include "server/core/render/layout.h"
#include "server/core/render/query_marks.h"
#include "server/core/render/scene.h"
#include "server/core/search/query.h"

namespace waystar::core {

// A part of a map, of hexagons one of the plane: terrain, obstacles, portals, and what a query adds, if there
// is one. REQUIRES: the region lies on the map and is not empty; `query` may be null.
//
// Costs time in proportion to the cells of the region, the pixels, and what the query brings. Holds some 12
// bytes a pixel. Errors: those of InterruptionError.
absl::StatusOr<Scene> MakeGridScene(const GridMap& map, const Rectangle& region, const RenderOptions& options,
                                    const QueryMarks* query, const Budget& budget);

}  // namespace waystar::core
