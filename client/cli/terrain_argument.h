#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// Parses SYMBOL=NAME:COST, such as "~=river:3" or "^=mountain:impassable". Without NAME or :COST, or both,
// the server's defaults hold: "~=river", "~=:3".
absl::StatusOr<v1::Terrain> ParseTerrain(absl::string_view text);

}  // namespace waystar::cli
