// Movement profiles as lines of a text file's header:
//
//   profile tank footprint 2 corner_rule one_side_free ~ forbidden ^ 3
//   profile crab no_diagonals tag ladder tag rope
//
// After the name follow, in any order: "footprint N", "corner_rule no_corner_cutting|one_side_free|always",
// "no_diagonals", "tag TAG" for each required tag, and for each terrain its symbol with its cost or
// "forbidden". A word of one character is a symbol.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/core/grid/map/movement_profile.h"

namespace waystar::core {

// Parses the words of a line, including "profile". Returns INVALID_ARGUMENT / BAD_FORMAT for malformed words;
// does not check whether the map accepts the profile.
absl::StatusOr<NamedProfile> ParseProfile(absl::Span<const absl::string_view> words);

// Returns the line, without its end.
std::string FormatProfile(const NamedProfile& profile);

}  // namespace waystar::core
