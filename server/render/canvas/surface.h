// Drawing surfaces: pixels, or a file of drawing commands.
#pragma once

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/render/canvas/canvas.h"
#include "server/render/canvas/geometry.h"

namespace waystar::picture {

struct Paint {
  Color color;
  // From 0 to 1.
  double opacity = 1.0;
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

}  // namespace waystar::picture
