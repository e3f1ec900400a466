// Pictures from their bytes: PNG, WebP and GIF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace waystar::core {

struct Image {
  int width = 0;
  int height = 0;
  // Of each pixel, row after row: red, green, blue and alpha, red in the highest byte.
  std::vector<std::uint32_t> pixels;
  // Of each pixel its place in the palette; empty where there is none.
  std::vector<std::uint8_t> indices;

  std::size_t pixel_count() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }
};

// Whether bytes begin as a picture of these kinds does.
bool IsImage(absl::string_view bytes);

// INVALID_ARGUMENT without a field: BAD_SIZE if a side is longer than `max_side`, which is looked at before
// anything of that size is allocated; BAD_FORMAT. Of a GIF its first picture; a WebP that moves is refused.
absl::StatusOr<Image> DecodeImage(absl::string_view bytes, int max_side);

}  // namespace waystar::core
