// Reader of maps of the Tiled editor (.tmx, .tmj).
//
// Properties give the meaning of a tile: `blocked` (or `collides`, or `walkable`; booleans), else `terrain`
// (a name, with '_' for spaces; default: the tile's class), `cost`, `impassable` and `symbol`. Shapes drawn
// in the collision editor block the tile unless a flag or the mapping says otherwise. Property names are
// case-insensitive, and properties within class-typed properties count too; a value that cannot be read is an
// error. A class without other properties has a meaning only if the mapping has it.
//
// Layers may have the same properties, which apply to their tiles without a meaning. The topmost tile with a
// meaning decides a cell. A cell whose tiles have no meaning is ground at cost 1. A cell without tiles is
// ground, or blocked on infinite maps; the map's property `empty` ("free" or "blocked") overrides this.
// Hidden layers, and layers with the property `ignore`, are skipped. Offsets of layers and groups must move
// tiles by whole cells, unless the layer's tiles have no meaning. For objects see PutObjects.
//
// Orthogonal, oblique and isometric maps become square grids; hexagonal maps become hexagon boards with
// offsets. The size of a tile is the map's property `cell_size` (default 1). Tile (0, 0) lies at the origin.
// An infinite map becomes the bounds of its chunks, with its origin at their first tile.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/grid/map/grid_map.h"
#include "server/formats/grid/terrain_mapping.h"
#include "server/formats/parts/import_notes.h"
#include "server/formats/parts/import_options.h"

namespace waystar::core {

// Skipped content is noted. Returns INVALID_ARGUMENT: BAD_FORMAT, BAD_SIZE or BAD_TERRAIN without a field,
// naming line, layer and tile; BAD_VALUE with field kLayersField for an unknown layer; and the errors of
// ApplyOverrides and ApplyEdits. All layers together have at most 2^28 tiles.
absl::StatusOr<GridMap> ParseTiled(absl::string_view bytes, const TerrainMapping& mapping,
                                   const ImportOptions& options, ImportNotes& notes);

}  // namespace waystar::core
