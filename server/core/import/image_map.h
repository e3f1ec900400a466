// Maps from pictures, in which a pixel is a cell.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/format/grid_overrides.h"
#include "server/core/import/terrain_mapping.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

// Makes a map. With `mapping`, the first of these that applies says what a pixel is: its palette index if the
// picture has a palette and the mapping values, its colour, `transparent` if it is wholly transparent,
// `grey`, `else`. Other pixels are an error, except transparent ones, which are blocked. Without a mapping
// (null) pixels that are dark, or more transparent than not, are blocked, and all others ground.
//
// Returns INVALID_ARGUMENT: BAD_FORMAT, BAD_SIZE or BAD_TERRAIN without a field, which name the pixel, and
// the errors of ApplyOverrides.
absl::StatusOr<GridMap> ParseImageMap(absl::string_view bytes, const TerrainMapping* mapping,
                                      const GridOverrides& overrides);

}  // namespace waystar::core
