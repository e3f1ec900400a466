// Scenes of grids.
#pragma once

#include "absl/status/statusor.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"
#include "server/render/scene/layout.h"
#include "server/render/scene/query_marks.h"
#include "server/render/scene/scene.h"

namespace waystar::core {

// Returns a scene of a part of a map, given in client cell coordinates: terrain, obstacles, portals, and the
// query if not null. The cost is linear in the cells of the part, the pixels, and the query's marks; memory
// is about 12 bytes per pixel. Returns the errors of InterruptionError.
// REQUIRES: the part lies on the map and is not empty.
absl::StatusOr<Scene> MakeGridScene(const GridMap& map, const Rectangle& part, const RenderOptions& options,
                                    const QueryMarks* query, const Budget& budget);

}  // namespace waystar::core
