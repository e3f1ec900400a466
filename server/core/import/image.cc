#include "server/core/import/image.h"

#include <array>
#include <cstring>

#include "absl/strings/match.h"
#include "server/core/import/image_decoders.h"

namespace waystar::core {
namespace {

bool IsWebp(absl::string_view bytes) {
  return absl::StartsWith(bytes, kRiffMagic) && bytes.size() >= 12 && bytes.substr(8, 4) == "WEBP";
}

}  // namespace

void PackPixels(Image& image) {
  for (std::uint32_t& pixel : image.pixels) {
    std::array<std::uint8_t, 4> bytes{};
    std::memcpy(bytes.data(), &pixel, sizeof(pixel));
    pixel = PackPixel(bytes[0], bytes[1], bytes[2], bytes[3]);
  }
}

bool IsImage(absl::string_view bytes) {
  return absl::StartsWith(bytes, kPngMagic) || absl::StartsWith(bytes, kGifMagic) || IsWebp(bytes);
}

absl::StatusOr<Image> DecodeImage(absl::string_view bytes, int max_side) {
  if (absl::StartsWith(bytes, kPngMagic)) {
    return DecodePng(bytes, max_side);
  }
  if (absl::StartsWith(bytes, kGifMagic)) {
    return DecodeGif(bytes, max_side);
  }
  if (IsWebp(bytes)) {
    return DecodeWebp(bytes, max_side);
  }
  return BadImage("this is no picture: PNG, WebP and GIF are read");
}

}  // namespace waystar::core
