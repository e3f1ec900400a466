#include "server/picture/file/png.h"

#include <png.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace waystar::picture {
namespace {

constexpr std::size_t kMaxPalette = 256;

struct Indexed {
  std::vector<Color> palette;
  std::vector<std::uint8_t> pixels;
};

// Nothing if there are too many colours.
std::optional<Indexed> ToIndexed(const Canvas& canvas) {
  absl::flat_hash_map<std::uint32_t, std::uint8_t> places;
  Indexed indexed;
  indexed.pixels.reserve(canvas.pixels().size());
  for (const Color color : canvas.pixels()) {
    // Most pixels are like the one before.
    if (!indexed.pixels.empty() && indexed.palette[indexed.pixels.back()] == color) {
      indexed.pixels.push_back(indexed.pixels.back());
      continue;
    }
    const auto [place, is_new] =
        places.try_emplace(HexOf(color), static_cast<std::uint8_t>(indexed.palette.size()));
    if (is_new) {
      if (indexed.palette.size() == kMaxPalette) {
        return std::nullopt;
      }
      indexed.palette.push_back(color);
    }
    indexed.pixels.push_back(place->second);
  }
  return indexed;
}

std::string Write(png_image& image, const void* pixels, const void* palette) {
  png_alloc_size_t size = 0;
  if (png_image_write_get_memory_size(image, size, 0, pixels, 0, palette) == 0) {
    return "";
  }
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels, 0, palette) == 0) {
    return "";
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace

std::string EncodePng(const Canvas& canvas) {
  static_assert(sizeof(Color) == 3);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(canvas.width());
  image.height = static_cast<png_uint_32>(canvas.height());
  if (const std::optional<Indexed> indexed = ToIndexed(canvas)) {
    image.format = PNG_FORMAT_RGB_COLORMAP;
    image.colormap_entries = static_cast<png_uint_32>(indexed->palette.size());
    return Write(image, indexed->pixels.data(), indexed->palette.data());
  }
  image.format = PNG_FORMAT_RGB;
  return Write(image, canvas.pixels().data(), nullptr);
}

absl::StatusOr<Canvas> DecodePng(absl::string_view bytes, std::size_t max_pixels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0) {
    return absl::InvalidArgumentError(absl::StrCat("no PNG file: ", image.message));
  }
  if (std::size_t{image.width} * image.height > max_pixels) {
    png_image_free(&image);
    return absl::InvalidArgumentError(absl::StrCat("a picture of more than ", max_pixels, " pixels"));
  }
  image.format = PNG_FORMAT_RGB;
  Canvas canvas(static_cast<int>(image.width), static_cast<int>(image.height), Rgb(0xFFFFFF));
  const png_color white = {255, 255, 255};
  if (png_image_finish_read(&image, &white, canvas.row(0).data(), 0, nullptr) == 0) {
    return absl::InvalidArgumentError(absl::StrCat("no whole PNG file: ", image.message));
  }
  return canvas;
}

}  // namespace waystar::picture
