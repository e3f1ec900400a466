// Colours, a canvas of pixels with antialiased fills, and drawing surfaces: pixels, or a file of drawing
// commands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/render/canvas/geometry.h"

namespace waystar::picture {

// An sRGB colour with one byte per channel.
struct Color {
  std::uint8_t r = 0;
  std::uint8_t g = 0;
  std::uint8_t b = 0;

  friend bool operator==(const Color&, const Color&) = default;
};

// Returns the colour of a number such as 0xFF8000 (orange).
constexpr Color Rgb(std::uint32_t hex) {
  return {static_cast<std::uint8_t>(hex >> 16), static_cast<std::uint8_t>(hex >> 8),
          static_cast<std::uint8_t>(hex)};
}
constexpr std::uint32_t HexOf(Color color) {
  return std::uint32_t{color.r} << 16 | std::uint32_t{color.g} << 8 | color.b;
}

// Blends `over` onto `under` with a weight of `share` / 255.
constexpr Color Mix(Color under, Color over, int share) {
  const auto mix = [share](int below, int above) {
    return static_cast<std::uint8_t>((above * share + below * (255 - share) + 127) / 255);
  };
  return {mix(under.r, over.r), mix(under.g, over.g), mix(under.b, over.b)};
}

// As above, with a weight from 0 to 1.
constexpr Color Mix(Color under, Color over, double share) {
  return Mix(under, over, share <= 0 ? 0 : share >= 1 ? 255 : static_cast<int>(share * 255 + 0.5));
}

// Three bytes per pixel. Drawing beyond the edges is clipped.
//
// The same calls produce the same pixels on every machine: all arithmetic is on integers, or on doubles with
// each operation rounded separately.
//
// Thread safety: const methods may be called concurrently.
class Canvas {
 public:
  // REQUIRES: both sides are at least 1.
  Canvas(int width, int height, Color background);

  int width() const { return width_; }
  int height() const { return height_; }
  bool Contains(int x, int y) const { return x >= 0 && x < width_ && y >= 0 && y < height_; }

  // REQUIRES: Contains(x, y).
  Color At(int x, int y) const { return pixels_[IndexOf(x, y)]; }
  void Set(int x, int y, Color color) { pixels_[IndexOf(x, y)] = color; }

  // Returns the pixels by row.
  absl::Span<const Color> pixels() const { return pixels_; }
  absl::Span<Color> row(int y) {
    return absl::MakeSpan(pixels_).subspan(IndexOf(0, y), static_cast<std::size_t>(width_));
  }

  // Fills the union of the polygons (non-zero rule) with a colour at an opacity from 0 to 1. Partially
  // covered pixels are blended by coverage: each row is sampled at four lines, with exact horizontal
  // coverage. The cost is linear in corners and covered pixels.
  void Fill(absl::Span<const Polygon> polygons, Color color, double opacity = 1.0);
  void Fill(const Box& box, Color color, double opacity = 1.0);

  // Copies another canvas with its upper left pixel at (x, y).
  void Paste(const Canvas& other, int x, int y);

  friend bool operator==(const Canvas&, const Canvas&) = default;

 private:
  std::size_t IndexOf(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x);
  }

  int width_;
  int height_;
  std::vector<Color> pixels_;
};

struct Paint {
  Color color;
  // From 0 to 1.
  double opacity = 1.0;
  // Character that stands for it in text; 0 for none.
  char symbol = 0;
};

struct Pen {
  Paint paint;
  double width = 1.0;
  // If above 0, the length of dashes and of the gaps between them.
  double dash = 0.0;
};

struct TextStyle {
  Color color;
  // Height of a capital letter.
  double size = 9.0;
  enum class Anchor { kLeft, kMiddle, kRight } anchor = Anchor::kLeft;
};

// Drawing surface; later drawings cover earlier ones. Belongs to one thread.
class Surface {
 public:
  virtual ~Surface() = default;

  virtual void Fill(const Polygon& polygon, const Paint& paint) = 0;
  virtual void FillDisc(Point center, double radius, const Paint& paint) = 0;
  // Draws a line with round ends and joins.
  virtual void Stroke(absl::Span<const Point> line, const Pen& pen) = 0;
  // Writes text with the left end, middle or right end of its baseline at `at`.
  virtual void Write(absl::string_view text, Point at, const TextStyle& style) = 0;
  // Draws an image with its upper left pixel at (x, y).
  virtual void Show(const Canvas& image, int x, int y) = 0;
};

// Surface on a canvas, which must outlive it.
class RasterSurface final : public Surface {
 public:
  explicit RasterSurface(Canvas& canvas) : canvas_(canvas) {}

  void Fill(const Polygon& polygon, const Paint& paint) override;
  void FillDisc(Point center, double radius, const Paint& paint) override;
  void Stroke(absl::Span<const Point> line, const Pen& pen) override;
  void Write(absl::string_view text, Point at, const TextStyle& style) override;
  void Show(const Canvas& image, int x, int y) override { canvas_.Paste(image, x, y); }

 private:
  Canvas& canvas_;
};

// Descent of letters, as a multiple of the text size.
inline constexpr double kDescent = 0.35;

// Returns the width of a line of text in pixels. `size` is the height of a capital letter. Characters other
// than printable ASCII are drawn as '?'.
double TextWidth(absl::string_view text, double size);

// Returns the outline of a line of text that starts at `origin`, the left end of its baseline. Strokes are
// aligned to whole pixels, so that they are crisp at small sizes.
std::vector<Polygon> TextOutline(absl::string_view text, Point origin, double size);

}  // namespace waystar::picture
