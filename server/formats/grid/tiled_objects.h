// Conversion of Tiled objects to named obstacles.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/grid/map/grid_map.h"
#include "server/formats/grid/terrain_mapping.h"
#include "server/formats/grid/tiled_map.h"
#include "server/formats/grid/tiled_plane.h"
#include "server/formats/grid/tiled_tiles.h"
#include "server/formats/parts/import_notes.h"

namespace waystar::core {

// Adds the objects of these layers that are obstacles to the map. The first of these that applies decides:
// SaysImpassable of the object's properties; the mapping's rule for its class; its class "obstacle", or a
// tile image with collision shapes; the properties or class of its layer. `cost_factor` and `cost_addition`,
// of the object or else of its layer, make an obstacle that changes costs. `object_rule` ("centre" or
// "overlap") of the object, layer or map selects the covered cells. The obstacle id is the object's name if
// it is valid and unused, else "object-" and the object's id, with a number appended if that is taken.
//
// Objects that are hidden, have no meaning or cover no cell are noted. Returns INVALID_ARGUMENT / BAD_FORMAT
// and the errors of ApplyEdits, without a field, naming layer and object; or the error of `stop`.
absl::StatusOr<GridMap> PutObjects(const TiledMap& map, const TerrainMapping& mapping,
                                   const std::vector<const TiledLayer*>& layers, const TiledPlane& plane,
                                   TiledTemplates& templates, ImportNotes& notes, GridMap grid,
                                   const StopCheck* stop = nullptr);

}  // namespace waystar::core
