// The .map files of the Moving AI benchmark.
//
// Sturtevant, "Benchmarks for Grid-Based Pathfinding" (2012). '.' ground, 'G' grass and 'S' swamp are
// walkable at cost 1; 'T' trees and 'W' water are impassable terrain; '@' and 'O' (out of bounds) are
// obstacles. Water is "traversable, but not passable from terrain": the benchmark's walkers start on land and
// never enter it.
//
// A file begins with "type octile", "height H", "width W" and "map", a line each; then follow H rows of W
// letters. The reader takes what the tools and hands of others make of that: a byte order mark, header lines
// in any order and in letters of either case, blanks around words, blank lines before the first row and
// after the last, blanks behind rows, a header without "type" or without "map", and other types than octile,
// whose rows are read alike. It takes no type of hexagons, and no rows that do not match H and W.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/format/grid_overrides.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

// Returns whether the bytes begin as such a file does: with a line "type T", or with a line of the height or
// width and another line of the header.
bool LooksLikeMovingAi(absl::string_view bytes);

// Returns INVALID_ARGUMENT / BAD_FORMAT for a bad header and for fewer, more, longer or shorter rows than it
// promises, and the errors of ParseRows and ApplyOverrides. Messages name the line.
absl::StatusOr<GridMap> ParseMovingAi(absl::string_view bytes, const GridOverrides& overrides);

// Returns FAILED_PRECONDITION / NOT_EXPRESSIBLE if a cell has a terrain that the format has no letter for.
// The costs of terrains, the connectivity and the diagonal cost are not written. Returns the error of `stop`.
absl::StatusOr<std::string> FormatMovingAi(const GridMap& map, const StopCheck* stop = nullptr);

}  // namespace waystar::core
