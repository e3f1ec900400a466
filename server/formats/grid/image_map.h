// Reader of maps from images; a pixel is a cell.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/grid/map/grid_map.h"
#include "server/formats/grid/terrain_mapping.h"
#include "server/formats/text/grid_overrides.h"

namespace waystar::core {

// Creates a map. With `mapping`, the first of these rules that applies decides a pixel: its palette index if
// the image has a palette and the mapping has values; its colour; `transparent` if it is fully transparent;
// `grey`; `else`. Other pixels are an error, except transparent ones, which are blocked. If `mapping` is
// null, dark or mostly transparent pixels are blocked, and all others are ground.
//
// Returns INVALID_ARGUMENT: BAD_FORMAT, BAD_SIZE or BAD_TERRAIN without a field, naming the pixel, and the
// errors of ApplyOverrides.
absl::StatusOr<GridMap> ParseImageMap(absl::string_view bytes, const TerrainMapping* mapping,
                                      const GridOverrides& overrides);

}  // namespace waystar::core
