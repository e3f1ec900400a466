// Pictures as files: PNG and SVG.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/render/canvas/canvas.h"

namespace waystar::picture {

// Returns a PNG file. With at most 256 colours it has a palette, which makes it small. Returns an empty
// string once `stop` fails, which is polled before each row.
std::string EncodePng(const Canvas& canvas, const StopCheck* stop = nullptr);

// Decodes a file; transparent parts become white. Returns INVALID_ARGUMENT if the bytes are not a PNG or the
// image has more than `max_pixels`.
absl::StatusOr<Canvas> DecodePng(absl::string_view bytes, std::size_t max_pixels = std::size_t{1} << 26);

// Surface that writes SVG files: records drawing commands. Images are embedded as PNG.
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
