#include <webp/encode.h>
#include <webp/mux.h>

#include <memory>

#include "absl/status/status.h"
#include "client/animation/film.h"

namespace waystar::animation {
namespace {

using Encoder = std::unique_ptr<WebPAnimEncoder, void (*)(WebPAnimEncoder*)>;

bool Add(WebPAnimEncoder* encoder, const picture::Canvas& canvas, int at, const WebPConfig& config) {
  WebPPicture image;
  if (WebPPictureInit(&image) == 0) {
    return false;
  }
  image.use_argb = 1;
  image.width = canvas.width();
  image.height = canvas.height();
  const auto* pixels = reinterpret_cast<const std::uint8_t*>(canvas.pixels().data());
  const bool is_well = WebPPictureImportRGB(&image, pixels, canvas.width() * 3) != 0 &&
                       WebPAnimEncoderAdd(encoder, &image, at, &config) != 0;
  WebPPictureFree(&image);
  return is_well;
}

}  // namespace

absl::StatusOr<std::string> EncodeWebp(const Animation& animation) {
  const absl::Status failure = absl::InternalError("the WebP library cannot write this animation");
  WebPAnimEncoderOptions options;
  WebPConfig config;
  // From 0, fast, to 9, small.
  constexpr int kEffort = 3;
  if (WebPAnimEncoderOptionsInit(&options) == 0 || WebPConfigInit(&config) == 0 ||
      WebPConfigLosslessPreset(&config, kEffort) == 0) {
    return failure;
  }
  const Encoder encoder(WebPAnimEncoderNew(animation.width, animation.height, &options),
                        &WebPAnimEncoderDelete);
  picture::Canvas shown(animation.width, animation.height, picture::Color{});
  int at = 0;
  for (const Frame& frame : animation.frames) {
    shown.Paste(frame.part, frame.x, frame.y);
    if (encoder == nullptr || !Add(encoder.get(), shown, at, config)) {
      return failure;
    }
    at += frame.milliseconds;
  }
  WebPData data;
  WebPDataInit(&data);
  if (WebPAnimEncoderAdd(encoder.get(), nullptr, at, nullptr) == 0 ||
      WebPAnimEncoderAssemble(encoder.get(), &data) == 0) {
    return failure;
  }
  std::string bytes(reinterpret_cast<const char*>(data.bytes), data.size);
  WebPDataClear(&data);
  return bytes;
}

}  // namespace waystar::animation
