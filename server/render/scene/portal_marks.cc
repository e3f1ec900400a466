#include "server/render/scene/portal_marks.h"

#include <algorithm>

#include "server/render/scene/theme.h"

namespace waystar::core {

void AddPortalEnd(picture::Point at, const MarkSizes& sizes, bool is_closed, Scene& scene) {
  const auto diamond = [&](double reach) -> picture::Polygon {
    return {at + picture::Point{0, -reach}, at + picture::Point{reach, 0}, at + picture::Point{0, reach},
            at + picture::Point{-reach, 0}};
  };
  const double reach = sizes.disc * 1.05;
  scene.marks.push_back({.points = diamond(reach + sizes.halo), .paint = {theme::kPaper, 0.9}});
  scene.marks.push_back({.points = diamond(reach), .paint = {theme::kPortal}, .symbol = 'P'});
  if (is_closed) {
    scene.marks.push_back({.points = diamond(reach * 0.6), .paint = {theme::kPaper}});
  }
}

void AddPortalLine(picture::Point from, picture::Point to, const MarkSizes& sizes, bool is_closed,
                   Scene& scene) {
  scene.AddLine({from, to}, std::max(1.0, sizes.path * 0.4), {theme::kPortal, is_closed ? 0.35 : 0.8}, 0, 4);
}

LegendEntry PortalLegend() {
  return {.sign = LegendEntry::Sign::kDisc, .color = theme::kPortal, .symbol = 'P', .text = "portal"};
}

}  // namespace waystar::core
