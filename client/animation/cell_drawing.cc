#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "client/animation/search_drawing.h"
#include "server/render/canvas/color.h"

namespace waystar::animation {
namespace {

using picture::Point;

bool AreNeighbours(const v1::Cell& a, const v1::Cell& b) {
  return std::abs(a.x() - b.x()) <= 1 && std::abs(a.y() - b.y()) <= 1;
}

// A search on a grid: open cells have a rim, expanded ones are filled.
class CellDrawing final : public SearchDrawing {
 public:
  CellDrawing(const TracedSearch& search, picture::Canvas map, const picture::Tiling& tiling);

  std::uint64_t KeyOf(const v1::SearchEvent& event) const override;
  void DrawOpen(const v1::SearchEvent& generated) override;
  void DrawExpanded(const v1::SearchEvent& generated, double share) override;
  void DrawPath() override;
  picture::Canvas Picture() const override;

 private:
  picture::Point CenterOf(const v1::Cell& cell) const { return tiling_.At(cell.x(), cell.y()); }

  picture::Canvas map_;
  const picture::Tiling tiling_;
  SearchEnds ends_;
  std::vector<picture::Point> path_;
  bool is_any_angle_ = false;
};

}  // namespace

CellDrawing::CellDrawing(const TracedSearch& search, picture::Canvas map, const picture::Tiling& tiling)
    : map_(std::move(map)),
      tiling_(tiling),
      is_any_angle_(search.answer.statistics().algorithm() == v1::ALGORITHM_LAZY_THETA_STAR) {
  ends_.radius = std::clamp(tiling_.CellPixels() * 0.36, 4.0, 14.0);
  ends_.start = CenterOf(search.answer.start());
  for (const v1::Location& goal : search.query.goals()) {
    if (goal.has_cell()) {
      ends_.goals.push_back(CenterOf(goal.cell()));
    }
  }
  for (const v1::Cell& point : search.answer.points()) {
    if (const Point at = CenterOf(point); IsWithin(map_, at)) {
      path_.push_back(at);
    }
  }
}

std::uint64_t CellDrawing::KeyOf(const v1::SearchEvent& event) const {
  const v1::Cell& cell = event.cell();
  return std::uint64_t{static_cast<std::uint32_t>(cell.y())} << 32 | static_cast<std::uint32_t>(cell.x());
}

void CellDrawing::DrawOpen(const v1::SearchEvent& generated) {
  constexpr double kRimmedCell = 5.0;
  const v1::Cell& place = generated.cell();
  const double cell = tiling_.CellPixels();
  if (cell < kRimmedCell) {
    const picture::Polygon area = tiling_.OutlineOf(place.x(), place.y());
    map_.Fill({&area, 1}, picture::Mix(kPaper, picture::kOpenColor, 0.6));
    return;
  }
  picture::RasterSurface surface(map_);
  picture::Polygon rim = tiling_.OutlineOf(place.x(), place.y(), cell * 0.16);
  rim.push_back(rim.front());
  surface.Stroke(rim, {{picture::kOpenColor}, std::clamp(cell * 0.08, 1.0, 2.5)});
}

void CellDrawing::DrawExpanded(const v1::SearchEvent& generated, double share) {
  const v1::Cell& place = generated.cell();
  const double cell = tiling_.CellPixels();
  // Leaves the lines between the cells.
  const double inset = cell >= 8 ? 0.5 : 0.0;
  const picture::Polygon area = tiling_.OutlineOf(place.x(), place.y(), inset);
  map_.Fill({&area, 1}, picture::Mix(kPaper, picture::SearchColor(share), 0.85));
  if (!generated.has_parent() || AreNeighbours(generated.parent(), place)) {
    return;
  }
  const v1::Cell& parent = generated.parent();
  picture::RasterSurface surface(map_);
  const std::vector<Point> line = is_any_angle_
                                      ? std::vector<Point>{CenterOf(parent), CenterOf(place)}
                                      : tiling_.BentLine(parent.x(), parent.y(), place.x(), place.y());
  surface.Stroke(line, {{picture::Mix(kPaper, kInk, 0.6)}, std::clamp(cell * 0.08, 1.0, 2.0)});
}

void CellDrawing::DrawPath() {
  if (path_.empty()) {
    return;
  }
  picture::RasterSurface surface(map_);
  DrawPathLine(path_, std::clamp(tiling_.CellPixels() * 0.22, 2.5, 7.0), surface);
}

picture::Canvas CellDrawing::Picture() const {
  picture::Canvas canvas = map_;
  picture::RasterSurface surface(canvas);
  DrawEnds(ends_, surface);
  return canvas;
}

std::unique_ptr<SearchDrawing> MakeCellDrawing(const TracedSearch& search, picture::Canvas map,
                                               const picture::Tiling& tiling) {
  return std::make_unique<CellDrawing>(search, std::move(map), tiling);
}

}  // namespace waystar::animation
