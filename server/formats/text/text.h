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
// Header lines may be in any order. Each key occurs at most once, except terrain and profile (see
// profile_text.h). Without a header, the first line is the first row. '.' is ground of cost 1; '#', '@' and
// 'O' are obstacles; other symbols are defined by the header and by the caller's overrides, which take
// precedence. A byte order mark, empty lines before the header and after the last row, blanks around header
// lines and trailing blanks of rows are ignored.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/movement_profile.h"
#include "server/formats/text/grid_overrides.h"

namespace waystar::core {

// Parses a file. Returns the errors of ParseRows and ApplyOverrides, and INVALID_ARGUMENT / BAD_FORMAT naming
// the line for a bad header.
absl::StatusOr<GridMap> ParseText(absl::string_view bytes, const GridOverrides& overrides);

// Returns text that parses back to the same map, except that the terrain below obstacles is lost. The header
// is written only if the map differs from the defaults. Once `stop` fails, the remaining rows are omitted.
std::string FormatText(const GridMap& map, const StopCheck* stop = nullptr);

// Movement profiles are lines of a text file's header:
//
//   profile tank footprint 2 corner_rule one_side_free ~ forbidden ^ 3
//   profile crab no_diagonals tag ladder tag rope
//
// After the name follow, in any order: "footprint N", "corner_rule no_corner_cutting|one_side_free|always",
// "no_diagonals", "tag TAG" for each required tag, and for each terrain its symbol with its cost or
// "forbidden". A word of one character is a symbol.

// Parses the words of a line, including "profile". Returns INVALID_ARGUMENT / BAD_FORMAT for malformed words;
// does not check whether the map accepts the profile.
absl::StatusOr<NamedProfile> ParseProfile(absl::Span<const absl::string_view> words);

// Returns the line, without its end.
std::string FormatProfile(const NamedProfile& profile);

}  // namespace waystar::core
