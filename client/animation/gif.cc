#include <gif_lib.h>

#include <array>
#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/animation/animation.h"
#include "client/animation/palette.h"

namespace waystar::animation {
namespace {

constexpr int kPaletteSize = 256;
// Pixels that stay as they are have it.
constexpr int kTransparent = kPaletteSize - 1;

int Append(GifFileType* file, const GifByteType* bytes, int count) {
  static_cast<std::string*>(file->UserData)
      ->append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
  return count;
}

class GifWriter {
 public:
  explicit GifWriter(const Animation& animation)
      : animation_(animation),
        palette_(animation, kTransparent),
        shown_(animation.width, animation.height, picture::Color{}),
        file_(EGifOpen(&bytes_, &Append, nullptr)) {}
  GifWriter(const GifWriter&) = delete;
  GifWriter& operator=(const GifWriter&) = delete;
  ~GifWriter() { Close(); }

  absl::StatusOr<std::string> Write() {
    bool is_well = file_ != nullptr && WriteHeader();
    for (std::size_t i = 0; is_well && i < animation_.frames.size(); ++i) {
      is_well = WriteFrame(animation_.frames[i], i == 0);
    }
    if (!is_well || !Close()) {
      return absl::InternalError("the GIF library cannot write this animation");
    }
    return std::move(bytes_);
  }

 private:
  bool Close() { return file_ == nullptr || EGifCloseFile(std::exchange(file_, nullptr), nullptr) == GIF_OK; }

  bool WriteHeader() {
    std::array<GifColorType, kPaletteSize> colors{};
    for (std::size_t i = 0; i < palette_.colors().size(); ++i) {
      const picture::Color color = palette_.colors()[i];
      colors[i] = {color.r, color.g, color.b};
    }
    const std::unique_ptr<ColorMapObject, void (*)(ColorMapObject*)> map(
        GifMakeMapObject(kPaletteSize, colors.data()), &GifFreeMapObject);
    constexpr char kName[] = "NETSCAPE2.0";
    constexpr std::array<unsigned char, 3> kForEver = {1, 0, 0};
    EGifSetGifVersion(file_, true);
    return map != nullptr &&
           EGifPutScreenDesc(file_, animation_.width, animation_.height, 8, 0, map.get()) == GIF_OK &&
           EGifPutExtensionLeader(file_, APPLICATION_EXT_FUNC_CODE) == GIF_OK &&
           EGifPutExtensionBlock(file_, sizeof(kName) - 1, kName) == GIF_OK &&
           EGifPutExtensionBlock(file_, kForEver.size(), kForEver.data()) == GIF_OK &&
           EGifPutExtensionTrailer(file_) == GIF_OK;
  }

  bool WriteFrame(const Frame& frame, bool is_first) {
    const GraphicsControlBlock control = {.DisposalMode = DISPOSE_DO_NOT,
                                          .UserInputFlag = false,
                                          .DelayTime = frame.milliseconds / 10,
                                          .TransparentColor = is_first ? NO_TRANSPARENT_COLOR : kTransparent};
    std::array<GifByteType, 4> extension{};
    EGifGCBToExtension(&control, extension.data());
    if (EGifPutExtension(file_, GRAPHICS_EXT_FUNC_CODE, extension.size(), extension.data()) != GIF_OK ||
        EGifPutImageDesc(file_, frame.x, frame.y, frame.part.width(), frame.part.height(), false, nullptr) !=
            GIF_OK) {
      return false;
    }
    std::vector<GifPixelType> row(static_cast<std::size_t>(frame.part.width()));
    for (int y = 0; y < frame.part.height(); ++y) {
      for (int x = 0; x < frame.part.width(); ++x) {
        const picture::Color color = frame.part.At(x, y);
        const bool stays = !is_first && shown_.At(frame.x + x, frame.y + y) == color;
        row[static_cast<std::size_t>(x)] = stays ? kTransparent : palette_.IndexOf(color);
      }
      if (EGifPutLine(file_, row.data(), frame.part.width()) != GIF_OK) {
        return false;
      }
    }
    shown_.Paste(frame.part, frame.x, frame.y);
    return true;
  }

  const Animation& animation_;
  Palette palette_;
  picture::Canvas shown_;
  std::string bytes_;
  GifFileType* file_;
};

}  // namespace

absl::StatusOr<std::string> EncodeGif(const Animation& animation) { return GifWriter(animation).Write(); }

}  // namespace waystar::animation
