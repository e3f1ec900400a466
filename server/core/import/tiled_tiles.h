// The meaning of Tiled's tiles as cells.
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

// Returns true if `blocked` or `collides` is true, or `walkable` false, and false for the opposite; the first
// of them that is there counts. Returns nothing if none is there, or if it is neither true nor false.
std::optional<bool> SaysBlocked(const TiledProperties& properties);

// Returns what properties, and the class of a tile, say of a cell, or nothing if they say nothing.
//
// SaysBlocked tells whether it is blocked. Else `terrain`, or else the class, is the terrain's name; if the
// mapping has that name, it alone says the rest, otherwise `cost`, `impassable` and `symbol` do. Returns
// INVALID_ARGUMENT / BAD_TERRAIN without a field for values such as a cost that is not a number.
absl::StatusOr<std::optional<CellRule>> RuleOfProperties(const TiledProperties& properties,
                                                         const std::string& class_name,
                                                         const TerrainMapping& mapping);

// Thread safety: none.
class TiledTiles {
 public:
  // The arguments must outlive this. REQUIRES: each tileset is loaded, not a reference to another file.
  TiledTiles(const std::vector<TiledTileset>& tilesets, const TerrainMapping& mapping,
             TerrainTable& terrains);

  // Gives tiles that ask for a symbol that symbol, before any other.
  absl::Status ReserveSymbols();

  // Returns nothing if the tile says nothing. Returns the errors of RuleOfProperties and TerrainTable::Add,
  // and one for a number that is in no tileset.
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
  // The tiles that say something.
  absl::flat_hash_map<std::uint32_t, Entry> entries_;
};

}  // namespace waystar::core
