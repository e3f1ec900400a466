// Grid maps in a map image.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/image/block_reader.h"
#include "server/core/image/block_writer.h"
#include "server/core/image/image_limits.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

// Images of the first version have a byte a cell; see docs/image-format.md.
enum class ImageVersion : std::uint8_t { kFirst = 1, kNewest = 2 };

// Writes the newest version. Leaves out the rest once `stop` fails.
void WriteGrid(const GridMap& map, BlockWriter& to, const StopCheck* stop = nullptr);

// Returns the map, or the errors of DecodeImage.
absl::StatusOr<GridMap> ReadGrid(BlockReader& from, ImageVersion version, const ImageLimits& limits);

}  // namespace waystar::core
