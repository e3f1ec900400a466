// Decoded pictures: PNG, WebP and GIF.
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
  // The pixels, row after row: red, green, blue and alpha, red in the highest byte.
  std::vector<std::uint32_t> pixels;
  // The palette index of each pixel; empty if there is no palette.
  std::vector<std::uint8_t> indices;

  std::size_t pixel_count() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }
};

// Returns whether bytes begin as a picture of these kinds does.
bool IsImage(absl::string_view bytes);

// Returns INVALID_ARGUMENT without a field: BAD_SIZE if a side is longer than `max_side`, which is checked
// before anything of that size is allocated, or BAD_FORMAT. Of a GIF the first picture is read; an animated
// WebP is refused. Returns the error of `stop`, which is asked for each row or some KiB of the file.
absl::StatusOr<Image> DecodeImage(absl::string_view bytes, int max_side, const StopCheck* stop = nullptr);

}  // namespace waystar::core
