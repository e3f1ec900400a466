// Decoder of the tile numbers of a Tiled layer in all encodings.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "server/formats/grid/tiled_map.h"

namespace waystar::core {

// Calls visit(i, gid) for each cell of the area, by row. gid 0 means no tile; flip flags are removed. Stops
// at the first error of `visit`. Returns INVALID_ARGUMENT / BAD_FORMAT without a field if the data is broken
// or does not have exactly one entry per cell.
// REQUIRES: the area's sides are from 1 to kMaxMapSide.
absl::Status ForEachTile(const TiledTileData& data,
                         absl::FunctionRef<absl::Status(std::size_t, std::uint32_t)> visit);

}  // namespace waystar::core
