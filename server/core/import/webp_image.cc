#include <cstdint>

#include "server/core/import/image_decoders.h"
#include "server/core/map/grid_map.h"
#include "webp/decode.h"

namespace waystar::core {

absl::StatusOr<Image> DecodeWebp(absl::string_view bytes, int max_side) {
  const auto* const data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(data, bytes.size(), &features) != VP8_STATUS_OK) {
    return BadImage("bad WebP: its header is broken or cut off");
  }
  if (features.has_animation != 0) {
    return BadImage("a WebP that moves is no map");
  }
  if (const absl::Status status = CheckMapSize(features.width, features.height, max_side); !status.ok()) {
    return InvalidArgument(ErrorReason::kBadSize, "", status.message());
  }
  Image image{.width = features.width, .height = features.height};
  image.pixels.resize(image.pixel_count());
  auto* const pixels = reinterpret_cast<std::uint8_t*>(image.pixels.data());
  if (WebPDecodeRGBAInto(data, bytes.size(), pixels, image.pixel_count() * 4, image.width * 4) == nullptr) {
    return BadImage("bad WebP: its pixels are broken or cut off");
  }
  PackPixels(image);
  return image;
}

}  // namespace waystar::core
