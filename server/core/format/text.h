// The plain text format: an optional header, then one line per row of the map.
//
//   connectivity 4
//   diagonal_cost 1.4
//   origin -50 -50
//   cell_size 0.5
//   terrain ~ river 3
//   terrain ^ mountain impassable
//   profile tank footprint 2 ~ forbidden ^ 3
//   map
//   ..~~..
//   .#~~^.
//
// The header's lines may come in any order, each key but terrain and profile (see profile_text.h) at most
// once; without a header the first line is the first row. '.' is ground of cost 1, '#', '@' and 'O' are
// obstacles, other symbols are those of the header and of the caller's overrides, which win. A byte order
// mark, empty lines before the header and after the last row, blanks around header lines and blanks behind
// rows are ignored.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/format/grid_overrides.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

// Returns the errors of ParseRows and ApplyOverrides, and INVALID_ARGUMENT / BAD_FORMAT naming the line for a
// bad header.
absl::StatusOr<GridMap> ParseText(absl::string_view bytes, const GridOverrides& overrides);

// Returns text that reads back as the same map, except that an obstacle forgets the terrain below it. It has
// a header only where the map is not what a file without one gives. Leaves out the rows that are left once
// `stop` fails.
std::string FormatText(const GridMap& map, const StopCheck* stop = nullptr);

}  // namespace waystar::core
