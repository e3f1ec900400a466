#include "server/render/canvas/surface.h"

#include <iterator>
#include <vector>

#include "server/render/canvas/font.h"

namespace waystar::picture {

void RasterSurface::Fill(const Polygon& polygon, const Paint& paint) {
  canvas_.Fill({&polygon, 1}, paint.color, paint.opacity);
}

void RasterSurface::FillDisc(Point center, double radius, const Paint& paint) {
  Fill(DiscOutline(center, radius), paint);
}

void RasterSurface::Stroke(absl::Span<const Point> line, const Pen& pen) {
  if (pen.dash <= 0) {
    canvas_.Fill(StrokeOutline(line, pen.width), pen.paint.color, pen.paint.opacity);
    return;
  }
  std::vector<Polygon> outline;
  for (const std::vector<Point>& dash : Dashes(line, pen.dash, pen.dash)) {
    std::vector<Polygon> covered = StrokeOutline(dash, pen.width);
    outline.insert(outline.end(), std::make_move_iterator(covered.begin()),
                   std::make_move_iterator(covered.end()));
  }
  canvas_.Fill(outline, pen.paint.color, pen.paint.opacity);
}

void RasterSurface::Write(absl::string_view text, Point at, const TextStyle& style) {
  const double width = TextWidth(text, style.size);
  const double before = style.anchor == TextStyle::Anchor::kLeft     ? 0.0
                        : style.anchor == TextStyle::Anchor::kMiddle ? width / 2
                                                                     : width;
  canvas_.Fill(TextOutline(text, {at.x - before, at.y}, style.size), style.color);
}

}  // namespace waystar::picture
