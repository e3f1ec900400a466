#include "server/render/canvas/canvas.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace waystar::picture {
namespace {

constexpr int kPartsOfRow = 4;

// A side of a polygon, from top to bottom.
struct Edge {
  double top = 0.0;
  double bottom = 0.0;
  // x at the top, and increase of x per row.
  double x = 0.0;
  double slope = 0.0;
  int winding = 0;

  double At(double y) const { return x + (y - top) * slope; }
};

std::vector<Edge> EdgesOf(absl::Span<const Polygon> polygons) {
  std::vector<Edge> edges;
  for (const Polygon& polygon : polygons) {
    for (std::size_t i = 0; i < polygon.size(); ++i) {
      const Point& from = polygon[i];
      const Point& to = polygon[(i + 1) % polygon.size()];
      if (from.y == to.y) {
        continue;
      }
      const Point& upper = from.y < to.y ? from : to;
      const Point& lower = from.y < to.y ? to : from;
      edges.push_back({.top = upper.y,
                       .bottom = lower.y,
                       .x = upper.x,
                       .slope = (lower.x - upper.x) / (lower.y - upper.y),
                       .winding = from.y < to.y ? 1 : -1});
    }
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.top < b.top; });
  return edges;
}

// Coverage of each pixel of a row, in units of 1 / (256 * kPartsOfRow).
class RowCoverage {
 public:
  explicit RowCoverage(int width) : width_(width), covered_(static_cast<std::size_t>(width)) {}

  // Adds a span of one sample line of the row.
  void Add(double from, double to) {
    const int begin = ToFixed(from);
    const int end = ToFixed(to);
    if (begin >= end) {
      return;
    }
    const int first = begin >> 8;
    const int last = (end - 1) >> 8;
    begin_ = std::min(begin_, first);
    end_ = std::max(end_, last + 1);
    if (first == last) {
      At(first) += end - begin;
      return;
    }
    At(first) += 256 - (begin & 255);
    for (int x = first + 1; x < last; ++x) {
      At(x) += 256;
    }
    At(last) += end - (last << 8);
  }

  // Calls visit(x, coverage from 0 to 255) and clears the row.
  template <typename Visitor>
  void Take(Visitor visit) {
    for (int x = begin_; x < end_; ++x) {
      if (At(x) > 0) {
        visit(x, std::min(At(x), 256 * kPartsOfRow) * 255 / (256 * kPartsOfRow));
        At(x) = 0;
      }
    }
    begin_ = width_;
    end_ = 0;
  }

 private:
  int ToFixed(double x) const {
    return static_cast<int>(std::floor(std::clamp(x, 0.0, static_cast<double>(width_)) * 256 + 0.5));
  }
  int& At(int x) { return covered_[static_cast<std::size_t>(x)]; }

  int width_;
  std::vector<int> covered_;
  int begin_ = width_;
  int end_ = 0;
};

struct Crossing {
  double x = 0.0;
  int winding = 0;
};

void AddCrossings(std::vector<Crossing>& crossings, RowCoverage& row) {
  std::sort(crossings.begin(), crossings.end(),
            [](const Crossing& a, const Crossing& b) { return a.x < b.x; });
  int winding = 0;
  double from = 0.0;
  for (const Crossing& crossing : crossings) {
    const bool was_outside = winding == 0;
    winding += crossing.winding;
    if (was_outside) {
      from = crossing.x;
    } else if (winding == 0) {
      row.Add(from, crossing.x);
    }
  }
  crossings.clear();
}

}  // namespace

Canvas::Canvas(int width, int height, Color background)
    : width_(width),
      height_(height),
      pixels_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), background) {}

void Canvas::Fill(absl::Span<const Polygon> polygons, Color color, double opacity) {
  const std::vector<Edge> edges = EdgesOf(polygons);
  if (edges.empty()) {
    return;
  }
  double bottom = edges.front().bottom;
  for (const Edge& edge : edges) {
    bottom = std::max(bottom, edge.bottom);
  }
  const double limit = height_;
  const int first = static_cast<int>(std::floor(std::clamp(edges.front().top, 0.0, limit)));
  const int last = static_cast<int>(std::ceil(std::clamp(bottom, 0.0, limit)));
  const int strength = static_cast<int>(std::clamp(opacity, 0.0, 1.0) * 255 + 0.5);
  RowCoverage coverage(width_);
  std::vector<Crossing> crossings;
  std::vector<const Edge*> active;
  std::size_t next = 0;
  for (int y = first; y < last; ++y) {
    for (; next < edges.size() && edges[next].top < y + 1; ++next) {
      active.push_back(&edges[next]);
    }
    active.erase(
        std::remove_if(active.begin(), active.end(), [y](const Edge* edge) { return edge->bottom <= y; }),
        active.end());
    for (int part = 0; part < kPartsOfRow; ++part) {
      const double middle = y + (2 * part + 1) / (2.0 * kPartsOfRow);
      for (const Edge* edge : active) {
        if (edge->top <= middle && middle < edge->bottom) {
          crossings.push_back({edge->At(middle), edge->winding});
        }
      }
      AddCrossings(crossings, coverage);
    }
    coverage.Take([&](int x, int share) {
      Color& pixel = pixels_[IndexOf(x, y)];
      pixel = Mix(pixel, color, share * strength / 255);
    });
  }
}

void Canvas::Fill(const Box& box, Color color, double opacity) {
  const Polygon corners = box.corners();
  Fill({&corners, 1}, color, opacity);
}

void Canvas::Paste(const Canvas& other, int x, int y) {
  const int left = std::max(x, 0);
  const int right = std::min(x + other.width_, width_);
  for (int row = std::max(y, 0); row < std::min(y + other.height_, height_) && left < right; ++row) {
    const auto from = other.pixels_.begin() + static_cast<std::ptrdiff_t>(other.IndexOf(left - x, row - y));
    std::copy(from, from + (right - left), pixels_.begin() + static_cast<std::ptrdiff_t>(IndexOf(left, row)));
  }
}

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
