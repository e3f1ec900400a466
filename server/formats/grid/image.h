// Decoder of PNG, WebP and GIF images, and reader of maps from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/grid/map/grid_map.h"
#include "server/formats/grid/terrain_mapping.h"
#include "server/formats/text/grid_overrides.h"

namespace waystar::core {

struct Image {
  int width = 0;
  int height = 0;
  // RGBA pixels by row, red in the highest byte.
  std::vector<std::uint32_t> pixels;
  // Palette index of each pixel; empty without a palette.
  std::vector<std::uint8_t> indices;

  std::size_t pixel_count() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }
};

// Returns true if the bytes begin like an image of these kinds.
bool IsImage(absl::string_view bytes);

// Decodes an image, or the first frame of a GIF. Returns INVALID_ARGUMENT without a field: BAD_SIZE if a side
// exceeds `max_side`, checked before memory of that size is allocated, or BAD_FORMAT, also for animated WebP.
// Returns the error of `stop`, which is polled per row or some KiB of the file.
absl::StatusOr<Image> DecodeImage(absl::string_view bytes, int max_side, const StopCheck* stop = nullptr);

// Creates a map with a cell for each pixel. With `mapping`, the first of these rules that applies decides a
// pixel: its palette index if the image has a palette and the mapping has values; its colour; `transparent`
// if it is fully transparent; `grey`; `else`. Other pixels are an error, except transparent ones, which are
// blocked. If `mapping` is null, dark or mostly transparent pixels are blocked, and all others are ground.
//
// Returns INVALID_ARGUMENT: BAD_FORMAT, BAD_SIZE or BAD_TERRAIN without a field, naming the pixel, and the
// errors of ApplyOverrides.
absl::StatusOr<GridMap> ParseImageMap(absl::string_view bytes, const TerrainMapping* mapping,
                                      const GridOverrides& overrides);

}  // namespace waystar::core
