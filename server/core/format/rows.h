// Grid maps as rows of symbols, the core of every text format.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/core/grid/grid_settings.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

// Where rows come from, to tell people, and how large a map they may make.
struct RowSource {
  // Where the rows are lines of a file: the number of the first row's line, counted from 1; 0 where the rows
  // are a list. An error in row 2 of a list has field "rows[2]"; one in a file has no field and names the
  // line.
  std::size_t first_line = 0;
  int max_side = kMaxMapSide;
};

// One symbol a cell: an obstacle symbol or that of one of settings.terrains. Rows of hexagons with offsets
// are those of the board, whose size the settings need not say. INVALID_ARGUMENT with reason BAD_SIZE (no
// rows, an empty row, more than max_side rows or columns), BAD_ROW (rows of unequal length), UNKNOWN_TERRAIN;
// and the errors of CheckGridSettings.
absl::StatusOr<GridMap> ParseRows(absl::Span<const absl::string_view> rows, GridSettings settings,
                                  RowSource source);

// A map whose cells all have terrain `fill`, with an obstacle on each if `blocked`: of a board of hexagons
// columns x rows. REQUIRES: 1 <= width, height <= kMaxMapSide. Errors: those of GridMap::Create.
absl::StatusOr<GridMap> CreateFilled(int width, int height, GridSettings settings, TerrainId fill,
                                     bool blocked);

// A map of these cells, row after row: each GridMapEditor::kObstacle or the index of one of
// settings.terrains. Rows of hexagons with offsets are those of the board. REQUIRES: 1 <= width, height <=
// kMaxMapSide; cells.size() == width * height. Errors: those of GridMap::Create.
absl::StatusOr<GridMap> BuildMap(int width, int height, GridSettings settings,
                                 absl::Span<const TerrainId> cells);

// How many rows the map has as text: of a board of hexagons its own.
int RowCount(const GridMap& map);

// Row y of them as symbols; an obstacle is `obstacle_symbol`, whatever the terrain below.
std::string FormatRow(const GridMap& map, int y, char obstacle_symbol);

}  // namespace waystar::core
