#include "server/render/file/picture_file.h"

#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csetjmp>
#include <cstdint>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace waystar::picture {
namespace {

constexpr std::size_t kMaxPalette = 256;

struct Indexed {
  std::vector<Color> palette;
  std::vector<std::uint8_t> pixels;
};

// Returns nullopt if there are too many colours, or `stop` fails.
std::optional<Indexed> ToIndexed(const Canvas& canvas, const StopCheck* stop) {
  absl::flat_hash_map<std::uint32_t, std::uint8_t> places;
  Indexed indexed;
  indexed.pixels.reserve(canvas.pixels().size());
  const auto width = static_cast<std::size_t>(canvas.width());
  for (const Color color : canvas.pixels()) {
    if (indexed.pixels.size() % width == 0 && IsStopped(stop)) {
      return std::nullopt;
    }
    // Most pixels equal the previous one.
    if (!indexed.pixels.empty() && indexed.palette[indexed.pixels.back()] == color) {
      indexed.pixels.push_back(indexed.pixels.back());
      continue;
    }
    const auto [place, is_new] =
        places.try_emplace(HexOf(color), static_cast<std::uint8_t>(indexed.palette.size()));
    if (is_new) {
      if (indexed.palette.size() == kMaxPalette) {
        return std::nullopt;
      }
      indexed.palette.push_back(color);
    }
    indexed.pixels.push_back(place->second);
  }
  return indexed;
}

// Content of a file to write.
struct PngContent {
  int width = 0;
  int height = 0;
  // Empty if rows hold RGB colours.
  absl::Span<const Color> palette;
  const std::uint8_t* rows = nullptr;
  std::size_t row_bytes = 0;
};

// Exceptions must not pass through libpng.
void AppendTo(png_structp png, png_bytep bytes, std::size_t count) {
  auto& file = *static_cast<std::string*>(png_get_io_ptr(png));
  bool has_room = true;
  try {
    file.append(reinterpret_cast<const char*>(bytes), count);
  } catch (const std::bad_alloc&) {
    has_room = false;
  }
  if (!has_room) {
    png_error(png, "no memory");
  }
}

// Returns the bits per palette index.
int DepthFor(std::size_t colors) { return colors > 16 ? 8 : colors > 4 ? 4 : colors > 2 ? 2 : 1; }

// Returns false once `stop` fails.
bool WriteContent(png_structp png, png_infop info, const PngContent& content, const StopCheck* stop) {
  const bool has_palette = !content.palette.empty();
  const int depth = has_palette ? DepthFor(content.palette.size()) : 8;
  png_set_IHDR(png, info, static_cast<png_uint_32>(content.width), static_cast<png_uint_32>(content.height),
               depth, has_palette ? PNG_COLOR_TYPE_PALETTE : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE);
  if (has_palette) {
    std::array<png_color, kMaxPalette> colors{};
    std::transform(content.palette.begin(), content.palette.end(), colors.begin(), [](Color color) {
      return png_color{color.r, color.g, color.b};
    });
    png_set_PLTE(png, info, colors.data(), static_cast<int>(content.palette.size()));
  }
  png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
  png_write_info(png, info);
  if (depth < 8) {
    png_set_packing(png);
  }
  for (int y = 0; y < content.height; ++y) {
    if (IsStopped(stop)) {
      return false;
    }
    png_write_row(png, content.rows + static_cast<std::size_t>(y) * content.row_bytes);
  }
  png_write_end(png, info);
  return true;
}

// Uses libpng's row API, which longjmps here on errors: no frame in between may have a destructor.
bool WriteOrJump(png_structp png, png_infop info, const PngContent& content, const StopCheck* stop) {
  if (setjmp(png_jmpbuf(png)) != 0) {
    return false;
  }
  return WriteContent(png, info, content, stop);
}

// libpng requires an error handler that does not return. Its default handler also prints to standard error.
void JumpBack(png_structp png, png_const_charp /*message*/) { png_longjmp(png, 1); }

// Throws std::bad_alloc, the only possible failure.
std::string Write(const PngContent& content, const StopCheck* stop) {
  std::string file;
  const auto ignore = [](png_structp, png_const_charp) {};
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, &JumpBack, ignore);
  if (png == nullptr) {
    throw std::bad_alloc();
  }
  png_infop info = png_create_info_struct(png);
  bool is_whole = false;
  if (info != nullptr) {
    png_set_write_fn(png, &file, &AppendTo, nullptr);
    is_whole = WriteOrJump(png, info, content, stop);
  }
  png_destroy_write_struct(&png, &info);
  if (!is_whole && !IsStopped(stop)) {
    throw std::bad_alloc();
  }
  return is_whole ? file : "";
}

}  // namespace

std::string EncodePng(const Canvas& canvas, const StopCheck* stop) {
  static_assert(sizeof(Color) == 3);
  PngContent content{.width = canvas.width(), .height = canvas.height()};
  const auto width = static_cast<std::size_t>(canvas.width());
  const std::optional<Indexed> indexed = ToIndexed(canvas, stop);
  if (indexed) {
    content.palette = indexed->palette;
    content.rows = indexed->pixels.data();
    content.row_bytes = width;
  } else {
    content.rows = reinterpret_cast<const std::uint8_t*>(canvas.pixels().data());
    content.row_bytes = width * sizeof(Color);
  }
  return Write(content, stop);
}

absl::StatusOr<Canvas> DecodePng(absl::string_view bytes, std::size_t max_pixels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0) {
    return absl::InvalidArgumentError(absl::StrCat("no PNG file: ", image.message));
  }
  if (std::size_t{image.width} * image.height > max_pixels) {
    png_image_free(&image);
    return absl::InvalidArgumentError(absl::StrCat("a picture of more than ", max_pixels, " pixels"));
  }
  image.format = PNG_FORMAT_RGB;
  Canvas canvas(static_cast<int>(image.width), static_cast<int>(image.height), Rgb(0xFFFFFF));
  const png_color white = {255, 255, 255};
  if (png_image_finish_read(&image, &white, canvas.row(0).data(), 0, nullptr) == 0) {
    return absl::InvalidArgumentError(absl::StrCat("no whole PNG file: ", image.message));
  }
  return canvas;
}

namespace {

// Rounds to a hundredth of a pixel.
std::string Number(double value) { return absl::StrCat(std::round(value * 100) / 100); }

std::string PaintOf(absl::string_view what, const Paint& paint) {
  std::string text = absl::StrFormat(" %s=\"#%06x\"", what, HexOf(paint.color));
  if (paint.opacity < 1) {
    absl::StrAppend(&text, " ", what, "-opacity=\"", Number(paint.opacity), "\"");
  }
  return text;
}

std::string PointsOf(absl::Span<const Point> points) {
  std::string text;
  for (const Point& point : points) {
    absl::StrAppend(&text, text.empty() ? "" : " ", Number(point.x), ",", Number(point.y));
  }
  return text;
}

std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}});
}

}  // namespace

SvgSurface::SvgSurface(int width, int height, Color background, absl::string_view title,
                       const StopCheck* stop)
    : stop_(stop) {
  absl::StrAppend(&text_, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width, "\" height=\"", height,
                  "\" viewBox=\"0 0 ", width, " ", height,
                  "\" font-family=\"Helvetica, Arial, sans-serif\">\n<title>", Escaped(title),
                  "</title>\n<rect x=\"0\" y=\"0\" width=\"", width, "\" height=\"", height, "\"",
                  PaintOf("fill", {background}), "/>\n");
}

void SvgSurface::Fill(const Polygon& polygon, const Paint& paint) {
  absl::StrAppend(&text_, "<polygon points=\"", PointsOf(polygon), "\"", PaintOf("fill", paint), "/>\n");
}

void SvgSurface::FillDisc(Point center, double radius, const Paint& paint) {
  absl::StrAppend(&text_, "<circle cx=\"", Number(center.x), "\" cy=\"", Number(center.y), "\" r=\"",
                  Number(radius), "\"", PaintOf("fill", paint), "/>\n");
}

void SvgSurface::Stroke(absl::Span<const Point> line, const Pen& pen) {
  const std::string dash = pen.dash > 0 ? absl::StrCat(" stroke-dasharray=\"", Number(pen.dash), "\"") : "";
  absl::StrAppend(&text_, "<polyline points=\"", PointsOf(line), "\" fill=\"none\"",
                  PaintOf("stroke", pen.paint), " stroke-width=\"", Number(pen.width),
                  "\" stroke-linecap=\"round\" stroke-linejoin=\"round\"", dash, "/>\n");
}

void SvgSurface::Write(absl::string_view text, Point at, const TextStyle& style) {
  // Capital letters are about 0.72 of a font's size. The fixed text length keeps other fonts from overlapping
  // neighbours.
  constexpr double kFontSize = 1 / 0.72;
  const char* anchor = style.anchor == TextStyle::Anchor::kLeft     ? "start"
                       : style.anchor == TextStyle::Anchor::kMiddle ? "middle"
                                                                    : "end";
  absl::StrAppend(&text_, "<text x=\"", Number(at.x), "\" y=\"", Number(at.y), "\" font-size=\"",
                  Number(style.size * kFontSize), "\" textLength=\"", Number(TextWidth(text, style.size)),
                  "\" lengthAdjust=\"spacingAndGlyphs\" text-anchor=\"", anchor, "\"",
                  PaintOf("fill", {style.color}), ">", Escaped(text), "</text>\n");
}

void SvgSurface::Show(const Canvas& image, int x, int y) {
  absl::StrAppend(&text_, "<image x=\"", x, "\" y=\"", y, "\" width=\"", image.width(), "\" height=\"",
                  image.height(), "\" href=\"data:image/png;base64,",
                  absl::Base64Escape(EncodePng(image, stop_)), "\"/>\n");
}

std::string SvgSurface::Finish() {
  text_ += "</svg>\n";
  return std::move(text_);
}

}  // namespace waystar::picture
