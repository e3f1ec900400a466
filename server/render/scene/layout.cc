#include "server/render/scene/layout.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace waystar::core {
namespace {

using picture::kTextSize;
using picture::TextWidth;
using picture::Tiling;

constexpr double kMargin = 14.0;
constexpr double kTitleHeight = 26.0;
constexpr double kCaptionHeight = 22.0;
constexpr double kLabelGap = 6.0;
constexpr double kLegendGap = 14.0;
constexpr double kTitleSize = 12.0;
// Smaller pictures show only the map.
constexpr int kSmallestWithLabels = 160;

// Space around the map.
struct Margins {
  double left = 0.0;
  double top = 0.0;
  double right = 0.0;
  double bottom = 0.0;
};

bool ShowsLabels(const RenderOptions& options) {
  return options.labels &&
         (options.is_text || std::min(options.max_width, options.max_height) >= kSmallestWithLabels);
}

bool ShowsLegend(const RenderOptions& options, const std::vector<picture::LegendEntry>& legend) {
  return options.legend && !options.is_text && !legend.empty() &&
         std::min(options.max_width, options.max_height) >= kSmallestWithLabels;
}

Margins TextMargins(const PlaneView& view, const RenderOptions& options) {
  if (!options.labels) {
    return {};
  }
  const double title = options.title.empty() ? 0 : 1;
  return {.left = static_cast<double>(view.widest_row.size()) + 1,
          .top = title + (options.caption.empty() ? 0 : 1) + (view.widest_column.empty() ? 0 : 1)};
}

Margins Around(const PlaneView& view, const RenderOptions& options) {
  if (options.is_text) {
    return TextMargins(view, options);
  }
  if (!ShowsLabels(options)) {
    return {};
  }
  Margins around{.left = kMargin, .top = kMargin, .right = kMargin, .bottom = kMargin};
  if (!view.widest_row.empty()) {
    around.left += TextWidth(view.widest_row, kTextSize) + kLabelGap;
  }
  around.top += options.title.empty() ? 0 : kTitleHeight;
  around.top += options.caption.empty() ? 0 : kCaptionHeight;
  around.top += view.widest_column.empty() ? 0 : kTextSize + kLabelGap;
  return around;
}

double FitScale(const PlaneView& view, double width, double height) {
  double scale = std::min({width / view.box.width, height / view.box.height, view.max_scale});
  if (view.whole_pixels && scale > 1) {
    scale = std::floor(scale);
  }
  return scale;
}

double TitleWidth(const RenderOptions& options) {
  const double title = TextWidth(options.title, kTitleSize) + 10 + TextWidth(options.facts, kTextSize);
  return std::max(title, TextWidth(options.caption, kTextSize));
}

void AddNames(const picture::Box& plot, Scene& scene) {
  if (scene.names.empty()) {
    return;
  }
  std::vector<std::pair<picture::Point, picture::Point>> lines;
  for (const SceneMark& mark : scene.marks) {
    for (std::size_t i = 0;
         mark.kind == SceneMark::Kind::kLine && mark.size > 1 && i + 1 < mark.points.size(); ++i) {
      lines.emplace_back(mark.points[i], mark.points[i + 1]);
    }
  }
  WriteNames(scene.names, lines, plot, scene.palette, scene);
}

}  // namespace

Tiling UnitTiling(const GridSettings& settings, bool is_text) {
  const auto& hexagons = settings.frame.hexagons;
  if (!hexagons.has_value()) {
    return {};
  }
  constexpr double kRow = 0.8660254037844386;
  const bool is_flat = IsFlatTopped(hexagons->layout);
  if (is_text) {
    return is_flat ? Tiling{{}, {2, 1}, {0, 2}, true} : Tiling{{}, {2, 0}, {1, 1}, true};
  }
  return is_flat ? Tiling{{}, {kRow, 0.5}, {0, 1}, true} : Tiling{{}, {1, 0}, {0.5, kRow}, true};
}

Layout LayOut(const PlaneView& view, const RenderOptions& options, Scene& scene) {
  const std::vector<picture::LegendEntry>& legend = scene.legend;
  Margins around = Around(view, options);
  Layout layout;
  layout.has_labels = ShowsLabels(options);
  const bool has_legend = ShowsLegend(options, legend);
  double legend_height = 0.0;
  double scale = 1.0;
  // A smaller map may narrow the picture, which makes the legend higher; so iterate.
  constexpr int kTries = 6;
  for (int i = 0; i < kTries; ++i) {
    const double room = std::max(1.0, options.max_width - around.left - around.right);
    const double height = std::max(1.0, options.max_height - around.top - around.bottom - legend_height);
    scale = FitScale(view, room, height);
    layout.plot = {around.left, around.top, std::max(1.0, std::floor(view.box.width * scale + 0.5)),
                   std::max(1.0, std::floor(view.box.height * scale + 0.5))};
    double width = around.left + layout.plot.width + around.right;
    if (layout.has_labels && !options.is_text) {
      width = std::max(width, TitleWidth(options) + 2 * kMargin);
      width = has_legend ? std::max(width, 320.0) : width;
    }
    layout.width = std::min(options.max_width, static_cast<int>(std::ceil(width)));
    const double needed =
        has_legend ? DrawLegend(legend, {}, layout.width - 2 * kMargin, scene.palette, nullptr) + kLegendGap
                   : 0.0;
    if (needed <= legend_height) {
      break;
    }
    legend_height = needed;
  }
  layout.height =
      std::min(options.max_height,
               static_cast<int>(std::ceil(around.top + layout.plot.height + legend_height + around.bottom)));
  if (!options.is_text) {
    // Centre the map if the title or legend makes the picture wider.
    layout.plot.x += std::floor((layout.width - around.left - around.right - layout.plot.width) / 2);
    layout.plot.x = std::max(layout.plot.x, 0.0);
  }
  layout.title_y = options.is_text ? 0 : kMargin + kTitleSize;
  layout.caption_y = options.is_text ? layout.title_y + 1 : kMargin + kTitleHeight + kTextSize;
  layout.legend_y = has_legend ? layout.plot.bottom() + kLegendGap : 0.0;
  const double x_scale = view.whole_pixels ? layout.plot.width / view.box.width : scale;
  const double y_scale = view.whole_pixels ? layout.plot.height / view.box.height : scale;
  layout.tiling = {.zero = {layout.plot.x - view.box.x * x_scale, layout.plot.y - view.box.y * y_scale},
                   .x_step = {view.unit.x_step.x * x_scale, view.unit.x_step.y * y_scale},
                   .y_step = {view.unit.y_step.x * x_scale, view.unit.y_step.y * y_scale},
                   .hexagons = view.unit.hexagons};
  layout.z_step = {view.z_unit.x * x_scale, view.z_unit.y * y_scale};
  scene.width = layout.width;
  scene.height = layout.height;
  scene.title = options.title;
  scene.tiling = layout.tiling;
  scene.z_step = layout.z_step;
  return layout;
}

void AddFurniture(const Layout& layout, const RenderOptions& options, Scene& scene) {
  const picture::TextStyle small = {scene.palette.ink, kTextSize};
  if (options.is_text && !options.legend) {
    scene.legend.clear();
  }
  if (layout.has_labels && options.is_text) {
    scene.Write(absl::StrCat(options.title, "  ", options.facts), {0, 0}, small);
    scene.Write(options.caption, {0, layout.caption_y}, small);
    return;
  }
  if (layout.has_labels) {
    AddNames(layout.plot, scene);
    scene.Write(options.title, {kMargin, layout.title_y}, {scene.palette.ink, kTitleSize});
    const double after = kMargin + TextWidth(options.title, kTitleSize) + 10;
    scene.Write(options.facts, {after, layout.title_y}, {scene.palette.faint, kTextSize});
    scene.Write(options.caption, {kMargin, layout.caption_y}, small);
  }
  if (layout.legend_y > 0) {
    DrawLegend(scene.legend, {kMargin, layout.legend_y}, layout.width - 2 * kMargin, scene.palette, &scene);
  }
}

SceneGround BlankGround(const Layout& layout, picture::Color paper) {
  return {.x = static_cast<int>(layout.plot.x),
          .y = static_cast<int>(layout.plot.y),
          .image = picture::Canvas(static_cast<int>(layout.plot.width), static_cast<int>(layout.plot.height),
                                   paper)};
}

std::int64_t LabelStep(double pixels, double widest, bool is_text) {
  const double apart = is_text ? std::max(widest + 2, 5.0) : std::max(widest + 14, 30.0);
  for (std::int64_t step = 1;;) {
    for (const int times : {1, 2, 5}) {
      if (static_cast<double>(step * times) * pixels >= apart) {
        return step * times;
      }
    }
    step *= 10;
  }
}

}  // namespace waystar::core
