// What pictures are drawn on: pixels, or a file that says what to draw.
#pragma once

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/picture/canvas.h"
#include "server/picture/color.h"
#include "server/picture/geometry.h"

namespace waystar::picture {

struct Paint {
  Color color;
  // From 0 to 1.
  double opacity = 1.0;
};

struct Pen {
  Paint paint;
  double width = 1.0;
  // With more than 0, so much of the line is drawn and so much left out in turns.
  double dash = 0.0;
};

struct TextStyle {
  Color color;
  // The height of a capital letter.
  double size = 9.0;
  enum class Anchor { kLeft, kMiddle, kRight } anchor = Anchor::kLeft;
};

// What is drawn later lies above. One thread only.
class Surface {
 public:
  virtual ~Surface() = default;

  virtual void Fill(const Box& box, const Paint& paint) = 0;
  virtual void Fill(const Polygon& polygon, const Paint& paint) = 0;
  virtual void FillDisc(Point center, double radius, const Paint& paint) = 0;
  // Ends and turns are round.
  virtual void Stroke(absl::Span<const Point> line, const Pen& pen) = 0;
  // `at` is on the baseline: its left end, middle or right end.
  virtual void Write(absl::string_view text, Point at, const TextStyle& style) = 0;
  // The upper left pixel to (x, y).
  virtual void Show(const Canvas& image, int x, int y) = 0;
};

// Draws on a canvas, which must outlive it.
class RasterSurface final : public Surface {
 public:
  explicit RasterSurface(Canvas& canvas) : canvas_(canvas) {}

  void Fill(const Box& box, const Paint& paint) override;
  void Fill(const Polygon& polygon, const Paint& paint) override;
  void FillDisc(Point center, double radius, const Paint& paint) override;
  void Stroke(absl::Span<const Point> line, const Pen& pen) override;
  void Write(absl::string_view text, Point at, const TextStyle& style) override;
  void Show(const Canvas& image, int x, int y) override { canvas_.Paste(image, x, y); }

 private:
  Canvas& canvas_;
};

}  // namespace waystar::picture
