#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "png.h"
#include "server/base/status_macros.h"
#include "server/core/import/image_decoders.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {
namespace {

// Frees what libpng keeps. The simplified interface jumps over no frame but its own.
struct PngReader {
  PngReader() { image.version = PNG_IMAGE_VERSION; }
  ~PngReader() { png_image_free(&image); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  png_image image{};
};

absl::Status BadPng(const png_image& image) {
  return BadImage(absl::StrCat("bad PNG: ", static_cast<const char*>(image.message)));
}

absl::Status ReadColors(png_image& png, Image& image) {
  png.format = PNG_FORMAT_RGBA;
  image.pixels.resize(image.pixel_count());
  if (png_image_finish_read(&png, nullptr, image.pixels.data(), 0, nullptr) == 0) {
    return BadPng(png);
  }
  PackPixels(image);
  return absl::OkStatus();
}

absl::Status ReadPalette(png_image& png, Image& image) {
  png.format = PNG_FORMAT_RGBA_COLORMAP;
  std::array<std::uint8_t, 4 * 256> palette{};
  image.indices.resize(image.pixel_count());
  if (png_image_finish_read(&png, nullptr, image.indices.data(), 0, palette.data()) == 0) {
    return BadPng(png);
  }
  image.pixels.resize(image.pixel_count());
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    const std::uint8_t* const entry = palette.data() + std::size_t{4} * image.indices[i];
    image.pixels[i] = PackPixel(entry[0], entry[1], entry[2], entry[3]);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Image> DecodePng(absl::string_view bytes, int max_side) {
  PngReader reader;
  png_image& png = reader.image;
  if (png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()) == 0) {
    return BadPng(png);
  }
  if (const absl::Status status = CheckMapSize(png.width, png.height, max_side); !status.ok()) {
    return InvalidArgument(ErrorReason::kBadSize, "", status.message());
  }
  Image image{.width = static_cast<int>(png.width), .height = static_cast<int>(png.height)};
  // Sixteen bits are shades like eight, and not amounts of light.
  png.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  const bool has_palette = (png.format & PNG_FORMAT_FLAG_COLORMAP) != 0;
  WAYSTAR_RETURN_IF_ERROR(has_palette ? ReadPalette(png, image) : ReadColors(png, image));
  return image;
}

}  // namespace waystar::core
