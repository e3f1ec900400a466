// Maps of the Tiled editor (.tmx, .tmj).
//
// A tile says what it is by its properties: `blocked` (or `collides`, or `walkable`; booleans), or else
// `terrain` (a name, in which '_' takes the place of spaces; without one the tile's class), `cost`,
// `impassable` and `symbol`; shapes drawn in the collision editor block it unless a flag or the mapping says
// otherwise. Names of properties are read in any letters, and in properties that are classes too; a value
// that cannot be read is an error. A class alone says nothing, unless the mapping has it. Layers may have the
// same properties, for those of their tiles that say nothing. Of the tiles on a cell the topmost that says
// something decides. Where no tile says anything the cell is ground at cost 1; where there is none at all
// too, but on infinite maps it is blocked, and the map's property `empty` ("free" or "blocked") says
// otherwise. Hidden layers, and those with the property `ignore`, are passed over. Offsets of layers and
// their groups move tiles by whole cells; others are refused unless the layer's tiles say nothing. Objects:
// see tiled_objects.h.
//
// Orthogonal, oblique and isometric maps are grids of squares, hexagonal ones boards of hexagons with
// offsets. A tile is as large as the map's property `cell_size` says (1), and tile (0, 0) lies at the origin.
// Of an infinite map the chunks' bounds are the grid, its origin where their first tile lies.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/import/import_notes.h"
#include "server/core/import/import_options.h"
#include "server/core/import/terrain_mapping.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

// Notes what it passes over. Returns INVALID_ARGUMENT: BAD_FORMAT, BAD_SIZE or BAD_TERRAIN without a field,
// naming line, layer and tile; BAD_VALUE with field kLayersField for a layer that does not exist; and the
// errors of ApplyOverrides and ApplyEdits. All layers together have at most 2^28 tiles.
absl::StatusOr<GridMap> ParseTiled(absl::string_view bytes, const TerrainMapping& mapping,
                                   const ImportOptions& options, ImportNotes& notes);

}  // namespace waystar::core
