#include "server/core/render/world_plot.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/core/render/theme.h"
#include "server/picture/font.h"

namespace waystar::core {
namespace {

std::int64_t FirstMultiple(std::int64_t from, std::int64_t step) {
  return (from >= 0 ? (from + step - 1) / step : -(-from / step)) * step;
}

// Calls visit(number, pixel) for those along the upper edge.
template <typename Visitor>
void VisitColumns(const Rectangle& region, const Layout& layout, bool is_text, Visitor visit) {
  const double widest = is_text ? 6.0 : picture::TextWidth("-00000", kTextSize);
  const std::int64_t step = LabelStep(layout.tiling.x_step.x, widest, is_text);
  for (std::int64_t x = FirstMultiple(region.x, step); x <= std::int64_t{region.x} + region.width;
       x += step) {
    visit(x, layout.tiling.At(static_cast<double>(x), 0).x);
  }
}

// The same along the left edge.
template <typename Visitor>
void VisitRows(const Rectangle& region, const Layout& layout, bool is_text, Visitor visit) {
  const std::int64_t step = LabelStep(layout.tiling.y_step.y, is_text ? 0 : 40, is_text);
  for (std::int64_t y = FirstMultiple(region.y, step); y <= std::int64_t{region.y} + region.height;
       y += step) {
    visit(y, layout.tiling.At(0, static_cast<double>(y)).y);
  }
}

}  // namespace

Rectangle UnitsWithMargin(const Box& box) {
  if (box.x_low > box.x_high) {
    return {0, 0, 1, 1};
  }
  const double room = std::max({(box.x_high - box.x_low) * 0.04, (box.y_high - box.y_low) * 0.04, 0.5});
  const auto x = static_cast<std::int32_t>(std::floor(box.x_low - room));
  const auto y = static_cast<std::int32_t>(std::floor(box.y_low - room));
  return {x, y, static_cast<std::int32_t>(std::ceil(box.x_high + room)) - x,
          static_cast<std::int32_t>(std::ceil(box.y_high + room)) - y};
}

PlaneView ViewOfWorld(const Rectangle& region, bool is_text) {
  PlaneView view;
  view.box = {static_cast<double>(region.x), static_cast<double>(region.y), static_cast<double>(region.width),
              static_cast<double>(region.height)};
  if (is_text) {
    // Characters are about twice as high as wide.
    view.unit.x_step = {2, 0};
    view.box.x *= 2;
    view.box.width *= 2;
  }
  view.max_scale = is_text ? 8.0 : 160.0;
  view.widest_column = absl::StrCat(region.x);
  const std::string first = absl::StrCat(region.y);
  const std::string last = absl::StrCat(std::int64_t{region.y} + region.height);
  view.widest_row = first.size() > last.size() ? first : last;
  return view;
}

void AddScaleLines(const Rectangle& region, const Layout& layout, const RenderOptions& options,
                   Scene& scene) {
  if (!layout.has_labels || options.is_text) {
    return;
  }
  const picture::Box& plot = layout.plot;
  VisitColumns(region, layout, false, [&](std::int64_t /*x*/, double at) {
    scene.AddLine({{at, plot.y}, {at, plot.bottom()}}, 1, {theme::kGridLine, 0.18});
  });
  VisitRows(region, layout, false, [&](std::int64_t /*y*/, double at) {
    scene.AddLine({{plot.x, at}, {plot.right(), at}}, 1, {theme::kGridLine, 0.18});
  });
}

void AddWorldNumbers(const Rectangle& region, const Layout& layout, const RenderOptions& options,
                     Scene& scene) {
  if (!layout.has_labels) {
    return;
  }
  using Anchor = picture::TextStyle::Anchor;
  const double gap = options.is_text ? 1.0 : 6.0;
  const picture::Box& plot = layout.plot;
  VisitColumns(region, layout, options.is_text, [&](std::int64_t x, double at) {
    AddNumber(x, {at, plot.y - gap}, options.is_text ? Anchor::kLeft : Anchor::kMiddle, scene);
  });
  VisitRows(region, layout, options.is_text, [&](std::int64_t y, double at) {
    AddNumber(y, {plot.x - gap, options.is_text ? at : at + kTextSize / 2}, Anchor::kRight, scene);
  });
}

MarkSizes SizesInWorld(const Layout& layout, bool is_text) {
  MarkSizes sizes(layout, is_text);
  if (!is_text) {
    sizes.path = 4.0;
    sizes.halo = 1.5;
    sizes.disc = 8.0;
  }
  return sizes;
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
    scene.marks.push_back({.points = margin.corners(), .paint = {theme::kPaper}});
  }
}

}  // namespace waystar::core
