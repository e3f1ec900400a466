// Scenes of grids.
#pragma once

#include "absl/status/statusor.h"
#include "server/core/map/grid_map.h"
#include "server/core/render/layout.h"
#include "server/core/render/query_marks.h"
#include "server/core/render/scene.h"
#include "server/core/search/query.h"

namespace waystar::core {

// Returns a scene of a part of a map, as clients count its cells: terrain, obstacles, portals, and what a
// query adds, unless it is null. REQUIRES: the part lies on the map and is not empty.
//
// It costs time in proportion to the cells of the part, the pixels, and what the query brings, and takes
// about 12 bytes a pixel. Returns the errors of InterruptionError.
absl::StatusOr<Scene> MakeGridScene(const GridMap& map, const Rectangle& part, const RenderOptions& options,
                                    const QueryMarks* query, const Budget& budget);

}  // namespace waystar::core
