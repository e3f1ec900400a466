// The .map files of the Moving AI benchmark.
//
// Sturtevant, "Benchmarks for Grid-Based Pathfinding" (2012). '.' ground, 'G' grass and 'S' swamp are
// walkable at cost 1; 'T' trees and 'W' water are impassable terrain; '@' and 'O' (out of bounds) are
// obstacles. Water is "traversable, but not passable from terrain": the benchmark's walkers start on land and
// never enter it.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/format/grid_overrides.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

// The first bytes of such a file.
inline constexpr absl::string_view kMovingAiMagic = "type ";

// Returns INVALID_ARGUMENT / BAD_FORMAT for a bad header and for fewer or more rows than it promises, and the
// errors of ParseRows and ApplyOverrides. Messages name the line.
absl::StatusOr<GridMap> ParseMovingAi(absl::string_view bytes, const GridOverrides& overrides);

// Returns FAILED_PRECONDITION / NOT_EXPRESSIBLE if a cell has a terrain that the format has no letter for.
// The costs of terrains, the connectivity and the diagonal cost are not written. Returns the error of `stop`.
absl::StatusOr<std::string> FormatMovingAi(const GridMap& map, const StopCheck* stop = nullptr);

}  // namespace waystar::core
