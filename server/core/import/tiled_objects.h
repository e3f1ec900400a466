// Conversion of Tiled's objects to named obstacles.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/import/import_notes.h"
#include "server/core/import/terrain_mapping.h"
#include "server/core/import/tiled_map.h"
#include "server/core/import/tiled_plane.h"
#include "server/core/import/tiled_templates.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

// Returns the map with those objects of these layers that are obstacles: by SaysImpassable of the object's
// properties, else by what the mapping says of its class, else by its class "obstacle" or because it is a
// picture of a tile with collision shapes, else by its layer's properties or class. `cost_factor` and
// `cost_addition`, of the object or else its layer, make one that changes costs. `object_rule` ("centre" or
// "overlap") of the object, its layer or the map says which cells it has. The id is the object's name if that
// is valid and not taken, else "object-" and the object's id, with a number behind it if that is taken.
//
// Hidden objects, those that say nothing, and those that cover no cell get a note. Returns INVALID_ARGUMENT /
// BAD_FORMAT and the errors of ApplyEdits, without a field, naming layer and object; or the error of `stop`.
absl::StatusOr<GridMap> PutObjects(const TiledMap& map, const TerrainMapping& mapping,
                                   const std::vector<const TiledLayer*>& layers, const TiledPlane& plane,
                                   TiledTemplates& templates, ImportNotes& notes, GridMap grid,
                                   const StopCheck* stop = nullptr);

}  // namespace waystar::core
