#include "tests/formats/files.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "gif_lib.h"
#include "gmock/gmock.h"
#include "png.h"
#include "server/formats/text/rows.h"
#include "webp/encode.h"
#include "zlib.h"
#include "zstd.h"

namespace waystar {
namespace {

std::string Deflate(absl::string_view bytes, int window_bits) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::vector<std::uint8_t> BytesOfPixels(const std::vector<std::uint32_t>& pixels) {
  std::vector<std::uint8_t> bytes;
  for (const std::uint32_t pixel : pixels) {
    for (const int shift : {24, 16, 8, 0}) {
      bytes.push_back(static_cast<std::uint8_t>(pixel >> shift));
    }
  }
  return bytes;
}

std::string WritePng(png_image& image, const void* pixels, const void* palette) {
  png_alloc_size_t size = 0;
  EXPECT_NE(png_image_write_to_memory(&image, nullptr, &size, 0, pixels, 0, palette), 0);
  std::string out(size, '\0');
  EXPECT_NE(png_image_write_to_memory(&image, out.data(), &size, 0, pixels, 0, palette), 0);
  out.resize(size);
  return out;
}

png_image PngOf(int width, int height, png_uint_32 format) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = format;
  return image;
}

int AppendGif(GifFileType* gif, const GifByteType* bytes, int count) {
  static_cast<std::string*>(gif->UserData)
      ->append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
  return count;
}

}  // namespace

std::vector<std::string> Rows(const core::GridMap& map) {
  std::vector<std::string> rows;
  for (int y = 0; y < core::RowCount(map); ++y) {
    rows.push_back(core::FormatRow(map, y, '#'));
  }
  return rows;
}

core::GridMap ImportGrid(absl::string_view bytes, const core::ImportOptions& options) {
  absl::StatusOr<core::AnyMap> map = core::ImportMap(core::DetectFormat(bytes), bytes, options);
  if (map.ok() && std::holds_alternative<core::GridMap>(*map)) {
    return std::get<core::GridMap>(*std::move(map));
  }
  ADD_FAILURE() << "no grid: " << map.status();
  return *core::GridMap::Create(1, 1, {});
}

std::vector<std::string> ImportedRows(absl::string_view bytes, const core::ImportOptions& options) {
  const absl::StatusOr<core::AnyMap> map = core::ImportMap(core::DetectFormat(bytes), bytes, options);
  if (!map.ok()) {
    return {std::string(map.status().message())};
  }
  return Rows(std::get<core::GridMap>(*map));
}

std::vector<std::string> NotesOf(absl::string_view bytes, core::ImportOptions options) {
  core::ImportNotes notes;
  options.notes = &notes;
  const absl::StatusOr<core::AnyMap> map = core::ImportMap(core::DetectFormat(bytes), bytes, options);
  if (!map.ok()) {
    return {std::string(map.status().message())};
  }
  std::vector<std::string> lines;
  for (const core::ImportNote& note : notes.notes()) {
    lines.push_back(core::LineOf(note));
  }
  return lines;
}

core::ImportOptions WithFiles(std::vector<std::pair<std::string, std::string>> files) {
  core::ImportOptions options;
  options.neighbours = [files = std::move(files)](absl::string_view name) -> absl::StatusOr<std::string> {
    for (const auto& [known, bytes] : files) {
      if (known == name) {
        return bytes;
      }
    }
    return absl::NotFoundError("there is no such file");
  };
  return options;
}

std::string Png(int width, int height, const std::vector<std::uint32_t>& pixels) {
  png_image image = PngOf(width, height, PNG_FORMAT_RGBA);
  return WritePng(image, BytesOfPixels(pixels).data(), nullptr);
}

std::string PalettePng(int width, int height, const std::vector<std::uint8_t>& indices,
                       const std::vector<std::uint32_t>& palette) {
  png_image image = PngOf(width, height, PNG_FORMAT_RGBA_COLORMAP);
  image.colormap_entries = static_cast<png_uint_32>(palette.size());
  return WritePng(image, indices.data(), BytesOfPixels(palette).data());
}

std::string Webp(int width, int height, const std::vector<std::uint32_t>& pixels) {
  std::uint8_t* encoded = nullptr;
  const std::vector<std::uint8_t> bytes = BytesOfPixels(pixels);
  const std::size_t size = WebPEncodeLosslessRGBA(bytes.data(), width, height, width * 4, &encoded);
  std::string out(reinterpret_cast<const char*>(encoded), size);
  WebPFree(encoded);
  return out;
}

std::string Gif(int width, int height, const std::vector<std::uint8_t>& indices,
                const std::vector<std::uint32_t>& palette) {
  std::string out;
  int error = 0;
  GifFileType* const gif = EGifOpen(&out, &AppendGif, &error);
  ColorMapObject* const colors = GifMakeMapObject(static_cast<int>(palette.size()), nullptr);
  for (std::size_t i = 0; i < palette.size(); ++i) {
    colors->Colors[i] = {static_cast<GifByteType>(palette[i] >> 24),
                         static_cast<GifByteType>(palette[i] >> 16),
                         static_cast<GifByteType>(palette[i] >> 8)};
  }
  EXPECT_EQ(EGifPutScreenDesc(gif, width, height, 8, 0, colors), GIF_OK);
  EXPECT_EQ(EGifPutImageDesc(gif, 0, 0, width, height, false, nullptr), GIF_OK);
  std::vector<std::uint8_t> pixels = indices;
  for (int y = 0; y < height; ++y) {
    EXPECT_EQ(EGifPutLine(gif, pixels.data() + y * width, width), GIF_OK);
  }
  EXPECT_EQ(EGifCloseFile(gif, &error), GIF_OK);
  GifFreeMapObject(colors);
  return out;
}

std::string Zlib(absl::string_view bytes) { return Deflate(bytes, 15); }
std::string Gzip(absl::string_view bytes) { return Deflate(bytes, 15 + 16); }

std::string Zstd(absl::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3);
  EXPECT_EQ(ZSTD_isError(size), 0U);
  out.resize(size);
  return out;
}

std::string TileBytes(const std::vector<std::uint32_t>& tiles) {
  std::string bytes;
  for (const std::uint32_t tile : tiles) {
    for (const int shift : {0, 8, 16, 24}) {
      bytes.push_back(static_cast<char>(tile >> shift));
    }
  }
  return bytes;
}

std::string TiledXml(absl::string_view attributes, absl::string_view layers) {
  return absl::StrCat(R"(<?xml version="1.0" encoding="UTF-8"?>
<map version="1.10" tiledversion="1.11.0" renderorder="right-down" tilewidth="16" tileheight="16" )",
                      attributes, R"(>
 <tileset firstgid="1" name="ground" tilewidth="16" tileheight="16" tilecount="4" columns="4">
  <tile id="1"><properties><property name="blocked" type="bool" value="true"/></properties></tile>
  <tile id="2" type="water"><properties><property name="cost" type="float" value="3"/></properties></tile>
  <tile id="3"><properties><property name="blocked" type="bool" value="false"/></properties></tile>
 </tileset>
)",
                      layers, "</map>\n");
}

std::vector<std::string> TiledRows(absl::string_view layers, absl::string_view attributes,
                                   const core::ImportOptions& options) {
  return ImportedRows(TiledXml(attributes, layers), options);
}

std::string TileLayer(absl::string_view name, int width, int height, absl::string_view csv) {
  return absl::StrCat(" <layer id=\"1\" name=\"", name, "\" width=\"", width, "\" height=\"", height,
                      "\">\n  <data encoding=\"csv\">", csv, "</data>\n </layer>\n");
}

}  // namespace waystar
