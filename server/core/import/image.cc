#include "server/core/import/image.h"

#include "absl/strings/match.h"
#include "server/core/import/image_decoders.h"

namespace waystar::core {
namespace {

bool IsWebp(absl::string_view bytes) {
  return absl::StartsWith(bytes, kRiffMagic) && bytes.size() >= 12 && bytes.substr(8, 4) == "WEBP";
}

}  // namespace

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
