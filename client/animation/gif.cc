#include <gif_lib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "client/animation/film.h"
#include "server/render/canvas/canvas.h"

namespace waystar::animation {
namespace {

using picture::Color;

// The eye tells greens apart best.
int ColorDifference(Color a, Color b) {
  const int r = a.r - b.r;
  const int g = a.g - b.g;
  const int blue = a.b - b.b;
  return 3 * r * r + 4 * g * g + 2 * blue * blue;
}

// From the most frequent on; of equally frequent ones the darker first.
std::vector<Color> ColorsOf(const Animation& animation) {
  absl::flat_hash_map<std::uint32_t, std::int64_t> counts;
  for (const Frame& frame : animation.frames) {
    for (const Color color : frame.part.pixels()) {
      ++counts[picture::HexOf(color)];
    }
  }
  std::vector<std::pair<std::int64_t, std::uint32_t>> order;
  order.reserve(counts.size());
  for (const auto& entry : counts) {
    order.emplace_back(-entry.second, entry.first);
  }
  std::sort(order.begin(), order.end());
  std::vector<Color> colors;
  colors.reserve(order.size());
  for (const auto& entry : order) {
    colors.push_back(picture::Rgb(entry.second));
  }
  return colors;
}

// Returns the colours that differ from all previous ones by more than `least`.
std::vector<Color> Distinct(const std::vector<Color>& colors, int least, std::size_t most) {
  std::vector<Color> distinct;
  for (const Color color : colors) {
    const bool is_new = std::all_of(distinct.begin(), distinct.end(),
                                    [&](Color other) { return ColorDifference(color, other) > least; });
    if (is_new) {
      distinct.push_back(color);
    }
    if (distinct.size() > most) {
      break;
    }
  }
  return distinct;
}

// A few colours that represent all of an animation's.
class Palette {
 public:
  // Takes at most `most` colours by the number of their pixels, without those that hardly differ from a more
  // frequent one.
  Palette(const Animation& animation, std::size_t most) {
    const std::vector<Color> all = ColorsOf(animation);
    colors_ = Distinct(all, 0, most);
    for (int least = 8; colors_.size() > most; least *= 2) {
      colors_ = Distinct(all, least, most);
    }
  }

  const std::vector<Color>& colors() const { return colors_; }

  // Returns the index of the nearest colour.
  std::uint8_t IndexOf(Color color) {
    const auto [index, is_new] = known_.try_emplace(picture::HexOf(color));
    if (is_new) {
      const auto nearest =
          std::ranges::min_element(colors_, {}, [&](Color each) { return ColorDifference(color, each); });
      index->second = static_cast<std::uint8_t>(nearest - colors_.begin());
    }
    return index->second;
  }

 private:
  std::vector<Color> colors_;
  absl::flat_hash_map<std::uint32_t, std::uint8_t> known_;
};

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
