// Canvas of pixels with antialiased fills.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "server/render/canvas/color.h"
#include "server/render/canvas/geometry.h"

namespace waystar::picture {

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

}  // namespace waystar::picture
