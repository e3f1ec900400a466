#include "server/formats/text/grid_overrides.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"

namespace waystar::core {
namespace {

Terrain Overridden(Terrain terrain, const TerrainOverride& changes) {
  terrain.name = changes.name.value_or(terrain.name);
  // A cost implies passable unless the override says otherwise: a price for water means that it can be
  // crossed.
  terrain.impassable = changes.impassable.value_or(terrain.impassable && !changes.cost.has_value());
  terrain.cost = changes.cost.value_or(terrain.cost);
  return terrain;
}

absl::Status CheckCells(const GridSettings& settings, const GridOverrides& overrides) {
  const bool has_hexagons = settings.frame.hexagons.has_value();
  if (overrides.cells == GridOverrides::Cells::kSquares && has_hexagons) {
    return MakeError(ErrorReason::kBadValue, "squares", "the map's file has hexagons");
  }
  if (overrides.cells == GridOverrides::Cells::kHexagons && !has_hexagons) {
    return MakeError(ErrorReason::kMissingField, "hexagons.layout", "hexagons need a layout");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<GridSettings> ApplyOverrides(GridSettings base, const GridOverrides& overrides) {
  base.connectivity = overrides.connectivity.value_or(base.connectivity);
  if (overrides.hexagons) {
    base.connectivity = overrides.connectivity.value_or(Connectivity::kSix);
    base.frame.hexagons = HexBoard{.layout = *overrides.hexagons};
    base.diagonal_cost = 1.0;
  }
  WAYSTAR_RETURN_IF_ERROR(CheckCells(base, overrides));
  base.diagonal_cost = overrides.diagonal_cost.value_or(base.diagonal_cost);
  base.world = overrides.world.value_or(base.world);
  base.frame.origin = overrides.origin.value_or(base.frame.origin);
  base.frame.cell_size = overrides.cell_size.value_or(base.frame.cell_size);

  // Checked apart from the base, so that an error's index counts the caller's overrides.
  GridSettings written{.diagonal_cost = base.diagonal_cost};
  written.terrains.clear();
  for (const TerrainOverride& changes : overrides.terrains) {
    const auto known = std::find_if(base.terrains.begin(), base.terrains.end(),
                                    [&](const Terrain& terrain) { return terrain.symbol == changes.symbol; });
    const Terrain fallback{.symbol = changes.symbol, .name = std::string(1, changes.symbol)};
    written.terrains.push_back(Overridden(known == base.terrains.end() ? fallback : *known, changes));
  }
  if (!written.terrains.empty()) {
    WAYSTAR_RETURN_IF_ERROR(CheckGridSettings(written));
  }
  for (Terrain& terrain : written.terrains) {
    const auto known = std::find_if(base.terrains.begin(), base.terrains.end(),
                                    [&](const Terrain& other) { return other.symbol == terrain.symbol; });
    if (known == base.terrains.end()) {
      base.terrains.push_back(std::move(terrain));
    } else {
      *known = std::move(terrain);
    }
  }
  WAYSTAR_RETURN_IF_ERROR(CheckGridSettings(base));
  return base;
}

}  // namespace waystar::core
