// Surface that writes SVG files.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/render/canvas/canvas.h"

namespace waystar::picture {

// Records drawing commands. Images are embedded as PNG.
class SvgSurface final : public Surface {
 public:
  // `title` is the accessible description. Once `stop` fails, images are left empty.
  SvgSurface(int width, int height, Color background, absl::string_view title,
             const StopCheck* stop = nullptr);

  void Fill(const Polygon& polygon, const Paint& paint) override;
  void FillDisc(Point center, double radius, const Paint& paint) override;
  void Stroke(absl::Span<const Point> line, const Pen& pen) override;
  void Write(absl::string_view text, Point at, const TextStyle& style) override;
  void Show(const Canvas& image, int x, int y) override;

  // Returns the complete file. Nothing may be drawn afterwards.
  std::string Finish();

 private:
  const StopCheck* const stop_;
  std::string text_;
};

}  // namespace waystar::picture
