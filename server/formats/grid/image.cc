#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "gif_lib.h"
#include "png.h"
#include "server/base/error.h"
#include "server/base/file_errors.h"
#include "server/core/grid/map/grid_map.h"
#include "server/formats/grid/grid_readers.h"
#include "server/formats/grid/terrain_mapping.h"
#include "server/formats/text/rows.h"
#include "webp/decode.h"

namespace waystar::core {
namespace {

constexpr absl::string_view kPngMagic = "\x89PNG\r\n\x1a\n";
constexpr absl::string_view kGifMagic = "GIF8";
// Followed by a 4-byte length and "WEBP".
constexpr absl::string_view kRiffMagic = "RIFF";

bool IsWebp(absl::string_view bytes) {
  return absl::StartsWith(bytes, kRiffMagic) && bytes.size() >= 12 && bytes.substr(8, 4) == "WEBP";
}

// Converts the decoder's bytes, red first, to packed pixels in place.
void PackPixels(absl::Span<std::uint32_t> pixels) {
  for (std::uint32_t& pixel : pixels) {
    pixel = ntohl(pixel);
  }
}

absl::Status BadPng(const png_image& image) {
  return BadFormat(absl::StrCat("bad PNG: ", static_cast<const char*>(image.message)));
}

// The rest of a file, whose reads fail once `stop` does: libpng has no other way to abort a read.
struct ByteStream {
  absl::string_view rest;
  const StopCheck* stop;
};

ssize_t ReadStream(void* cookie, char* out, std::size_t size) {
  auto& stream = *static_cast<ByteStream*>(cookie);
  if (IsStopped(stream.stop)) {
    return -1;
  }
  const std::size_t taken = stream.rest.copy(out, size);
  stream.rest.remove_prefix(taken);
  return static_cast<ssize_t>(taken);
}

absl::StatusOr<Image> DecodePng(absl::string_view bytes, int max_side, const StopCheck* stop) {
  ByteStream stream{.rest = bytes, .stop = stop};
  std::FILE* const file = fopencookie(&stream, "rb", {.read = &ReadStream});
  if (file == nullptr) {
    throw std::bad_alloc();
  }
  const absl::Cleanup close = [&] { std::fclose(file); };
  // The simplified API of libpng longjmps only within its own frames.
  png_image png{.version = PNG_IMAGE_VERSION};
  const absl::Cleanup free_png = [&] { png_image_free(&png); };
  if (png_image_begin_read_from_stdio(&png, file) == 0) {
    return BadPng(png);
  }
  WAYSTAR_RETURN_IF_ERROR(WithField(CheckMapSize(png.width, png.height, max_side), ""));
  Image image{.width = static_cast<int>(png.width), .height = static_cast<int>(png.height)};
  image.pixels.resize(image.pixel_count());
  // Treat 16-bit samples as sRGB, like 8-bit ones, not as linear light.
  png.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  const bool has_palette = (png.format & PNG_FORMAT_FLAG_COLORMAP) != 0;
  png.format = has_palette ? PNG_FORMAT_RGBA_COLORMAP : PNG_FORMAT_RGBA;
  std::array<std::uint32_t, 256> palette{};
  image.indices.resize(has_palette ? image.pixel_count() : 0);
  void* const out = has_palette ? static_cast<void*>(image.indices.data()) : image.pixels.data();
  if (png_image_finish_read(&png, nullptr, out, 0, palette.data()) == 0) {
    return BadPng(png);
  }
  PackPixels(has_palette ? absl::MakeSpan(palette) : absl::MakeSpan(image.pixels));
  std::transform(image.indices.begin(), image.indices.end(), image.pixels.begin(),
                 [&](std::uint8_t index) { return palette[index]; });
  return image;
}

int ReadBytes(GifFileType* gif, GifByteType* out, int count) {
  auto& rest = *static_cast<absl::string_view*>(gif->UserData);
  const std::size_t taken = rest.copy(reinterpret_cast<char*>(out), static_cast<std::size_t>(count));
  rest.remove_prefix(taken);
  return static_cast<int>(taken);
}

absl::Status BadGif(int error) {
  const char* const text = GifErrorString(error);
  return BadFormat(absl::StrCat("bad GIF: ", text == nullptr ? "broken or cut off" : text));
}

// Advances to the first frame. Sets the transparent palette entry, if any.
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
      return BadFormat("bad GIF: there is no picture in it");
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

absl::Status ReadIndices(GifFileType& gif, const StopCheck* stop, Image& image) {
  image.indices.resize(image.pixel_count());
  struct Pass {
    int first;
    int step;
  };
  constexpr Pass kInterlaced[] = {{0, 8}, {4, 8}, {2, 4}, {1, 2}};
  constexpr Pass kPlain[] = {{0, 1}};
  for (const Pass& pass : gif.Image.Interlace ? absl::MakeConstSpan(kInterlaced) : kPlain) {
    for (int y = pass.first; y < image.height; y += pass.step) {
      WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
      GifByteType* const row =
          image.indices.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width);
      if (DGifGetLine(&gif, row, image.width) == GIF_ERROR) {
        return BadFormat(absl::StrCat("bad GIF: row ", y, " is broken or cut off"));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status FillPixels(const GifFileType& gif, std::optional<int> transparent, Image& image) {
  const ColorMapObject* const palette = gif.Image.ColorMap != nullptr ? gif.Image.ColorMap : gif.SColorMap;
  if (palette == nullptr) {
    return BadFormat("bad GIF: it has no palette");
  }
  image.pixels.reserve(image.pixel_count());
  for (const std::uint8_t index : image.indices) {
    if (index >= palette->ColorCount) {
      return BadFormat(
          absl::StrCat("bad GIF: a pixel has colour ", index, " of a palette of ", palette->ColorCount));
    }
    const auto [red, green, blue] = palette->Colors[index];
    const std::uint32_t pixel =
        std::uint32_t{red} << 24 | std::uint32_t{green} << 16 | std::uint32_t{blue} << 8 | 0xFF;
    image.pixels.push_back(index == transparent ? 0 : pixel);
  }
  return absl::OkStatus();
}

absl::StatusOr<Image> DecodeGif(absl::string_view bytes, int max_side, const StopCheck* stop) {
  int error = 0;
  GifFileType* const gif = DGifOpen(&bytes, &ReadBytes, &error);
  if (gif == nullptr) {
    return BadGif(error);
  }
  const absl::Cleanup close = [&] { DGifCloseFile(gif, nullptr); };
  std::optional<int> transparent;
  WAYSTAR_RETURN_IF_ERROR(FindPicture(*gif, transparent));
  WAYSTAR_RETURN_IF_ERROR(WithField(CheckMapSize(gif->Image.Width, gif->Image.Height, max_side), ""));
  Image image{.width = gif->Image.Width, .height = gif->Image.Height};
  WAYSTAR_RETURN_IF_ERROR(ReadIndices(*gif, stop, image));
  WAYSTAR_RETURN_IF_ERROR(FillPixels(*gif, transparent, image));
  return image;
}

absl::StatusOr<Image> DecodeWebp(absl::string_view bytes, int max_side, const StopCheck* stop) {
  // The incremental decoder parses a header again from its start until it is complete, so the number of steps
  // is kept small.
  constexpr std::size_t kFewest = 4096;
  constexpr std::size_t kSteps = 32;
  const std::size_t step = std::max(kFewest, bytes.size() / kSteps);
  const auto* const data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(data, bytes.size(), &features) != VP8_STATUS_OK) {
    return BadFormat("bad WebP: its header is broken or cut off");
  }
  if (features.has_animation != 0) {
    return BadFormat("an animated WebP is not a map");
  }
  WAYSTAR_RETURN_IF_ERROR(WithField(CheckMapSize(features.width, features.height, max_side), ""));
  Image image{.width = features.width, .height = features.height};
  image.pixels.resize(image.pixel_count());
  auto* const pixels = reinterpret_cast<std::uint8_t*>(image.pixels.data());
  const std::unique_ptr<WebPIDecoder, decltype(&WebPIDelete)> decoder(
      WebPINewRGB(MODE_RGBA, pixels, image.pixel_count() * 4, image.width * 4), &WebPIDelete);
  if (decoder == nullptr) {
    throw std::bad_alloc();
  }
  VP8StatusCode status = VP8_STATUS_SUSPENDED;
  for (std::size_t given = 0; status == VP8_STATUS_SUSPENDED && given < bytes.size();) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    given = std::min(given + step, bytes.size());
    status = WebPIUpdate(decoder.get(), data, given);
  }
  if (status != VP8_STATUS_OK) {
    return BadFormat("bad WebP: its pixels are broken or cut off");
  }
  PackPixels(absl::MakeSpan(image.pixels));
  return image;
}

}  // namespace

bool IsImage(absl::string_view bytes) {
  return absl::StartsWith(bytes, kPngMagic) || absl::StartsWith(bytes, kGifMagic) || IsWebp(bytes);
}

absl::StatusOr<Image> DecodeImage(absl::string_view bytes, int max_side, const StopCheck* stop) {
  if (absl::StartsWith(bytes, kPngMagic)) {
    return DecodePng(bytes, max_side, stop);
  }
  if (absl::StartsWith(bytes, kGifMagic)) {
    return DecodeGif(bytes, max_side, stop);
  }
  if (IsWebp(bytes)) {
    return DecodeWebp(bytes, max_side, stop);
  }
  return BadFormat("this is not a picture: PNG, WebP and GIF are read");
}

namespace {

struct Channels {
  explicit Channels(std::uint32_t pixel)
      : red(pixel >> 24), green(pixel >> 16 & 0xFF), blue(pixel >> 8 & 0xFF), alpha(pixel & 0xFF) {}

  std::uint32_t red;
  std::uint32_t green;
  std::uint32_t blue;
  std::uint32_t alpha;
};

CellRule DefaultRule(std::uint32_t pixel) {
  const Channels channels(pixel);
  // Perceived brightness by the weights of ITU-R BT.601.
  const std::uint32_t brightness = (299 * channels.red + 587 * channels.green + 114 * channels.blue) / 1000;
  return {.blocked = channels.alpha < 128 || brightness < 128};
}

CellRule GreyRule(const GreyRamp& ramp, std::uint32_t level) {
  constexpr double kSteps = 63.0;
  const double darkness = (kSteps - std::round(level * kSteps / 255.0)) / kSteps;
  const double cost = ramp.white + (ramp.black - ramp.white) * darkness;
  return {.cost = std::round(cost * 1000.0) / 1000.0};
}

std::optional<CellRule> MappedRule(const TerrainMapping& mapping, std::uint32_t pixel,
                                   std::optional<std::uint32_t> index) {
  if (index) {
    if (const auto known = mapping.values.find(*index); known != mapping.values.end()) {
      return known->second;
    }
  }
  if (const auto known = mapping.colors.find(pixel); known != mapping.colors.end()) {
    return known->second;
  }
  const Channels channels(pixel);
  if (channels.alpha == 0) {
    return mapping.transparent.value_or(CellRule{.blocked = true});
  }
  if (mapping.grey && channels.red == channels.green && channels.red == channels.blue) {
    return GreyRule(*mapping.grey, channels.red);
  }
  return mapping.otherwise;
}

absl::Status PixelError(ErrorReason reason, const Image& image, std::size_t i, absl::string_view message) {
  const auto width = static_cast<std::size_t>(image.width);
  return MakeError(reason, "",
                   absl::StrCat("pixel (", i % width, ", ", i / width, ") of colour ",
                                absl::StrFormat("#%08x", image.pixels[i]), ": ", message));
}

absl::StatusOr<std::vector<TerrainId>> CellsOf(const Image& image, const TerrainMapping* mapping,
                                               TerrainTable& terrains, const StopCheck* stop) {
  // Cache by pixel and palette index; bounded, since a photograph may have a different colour in every pixel.
  constexpr std::size_t kMaxKnown = std::size_t{1} << 20;
  absl::flat_hash_map<std::uint64_t, TerrainId> known;
  std::vector<TerrainId> cells(image.pixel_count());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop, i));
    const std::uint32_t pixel = image.pixels[i];
    const auto index = image.indices.empty() ? std::nullopt : std::optional<std::uint32_t>(image.indices[i]);
    const std::uint64_t key = std::uint64_t{index.value_or(0)} << 32 | pixel;
    if (const auto found = known.find(key); found != known.end()) {
      cells[i] = found->second;
      continue;
    }
    const std::optional<CellRule> rule =
        mapping == nullptr ? DefaultRule(pixel) : MappedRule(*mapping, pixel, index);
    if (!rule) {
      return PixelError(ErrorReason::kBadFormat, image, i, "the terrains say nothing of it, nor `else`");
    }
    const absl::StatusOr<TerrainId> id = terrains.Add(*rule);
    if (!id.ok()) {
      return PixelError(ErrorReason::kBadTerrain, image, i, id.status().message());
    }
    cells[i] = *id;
    if (known.size() < kMaxKnown) {
      known.emplace(key, *id);
    }
  }
  return cells;
}

}  // namespace

absl::StatusOr<GridMap> ParseImageMap(absl::string_view bytes, const TerrainMapping* mapping,
                                      const GridOverrides& overrides) {
  TerrainTable terrains;
  if (mapping != nullptr) {
    WAYSTAR_RETURN_IF_ERROR(mapping->ReserveSymbols(terrains));
  }
  WAYSTAR_ASSIGN_OR_RETURN(Image image, DecodeImage(bytes, overrides.max_side, overrides.stop));
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<TerrainId> cells,
                           CellsOf(image, mapping, terrains, overrides.stop));
  GridSettings settings;
  settings.terrains = terrains.terrains();
  WAYSTAR_ASSIGN_OR_RETURN(settings, ApplyOverrides(std::move(settings), overrides));
  return BuildMap(image.width, image.height, std::move(settings), cells, overrides.stop);
}

}  // namespace waystar::core
