// Overrides: what a caller says of a grid in addition to the map's bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/grid/grid_settings.h"

namespace waystar::core {

// Overrides of the terrain with this symbol. Fields without a value keep what the map's format gives the
// symbol, else the default.
struct TerrainOverride {
  char symbol = 0;
  std::optional<std::string> name;
  std::optional<double> cost;
  std::optional<bool> impassable;
};

struct GridOverrides {
  enum class Cells : std::uint8_t { kSquares, kHexagons };

  // What the cells have to be, if that is said.
  std::optional<Cells> cells;
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
  // Asked while the map is read, whose reader returns its error; null if nothing may stop it.
  const StopCheck* stop = nullptr;
};

// Returns `base` with the overrides applied: a known symbol is redefined, an unknown one is added. Returns
// INVALID_ARGUMENT / BAD_VALUE or BAD_TERRAIN with a field such as "squares.diagonal_cost" or
// "terrains[i].cost", i counting the overrides, as CheckGridSettings does, and also if two overrides share a
// symbol; BAD_VALUE with field "squares" if the base has hexagons and is to have squares; MISSING_FIELD with
// field "hexagons.layout" if it is to have hexagons and nothing says how they lie.
absl::StatusOr<GridSettings> ApplyOverrides(GridSettings base, const GridOverrides& overrides);

}  // namespace waystar::core
