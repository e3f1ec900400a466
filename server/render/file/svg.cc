#include "server/render/file/svg.h"

#include <cmath>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "server/render/canvas/font.h"
#include "server/render/file/png.h"

namespace waystar::picture {
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
