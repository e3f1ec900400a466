// Reader and writer of .map files of the Moving AI benchmark.
//
// Format: Sturtevant, "Benchmarks for Grid-Based Pathfinding" (2012). '.' ground, 'G' grass and 'S' swamp are
// walkable at cost 1; 'T' trees and 'W' water are impassable terrain; '@' and 'O' (out of bounds) are
// obstacles. Water is "traversable, but not passable from terrain": agents of the benchmark start on land and
// never enter it.
//
// A file begins with the lines "type octile", "height H", "width W" and "map"; then follow H rows of W
// letters. The reader accepts common deviations: a byte order mark, header lines in any order and case,
// blanks around words, blank lines before the first and after the last row, trailing blanks, a header without
// "type" or without "map", and types other than octile, whose rows are read alike. It rejects hexagonal
// types, and rows that do not match H and W.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/grid/map/grid_map.h"
#include "server/formats/text/grid_overrides.h"

namespace waystar::core {

// Returns true if the bytes begin like such a file: with a line "type T", or with a height or width line
// followed by another header line.
bool LooksLikeMovingAi(absl::string_view bytes);

// Parses a file. Returns INVALID_ARGUMENT / BAD_FORMAT for a bad header or rows that do not match it, and the
// errors of ParseRows and ApplyOverrides. Messages name the line.
absl::StatusOr<GridMap> ParseMovingAi(absl::string_view bytes, const GridOverrides& overrides);

// Returns FAILED_PRECONDITION / NOT_EXPRESSIBLE if a cell has a terrain without a letter in the format, or
// the error of `stop`. Terrain costs, connectivity and diagonal cost are not written.
absl::StatusOr<std::string> FormatMovingAi(const GridMap& map, const StopCheck* stop = nullptr);

}  // namespace waystar::core
