// Grid maps as rows of symbols, the core of every text format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/grid_map.h"

namespace waystar::core {

// Origin of rows, for error messages, and limits.
struct RowSource {
  // Line of the first row, counted from 1, if the rows are lines of a file; 0 if they are a list. An error in
  // row 2 of a list has field "rows[2]"; an error in a file has no field and names the line.
  std::size_t first_line = 0;
  int max_side = kMaxMapSide;
  // Polled before each row; may be null.
  const StopCheck* stop = nullptr;
};

// Parses rows with one symbol per cell: an obstacle symbol, or that of one of settings.terrains. Rows of
// hexagons with offsets are rows of the board, whose size the settings need not give. Returns
// INVALID_ARGUMENT / BAD_SIZE (no rows, an empty row, more than max_side rows or columns), BAD_ROW (rows of
// unequal length) or UNKNOWN_TERRAIN, and the errors of CheckGridSettings and of source.stop.
absl::StatusOr<GridMap> ParseRows(absl::Span<const absl::string_view> rows, GridSettings settings,
                                  RowSource source);

// Returns a map whose cells all have terrain `fill`, each with an obstacle if `blocked`. A hexagon board has
// `width` columns and `height` rows. Returns the errors of GridMap::Create and of `stop`.
// REQUIRES: 1 <= width, height <= kMaxMapSide.
absl::StatusOr<GridMap> CreateFilled(int width, int height, GridSettings settings, TerrainId fill,
                                     bool blocked, const StopCheck* stop = nullptr);

// Returns a map of these cells, by row: GridMapEditor::kObstacle, or an index in settings.terrains. Rows of
// hexagons with offsets are rows of the board. Returns the errors of GridMap::Create and of `stop`.
// REQUIRES: 1 <= width, height <= kMaxMapSide; cells.size() == width * height.
absl::StatusOr<GridMap> BuildMap(int width, int height, GridSettings settings,
                                 absl::Span<const TerrainId> cells, const StopCheck* stop = nullptr);

// Returns the number of rows of the map as text; for a hexagon board, the rows of the board.
int RowCount(const GridMap& map);

// Returns row y as symbols; obstacles are `obstacle_symbol` on any terrain.
std::string FormatRow(const GridMap& map, int y, char obstacle_symbol);

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
