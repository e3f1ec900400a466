// The meaning of Tiled's tiles as cells.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/import/import_notes.h"
#include "server/core/import/terrain_mapping.h"
#include "server/core/import/terrain_table.h"
#include "server/core/import/tiled_map.h"

namespace waystar::core {

// Returns what a mapping says of a name, or of the terrain that it becomes; null if it does not have it.
const CellRule* RuleOfName(const std::string& name, const TerrainMapping& mapping);

// Returns what properties, and the class of a tile, say of a cell, or nothing if they say nothing.
//
// SaysBlocked tells whether it is blocked. Else `terrain`, or else the class, is the terrain's name; if the
// mapping has that name, it alone says the rest, otherwise `cost`, `impassable` and `symbol` do. A class that
// the mapping does not have, and a symbol, say nothing by themselves. Returns INVALID_ARGUMENT / BAD_TERRAIN
// without a field for values such as a cost that is not a number.
absl::StatusOr<std::optional<CellRule>> RuleOfProperties(const TiledProperties& properties,
                                                         const std::string& class_name,
                                                         const TerrainMapping& mapping);

// A tile and its tileset. `tile` is null where the file says nothing of it but that it is in the tileset.
struct TileRef {
  const TiledTileset* tileset = nullptr;
  const TiledTile* tile = nullptr;
};

// Thread safety: none.
class TiledTiles {
 public:
  // The arguments must outlive this. REQUIRES: each tileset is loaded, not a reference to another file.
  TiledTiles(const std::vector<TiledTileset>& tilesets, const TerrainMapping& mapping, TerrainTable& terrains,
             ImportNotes& notes);

  // Gives tiles that ask for a symbol that symbol, before any other.
  absl::Status ReserveSymbols();

  // Returns nothing if the tile says nothing. Returns the errors of RuleOfProperties and TerrainTable::Add,
  // and one for a number that is in no tileset.
  absl::StatusOr<std::optional<TerrainId>> MeaningOf(std::uint32_t gid);

  // Returns a tile, by its number without the bits that flip it. Returns INVALID_ARGUMENT / BAD_FORMAT for a
  // number that is in no tileset.
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
  // In the order of their first numbers.
  std::vector<const TiledTileset*> tilesets_;
  // The tiles that say something.
  absl::flat_hash_map<std::uint32_t, Entry> entries_;
};

}  // namespace waystar::core
