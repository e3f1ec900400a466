// Maps from pictures: one pixel, one cell.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/format/grid_overrides.h"
#include "server/core/import/terrain_mapping.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

// By `mapping`, what a pixel is, is said by its place in the palette if the picture has one and the mapping
// values, else by its colour, else by `transparent` where it is wholly that, else by `grey`, else by `else`.
// Pixels of which it says nothing are an error, but transparent ones, which are blocked. Without a mapping
// (null) pixels that are dark, or more transparent than not, are blocked, and all others ground.
//
// INVALID_ARGUMENT: BAD_FORMAT, BAD_SIZE or BAD_TERRAIN without a field, which name the pixel; the errors of
// ApplyOverrides.
absl::StatusOr<GridMap> ParseImageMap(absl::string_view bytes, const TerrainMapping* mapping,
                                      const GridOverrides& overrides);

}  // namespace waystar::core
