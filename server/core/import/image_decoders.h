// Decoders of the single kinds of pictures. See image.h.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/core/import/image.h"

namespace waystar::core {

inline constexpr absl::string_view kPngMagic = "\x89PNG\r\n\x1a\n";
inline constexpr absl::string_view kGifMagic = "GIF8";
// Four bytes of length and "WEBP" follow it.
inline constexpr absl::string_view kRiffMagic = "RIFF";

absl::StatusOr<Image> DecodePng(absl::string_view bytes, int max_side);
absl::StatusOr<Image> DecodeWebp(absl::string_view bytes, int max_side);
absl::StatusOr<Image> DecodeGif(absl::string_view bytes, int max_side);

inline absl::Status BadImage(absl::string_view message) {
  return InvalidArgument(ErrorReason::kBadFormat, "", message);
}

// Packs the four bytes of each pixel that a decoder wrote (red, green, blue and alpha), in place.
void PackPixels(Image& image);

inline std::uint32_t PackPixel(std::uint8_t red, std::uint8_t green, std::uint8_t blue, std::uint8_t alpha) {
  return std::uint32_t{red} << 24 | std::uint32_t{green} << 16 | std::uint32_t{blue} << 8 | alpha;
}

}  // namespace waystar::core
