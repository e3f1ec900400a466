#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "gif_lib.h"
#include "server/base/status_macros.h"
#include "server/core/import/image_decoders.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {
namespace {

int ReadBytes(GifFileType* gif, GifByteType* out, int count) {
  auto& rest = *static_cast<absl::string_view*>(gif->UserData);
  const std::size_t taken = std::min(rest.size(), static_cast<std::size_t>(count));
  std::memcpy(out, rest.data(), taken);
  rest.remove_prefix(taken);
  return static_cast<int>(taken);
}

absl::Status BadGif(int error) {
  const char* const text = GifErrorString(error);
  return BadImage(absl::StrCat("bad GIF: ", text == nullptr ? "broken or cut off" : text));
}

struct GifCloser {
  void operator()(GifFileType* gif) const { DGifCloseFile(gif, nullptr); }
};
using GifReader = std::unique_ptr<GifFileType, GifCloser>;

// Goes on to the first picture. Sets which entry of the palette is transparent, if any.
absl::Status FindPicture(GifFileType& gif, std::optional<int>& transparent) {
  for (;;) {
    GifRecordType type = UNDEFINED_RECORD_TYPE;
    if (DGifGetRecordType(&gif, &type) == GIF_ERROR) {
      return BadGif(gif.Error);
    }
    if (type == IMAGE_DESC_RECORD_TYPE) {
      return DGifGetImageDesc(&gif) == GIF_ERROR ? BadGif(gif.Error) : absl::OkStatus();
    }
    if (type != EXTENSION_RECORD_TYPE) {
      return BadImage("bad GIF: there is no picture in it");
    }
    int code = 0;
    GifByteType* block = nullptr;
    if (DGifGetExtension(&gif, &code, &block) == GIF_ERROR) {
      return BadGif(gif.Error);
    }
    // A block begins with its length.
    GraphicsControlBlock control;
    if (code == GRAPHICS_EXT_FUNC_CODE && block != nullptr &&
        DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK && control.TransparentColor >= 0) {
      transparent = control.TransparentColor;
    }
    while (block != nullptr) {
      if (DGifGetExtensionNext(&gif, &block) == GIF_ERROR) {
        return BadGif(gif.Error);
      }
    }
  }
}

absl::Status ReadIndices(GifFileType& gif, Image& image) {
  image.indices.resize(image.pixel_count());
  const auto read_row = [&](int y) {
    GifByteType* const row =
        image.indices.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width);
    return DGifGetLine(&gif, row, image.width) != GIF_ERROR;
  };
  struct Pass {
    int first;
    int step;
  };
  constexpr Pass kInterlaced[] = {{0, 8}, {4, 8}, {2, 4}, {1, 2}};
  constexpr Pass kPlain[] = {{0, 1}};
  const bool is_interlaced = gif.Image.Interlace;
  const Pass* const begin = is_interlaced ? std::begin(kInterlaced) : std::begin(kPlain);
  const Pass* const end = is_interlaced ? std::end(kInterlaced) : std::end(kPlain);
  for (const Pass* pass = begin; pass != end; ++pass) {
    for (int y = pass->first; y < image.height; y += pass->step) {
      if (!read_row(y)) {
        return BadImage(absl::StrCat("bad GIF: row ", y, " is broken or cut off"));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status FillPixels(const GifFileType& gif, std::optional<int> transparent, Image& image) {
  const ColorMapObject* const palette = gif.Image.ColorMap != nullptr ? gif.Image.ColorMap : gif.SColorMap;
  if (palette == nullptr) {
    return BadImage("bad GIF: it has no palette");
  }
  image.pixels.reserve(image.pixel_count());
  for (const std::uint8_t index : image.indices) {
    if (index >= palette->ColorCount) {
      return BadImage(
          absl::StrCat("bad GIF: a pixel has colour ", index, " of a palette of ", palette->ColorCount));
    }
    const GifColorType& color = palette->Colors[index];
    image.pixels.push_back(index == transparent ? 0 : PackPixel(color.Red, color.Green, color.Blue, 0xFF));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Image> DecodeGif(absl::string_view bytes, int max_side) {
  int error = 0;
  const GifReader gif(DGifOpen(&bytes, &ReadBytes, &error));
  if (gif == nullptr) {
    return BadGif(error);
  }
  std::optional<int> transparent;
  WAYSTAR_RETURN_IF_ERROR(FindPicture(*gif, transparent));
  if (const absl::Status status = CheckMapSize(gif->Image.Width, gif->Image.Height, max_side); !status.ok()) {
    return InvalidArgument(ErrorReason::kBadSize, "", status.message());
  }
  Image image{.width = gif->Image.Width, .height = gif->Image.Height};
  WAYSTAR_RETURN_IF_ERROR(ReadIndices(*gif, image));
  WAYSTAR_RETURN_IF_ERROR(FillPixels(*gif, transparent, image));
  return image;
}

}  // namespace waystar::core
