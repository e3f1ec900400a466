// Decoder of PNG, WebP and GIF images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"

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

}  // namespace waystar::core
