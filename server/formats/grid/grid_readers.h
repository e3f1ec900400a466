// Readers of grids from files of map editors and from images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/grid/map/grid_map.h"
#include "server/formats/grid/terrain_mapping.h"
#include "server/formats/parts/import_options.h"
#include "server/formats/parts/json_value.h"
#include "server/formats/text/rows.h"

namespace waystar::core {

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
//
// Skipped content is noted. Returns INVALID_ARGUMENT: BAD_FORMAT, BAD_SIZE or BAD_TERRAIN without a field,
// naming line, layer and tile; BAD_VALUE with field kLayersField for an unknown layer; and the errors of
// ApplyOverrides and ApplyEdits. All layers together have at most 2^28 tiles.
absl::StatusOr<GridMap> ParseTiled(absl::string_view bytes, const TerrainMapping& mapping,
                                   const ImportOptions& options, ImportNotes& notes);

// Returns the known members of objects.
const MemberTables& LdtkMembers();

// Parsed file of the LDtk editor (.ldtk), of which the IntGrid layers are read.
//
// Format: "LDtk JSON structure and documentation", versions 0.4 to 1.5.
//
// The meaning of an IntGrid value is given by the mapping, by value (`value 2 ...`), by identifier (`terrain
// Water ...`) or by `else`. Otherwise the identifier decides: wall, walls, solid, block, blocked, obstacle,
// collision or collisions, case-insensitive, is blocked; NAME_3 is a terrain of cost 3; any other name is a
// terrain of cost 1. Cells without a value are ground. If layers overlap, the topmost value decides. All
// layers must have the same cell size and offsets of whole cells. Hidden layers and layers of other types are
// skipped.
//
// The size of a cell is given by the options (default 1). The level has its LDtk world position in cells, or
// the origin if LDtk arranges levels in a line.
//
// Thread safety: immutable.
class LdtkFile {
 public:
  // Unknown members are noted. Returns INVALID_ARGUMENT / BAD_FORMAT without a field, naming the line, or the
  // error of `stop`.
  static absl::StatusOr<LdtkFile> Parse(absl::string_view bytes, ImportNotes& notes,
                                        const StopCheck* stop = nullptr);

  // Returns the number of levels, at least one.
  std::size_t level_count() const { return levels_.size(); }
  absl::string_view LevelName(std::size_t level) const;

  // Returns the level with that identifier or iid, or the only one if `name` is empty. Returns
  // INVALID_ARGUMENT / BAD_VALUE with field kLevelField if none matches.
  absl::StatusOr<std::size_t> FindLevel(absl::string_view name) const;

  // Skipped content is noted. Returns FAILED_PRECONDITION for a level that cannot be a map: without a visible
  // IntGrid layer, or with layers of different cell sizes. Returns INVALID_ARGUMENT: BAD_FORMAT, BAD_SIZE or
  // BAD_TERRAIN without a field, naming line, layer and cell; BAD_VALUE with field kLayersField for an
  // unknown layer; and the errors of ApplyOverrides. REQUIRES: level < level_count().
  absl::StatusOr<GridMap> ReadLevel(std::size_t level, const TerrainMapping& mapping,
                                    const ImportOptions& options, ImportNotes& notes) const;

 private:
  LdtkFile() = default;

  // Returns the LDtk version of the file, as a suffix for errors.
  std::string Version() const;

  std::unique_ptr<const JsonValue> root_;
  struct Level {
    const JsonValue* value = nullptr;
    // True if LDtk arranges levels in a line, so that they have no position.
    bool is_in_line = false;
  };

  std::vector<Level> levels_;
};

struct Image {
  int width = 0;
  int height = 0;
  // RGBA pixels by row, red in the highest byte.
  std::vector<std::uint32_t> pixels;
  // Palette index of each pixel; empty without a palette.
  std::vector<std::uint8_t> indices;

  std::size_t pixel_count() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }
};

// Returns true if the bytes begin like an image of these kinds.
bool IsImage(absl::string_view bytes);

// Decodes an image, or the first frame of a GIF. Returns INVALID_ARGUMENT without a field: BAD_SIZE if a side
// exceeds `max_side`, checked before memory of that size is allocated, or BAD_FORMAT, also for animated WebP.
// Returns the error of `stop`, which is polled per row or some KiB of the file.
absl::StatusOr<Image> DecodeImage(absl::string_view bytes, int max_side, const StopCheck* stop = nullptr);

// Creates a map with a cell for each pixel. With `mapping`, the first of these rules that applies decides a
// pixel: its palette index if the image has a palette and the mapping has values; its colour; `transparent`
// if it is fully transparent; `grey`; `else`. Other pixels are an error, except transparent ones, which are
// blocked. If `mapping` is null, dark or mostly transparent pixels are blocked, and all others are ground.
//
// Returns INVALID_ARGUMENT: BAD_FORMAT, BAD_SIZE or BAD_TERRAIN without a field, naming the pixel, and the
// errors of ApplyOverrides.
absl::StatusOr<GridMap> ParseImageMap(absl::string_view bytes, const TerrainMapping* mapping,
                                      const GridOverrides& overrides);

}  // namespace waystar::core
