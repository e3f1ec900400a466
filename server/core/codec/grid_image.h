// Encoding of grid maps in map images.
#pragma once

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/codec/block_reader.h"
#include "server/core/codec/block_writer.h"
#include "server/core/codec/image_limits.h"
#include "server/core/grid/map/grid_map.h"

namespace waystar::core {

// Writes an incomplete map if `stop` fails.
void WriteGrid(const GridMap& map, BlockWriter& to, const StopCheck* stop = nullptr);

// Returns the map, or the errors of DecodeImage.
absl::StatusOr<GridMap> ReadGrid(BlockReader& from, const ImageLimits& limits);

}  // namespace waystar::core
