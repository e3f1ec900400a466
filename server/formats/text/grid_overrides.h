// Overrides: grid settings that a caller gives in addition to the map's bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/grid/cells/grid_settings.h"

namespace waystar::core {

// Overrides of the terrain with this symbol. Unset fields keep the value from the map's file, or the default.
struct TerrainOverride {
  char symbol = 0;
  std::optional<std::string> name;
  std::optional<double> cost;
  std::optional<bool> impassable;
};

struct GridOverrides {
  enum class Cells : std::uint8_t { kSquares, kHexagons };

  // Required kind of cells, if set.
  std::optional<Cells> cells;
  // Four or eight.
  std::optional<Connectivity> connectivity;
  // Makes a hexagonal map.
  std::optional<HexLayout> hexagons;
  std::optional<double> diagonal_cost;
  std::vector<TerrainOverride> terrains;
  std::optional<std::string> world;
  std::optional<WorldPoint> origin;
  std::optional<double> cell_size;
  // Maximum width and height.
  int max_side = kMaxMapSide;
  // Polled while the map is read; may be null.
  const StopCheck* stop = nullptr;
};

// Returns `base` with the overrides applied: a known symbol is redefined, an unknown one added. Errors have a
// field such as "squares.diagonal_cost" or "terrains[i].cost", where i counts the overrides: INVALID_ARGUMENT
// / BAD_VALUE or BAD_TERRAIN as in CheckGridSettings, also if two overrides share a symbol; BAD_VALUE with
// field "squares" if squares are required and the base has hexagons; MISSING_FIELD with field
// "hexagons.layout" if hexagons are required and no layout is known.
absl::StatusOr<GridSettings> ApplyOverrides(GridSettings base, const GridOverrides& overrides);

}  // namespace waystar::core
