#include "server/render/scene/world_plot.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "absl/strings/str_format.h"
#include "server/render/canvas/canvas.h"
#include "server/render/scene/query_marks.h"

namespace waystar::core {
namespace {

// With more decimals, numbers of the largest world would exceed the precision of a double.
constexpr int kMostDecimals = 7;

// Returns the number of decimals at which a length has at least ten round numbers.
int DecimalsFor(double length) {
  int decimals = 0;
  for (double left = length; left < 10 && decimals < kMostDecimals; left *= 10) {
    ++decimals;
  }
  return decimals;
}

double LongerSide(const Box& box) { return std::max(box.x_high - box.x_low, box.y_high - box.y_low); }

double TenToThe(int exponent) {
  double power = 1;
  for (int i = 0; i < exponent; ++i) {
    power *= 10;
  }
  return power;
}

std::string Fixed(double number, int decimals) { return absl::StrFormat("%.*f", decimals, number); }

std::string LongestEnd(double low, double high, int decimals) {
  const std::string first = Fixed(low, decimals);
  const std::string last = Fixed(high, decimals);
  return first.size() > last.size() ? first : last;
}

// One side of an area, and its scale.
struct Axis {
  double low = 0.0;
  double high = 0.0;
  double pixels_a_unit = 1.0;
  // Space for the widest label along the side.
  double widest = 0.0;
};

// Calls visit(number, label) for the round numbers along an axis.
template <typename Visitor>
void VisitNumbers(const Axis& axis, int decimals, bool is_text, Visitor visit) {
  const double scale = TenToThe(decimals);
  const std::int64_t step = LabelStep(axis.pixels_a_unit / scale, axis.widest, is_text);
  int shown_decimals = decimals;
  for (std::int64_t rest = step; shown_decimals > 0 && rest % 10 == 0; rest /= 10) {
    --shown_decimals;
  }
  // The ends are round numbers themselves, up to rounding errors.
  constexpr double kSlack = 1e-3;
  const auto stride = static_cast<double>(step);
  const auto first = static_cast<std::int64_t>(std::ceil((axis.low * scale - kSlack) / stride)) * step;
  for (std::int64_t i = first; static_cast<double>(i) <= axis.high * scale + kSlack; i += step) {
    const double number = static_cast<double>(i) / scale;
    visit(number, Fixed(number, shown_decimals));
  }
}

// Calls visit(pixel, label) for the numbers along the top edge.
template <typename Visitor>
void VisitColumns(const Box& area, const Layout& layout, bool is_text, Visitor visit) {
  const int decimals = DecimalsFor(LongerSide(area));
  const std::string longest = LongestEnd(area.x_low, area.x_high, decimals);
  const double widest = is_text ? std::max(6.0, static_cast<double>(longest.size()))
                                : std::max(picture::TextWidth("-00000", picture::kTextSize),
                                           picture::TextWidth(longest, picture::kTextSize));
  VisitNumbers({area.x_low, area.x_high, layout.tiling.x_step.x, widest}, decimals, is_text,
               [&](double x, const std::string& label) { visit(layout.tiling.At(x, 0).x, label); });
}

// Calls visit(pixel, label) for the numbers along the left edge.
template <typename Visitor>
void VisitRows(const Box& area, const Layout& layout, bool is_text, Visitor visit) {
  VisitNumbers({area.y_low, area.y_high, layout.tiling.y_step.y, is_text ? 0.0 : 40.0},
               DecimalsFor(LongerSide(area)), is_text,
               [&](double y, const std::string& label) { visit(layout.tiling.At(0, y).y, label); });
}

}  // namespace

Box WithMargin(const Box& box) {
  if (box.is_empty()) {
    return {0, 0, 1, 1};
  }
  const double size = LongerSide(box);
  const double scale = size > 0 ? TenToThe(DecimalsFor(size)) : 1.0;
  const double room = std::max(size * 0.04, 0.5 / scale);
  return {std::floor((box.x_low - room) * scale) / scale, std::floor((box.y_low - room) * scale) / scale,
          std::ceil((box.x_high + room) * scale) / scale, std::ceil((box.y_high + room) * scale) / scale};
}

Rectangle WholeUnits(const Box& area) {
  const double x = std::floor(area.x_low);
  const double y = std::floor(area.y_low);
  return {static_cast<std::int32_t>(x), static_cast<std::int32_t>(y),
          static_cast<std::int32_t>(std::ceil(area.x_high) - x),
          static_cast<std::int32_t>(std::ceil(area.y_high) - y)};
}

PlaneView ViewOfWorld(const Box& area, bool is_text) {
  PlaneView view;
  view.box = {area.x_low, area.y_low, area.x_high - area.x_low, area.y_high - area.y_low};
  // Limits the magnification of a few units; smaller areas are drawn at about the same size.
  const double size = LongerSide(area);
  view.max_scale = is_text ? std::max(8.0, 48.0 / size) : std::max(160.0, 640.0 / size);
  if (is_text) {
    // Characters are about twice as high as wide.
    view.unit.x_step = {2, 0};
    view.box.x *= 2;
    view.box.width *= 2;
  }
  const int decimals = DecimalsFor(size);
  view.widest_column = LongestEnd(area.x_low, area.x_high, decimals);
  view.widest_row = LongestEnd(area.y_low, area.y_high, decimals);
  return view;
}

void AddScaleLines(const Box& area, const Layout& layout, const RenderOptions& options, Scene& scene) {
  if (!layout.has_labels || options.is_text) {
    return;
  }
  const picture::Box& plot = layout.plot;
  const auto add = [&](picture::Point from, picture::Point to) {
    const picture::Point line[] = {from, to};
    scene.Stroke(line, {{scene.palette.grid_line, 0.18}});
  };
  VisitColumns(area, layout, false, [&](double at, const std::string& /*label*/) {
    add({at, plot.y}, {at, plot.bottom()});
  });
  VisitRows(area, layout, false, [&](double at, const std::string& /*label*/) {
    add({plot.x, at}, {plot.right(), at});
  });
}

void AddWorldNumbers(const Box& area, const Layout& layout, const RenderOptions& options, Scene& scene) {
  if (!layout.has_labels) {
    return;
  }
  using Anchor = picture::TextStyle::Anchor;
  const double gap = options.is_text ? 1.0 : 6.0;
  const picture::Box& plot = layout.plot;
  VisitColumns(area, layout, options.is_text, [&](double at, const std::string& label) {
    // A label at the right edge of the picture lies a little to the left of its line.
    const double room = options.is_text ? 0.0 : picture::TextWidth(label, picture::kTextSize) / 2 + 1;
    const double x = std::min(at, layout.width - room);
    scene.Write(label, {x, plot.y - gap},
                {scene.palette.faint, picture::kTextSize, options.is_text ? Anchor::kLeft : Anchor::kMiddle});
  });
  VisitRows(area, layout, options.is_text, [&](double at, const std::string& label) {
    scene.Write(label, {plot.x - gap, options.is_text ? at : at + picture::kTextSize / 2},
                {scene.palette.faint, picture::kTextSize, Anchor::kRight});
  });
}

picture::MarkSizes SizesInWorld(const Layout& layout, bool is_text) {
  return is_text ? SizesInCells(layout, is_text) : picture::MarkSizes();
}

void CoverMargins(const Layout& layout, const RenderOptions& options, Scene& scene) {
  if (options.is_text) {
    return;
  }
  const picture::Box& plot = layout.plot;
  const double width = layout.width;
  const double height = layout.height;
  for (const picture::Box& margin :
       {picture::Box{0, 0, width, plot.y}, picture::Box{0, plot.bottom(), width, height - plot.bottom()},
        picture::Box{0, 0, plot.x, height}, picture::Box{plot.right(), 0, width - plot.right(), height}}) {
    scene.Fill(margin.corners(), {scene.palette.paper});
  }
}

}  // namespace waystar::core
