// What the tiles of a map of Tiled mean for whoever walks on them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/import/terrain_mapping.h"
#include "server/core/import/terrain_table.h"
#include "server/core/import/tiled_map.h"

namespace waystar::core {

// Whether `blocked` or `collides` is true, or `walkable` false; nothing if none of them is there, or says
// neither true nor false. The first of them counts.
std::optional<bool> SaysBlocked(const TiledProperties& properties);

// What properties, and the class of a tile, say of a cell: nothing if they have nothing to say.
//
// Blocked as SaysBlocked says. Else `terrain`, or else the class, is the terrain's name; if the mapping has
// that name, it alone says the rest, otherwise `cost`, `impassable` and `symbol` do. INVALID_ARGUMENT /
// BAD_TERRAIN without a field for a cost that is no number, and so on.
absl::StatusOr<std::optional<CellRule>> RuleOfProperties(const TiledProperties& properties,
                                                         const std::string& class_name,
                                                         const TerrainMapping& mapping);

// Thread safety: none.
class TiledTiles {
 public:
  // All must outlive this, and each tileset is to be here itself, in none other file.
  TiledTiles(const std::vector<TiledTileset>& tilesets, const TerrainMapping& mapping,
             TerrainTable& terrains);

  // Gives tiles that ask for symbols those, before any other.
  absl::Status ReserveSymbols();

  // Nothing if the tile has nothing to say. Errors: those of RuleOfProperties and TerrainTable::Add; a number
  // that is in no tileset.
  absl::StatusOr<std::optional<TerrainId>> MeaningOf(std::uint32_t gid);

 private:
  struct Entry {
    const TiledTile* tile = nullptr;
    bool is_known = false;
    std::optional<TerrainId> meaning;
  };

  absl::StatusOr<std::optional<TerrainId>> Learn(const TiledTile& tile);

  const TerrainMapping& mapping_;
  TerrainTable& terrains_;
  std::uint32_t first_gid_ = 0;
  // Those with something to say.
  absl::flat_hash_map<std::uint32_t, Entry> entries_;
};

}  // namespace waystar::core
