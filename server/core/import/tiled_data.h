// The numbers of tiles that a layer of Tiled holds, in each of the ways it writes them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "server/core/import/tiled_map.h"

namespace waystar::core {

// Calls visit(i, gid) for each cell of the area, row after row; 0 is no tile, and how a tile is turned is
// left out. Stops at its first error. INVALID_ARGUMENT / BAD_FORMAT without a field if the data is broken, or
// not of exactly as many cells as the area has. REQUIRES: the area's sides are from 1 to kMaxMapSide.
absl::Status ForEachTile(const TiledTileData& data,
                         absl::FunctionRef<absl::Status(std::size_t, std::uint32_t)> visit);

}  // namespace waystar::core
