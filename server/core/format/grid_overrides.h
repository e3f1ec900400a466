// What a caller says of a grid beside its cells, in addition to what the map's bytes say.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/grid/grid_settings.h"

namespace waystar::core {

// A terrain of a symbol; what is left out keeps the value the map's format gives the symbol, else the
// default.
struct TerrainOverride {
  char symbol = 0;
  std::optional<std::string> name;
  std::optional<double> cost;
  std::optional<bool> impassable;
};

struct GridOverrides {
  // Four or eight.
  std::optional<Connectivity> connectivity;
  // Makes a map of hexagons.
  std::optional<HexLayout> hexagons;
  std::optional<double> diagonal_cost;
  std::vector<TerrainOverride> terrains;
  std::optional<std::string> world;
  std::optional<Position> origin;
  std::optional<double> cell_size;
  // The longest width and height to accept.
  int max_side = kMaxMapSide;
};

// `base` with the overrides laid over it: a known symbol is redefined, an unknown one is added.
// INVALID_ARGUMENT / BAD_VALUE or BAD_TERRAIN with the field "diagonal_cost" or "terrains[i].cost" and so on,
// i counting the overrides, as CheckGridSettings says; also if two overrides share a symbol.
absl::StatusOr<GridSettings> ApplyOverrides(GridSettings base, const GridOverrides& overrides);

}  // namespace waystar::core
