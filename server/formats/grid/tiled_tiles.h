// Meaning of Tiled tiles as cells.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/formats/grid/terrain_mapping.h"
#include "server/formats/grid/tiled_map.h"
#include "server/formats/parts/import_options.h"

namespace waystar::core {

// Returns the mapping's rule for a name, as written or as a terrain name; null if there is none.
const CellRule* RuleOfName(const std::string& name, const TerrainMapping& mapping);

// Returns the meaning of a cell with these properties and this tile class, or nullopt if they have none.
//
// SaysBlocked decides first. Otherwise `terrain`, or else the class, is the terrain's name. If the mapping
// has that name, its rule applies, else `cost`, `impassable` and `symbol`. A class unknown to the mapping, or
// a symbol, has no meaning alone. Returns INVALID_ARGUMENT / BAD_TERRAIN without a field for bad values such
// as a cost that is not a number.
absl::StatusOr<std::optional<CellRule>> RuleOfProperties(const TiledProperties& properties,
                                                         const std::string& class_name,
                                                         const TerrainMapping& mapping);

// A tile and its tileset. `tile` is null if the file has no information on it.
struct TileRef {
  const TiledTileset* tileset = nullptr;
  const TiledTile* tile = nullptr;
};

// Table of the meanings of a map's tiles.
//
// Thread safety: none.
class TiledTiles {
 public:
  // The arguments must outlive this.
  // REQUIRES: external tilesets are loaded.
  TiledTiles(const std::vector<TiledTileset>& tilesets, const TerrainMapping& mapping, TerrainTable& terrains,
             ImportNotes& notes);

  // Reserves the symbols that properties of tiles give. Call before MeaningOf.
  absl::Status ReserveSymbols();

  // Returns the terrain of a tile, or nullopt if it has no meaning. Returns the errors of RuleOfProperties
  // and TerrainTable::Add, and an error for a number in no tileset.
  absl::StatusOr<std::optional<TerrainId>> MeaningOf(std::uint32_t gid);

  // Returns a tile by its number without flip bits. Returns INVALID_ARGUMENT / BAD_FORMAT for a number in no
  // tileset.
  absl::StatusOr<TileRef> Find(std::uint32_t gid) const;

 private:
  struct Entry {
    const TiledTile* tile = nullptr;
    bool is_known = false;
    std::optional<TerrainId> meaning;
  };

  absl::StatusOr<std::optional<TerrainId>> Learn(const TiledTile& tile);

  const TerrainMapping& mapping_;
  TerrainTable& terrains_;
  ImportNotes& notes_;
  // Sorted by first number.
  std::vector<const TiledTileset*> tilesets_;
  // Tiles that carry information.
  absl::flat_hash_map<std::uint32_t, Entry> entries_;
};

// Reads an external tileset from a file next to the map. Returns INVALID_ARGUMENT / BAD_FORMAT without a
// field, naming the file, if it cannot be read or is not a tileset.
absl::Status LoadTileset(const NeighbourFiles& neighbours, ImportNotes& notes, TiledTileset& tileset);

// An object completed with values of its template and tile.
struct WholeObject {
  TiledObject object;
  // Has no tileset if the object is not a tile image.
  TileRef picture;
  // Error of its template file; empty if it was read or there is none.
  std::string missing_template;
};

// Cache of template files.
//
// Thread safety: none.
class TiledTemplates {
 public:
  // The arguments must outlive this. `tiles` are those of the map.
  TiledTemplates(const NeighbourFiles& neighbours, const TiledTiles& tiles, ImportNotes& notes)
      : neighbours_(neighbours), tiles_(tiles), notes_(notes) {}

  // Completes an object as Tiled does: unset values come from its template, then from its tile. Returns
  // INVALID_ARGUMENT / BAD_FORMAT for a tile in no tileset.
  absl::StatusOr<WholeObject> Complete(const TiledObject& object);

 private:
  struct Entry {
    TiledTemplate made;
    // The template's tile image.
    TileRef picture;
    // Error of the file; empty if it was read.
    std::string missing;
  };

  const Entry& Find(const std::string& file);
  absl::Status Load(const std::string& file, absl::string_view bytes, Entry& entry);

  const NeighbourFiles& neighbours_;
  const TiledTiles& tiles_;
  ImportNotes& notes_;
  absl::flat_hash_map<std::string, std::unique_ptr<Entry>> templates_;
};

}  // namespace waystar::core
