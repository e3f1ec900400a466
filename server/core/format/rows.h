// Grid maps as rows of symbols, the core of every text format.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/grid/grid_settings.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

// Where rows come from, for error messages, and how large a map they may make.
struct RowSource {
  // If the rows are lines of a file, the number of the first row's line, counted from 1; 0 if the rows are a
  // list. An error in row 2 of a list has field "rows[2]"; one in a file has no field and names the line.
  std::size_t first_line = 0;
  int max_side = kMaxMapSide;
  // Asked before each row; null if nothing may stop the parser.
  const StopCheck* stop = nullptr;
};

// Parses rows with one symbol a cell: an obstacle symbol or that of one of settings.terrains. Rows of
// hexagons with offsets are those of the board, whose size the settings need not say. Returns
// INVALID_ARGUMENT with reason BAD_SIZE (no rows, an empty row, more than max_side rows or columns), BAD_ROW
// (rows of unequal length) or UNKNOWN_TERRAIN, and the errors of CheckGridSettings and of source.stop.
absl::StatusOr<GridMap> ParseRows(absl::Span<const absl::string_view> rows, GridSettings settings,
                                  RowSource source);

// Returns a map whose cells all have terrain `fill`, with an obstacle on each if `blocked`; a board of
// hexagons has width columns and height rows. Returns the errors of GridMap::Create and of `stop`.
// REQUIRES: 1 <= width, height <= kMaxMapSide.
absl::StatusOr<GridMap> CreateFilled(int width, int height, GridSettings settings, TerrainId fill,
                                     bool blocked, const StopCheck* stop = nullptr);

// Returns a map of these cells, row after row: each GridMapEditor::kObstacle or the index of one of
// settings.terrains. Rows of hexagons with offsets are those of the board. Returns the errors of
// GridMap::Create and of `stop`. REQUIRES: 1 <= width, height <= kMaxMapSide; cells.size() == width * height.
absl::StatusOr<GridMap> BuildMap(int width, int height, GridSettings settings,
                                 absl::Span<const TerrainId> cells, const StopCheck* stop = nullptr);

// Returns how many rows the map has as text; for a board of hexagons that is the rows of the board.
int RowCount(const GridMap& map);

// Returns row y as symbols; an obstacle is `obstacle_symbol`, whatever the terrain below.
std::string FormatRow(const GridMap& map, int y, char obstacle_symbol);

}  // namespace waystar::core
