#include "client/animation/search_drawing.h"

#include <utility>

#include "server/render/canvas/color.h"

namespace waystar::animation {

std::unique_ptr<SearchDrawing> MakeSearchDrawing(const TracedSearch& search, picture::Canvas map,
                                                 const picture::Tiling& tiling) {
  DrawingMaker* const make = search.on_graph  ? &MakeNodeDrawing
                             : search.on_mesh ? &MakeIntervalDrawing
                                              : &MakeCellDrawing;
  return make(search, std::move(map), tiling);
}

void DrawEnds(const SearchEnds& ends, picture::Surface& surface) {
  const auto draw = [&](picture::Point at, picture::Color color) {
    surface.FillDisc(at, ends.radius + 1, {kPaper});
    surface.FillDisc(at, ends.radius, {color});
  };
  for (const picture::Point goal : ends.goals) {
    draw(goal, picture::kGoalColor);
    surface.FillDisc(goal, ends.radius * 0.55, {kPaper});
    surface.FillDisc(goal, ends.radius * 0.28, {picture::kGoalColor});
  }
  if (ends.start.has_value()) {
    draw(*ends.start, picture::kStartColor);
  }
}

void DrawPathLine(const std::vector<picture::Point>& line, double width, picture::Surface& surface) {
  surface.Stroke(line, {{kPaper}, width + 2.5});
  surface.Stroke(line, {{kPathGreen}, width});
}

bool IsWithin(const picture::Canvas& canvas, picture::Point point) {
  return point.x >= 0 && point.x < canvas.width() && point.y >= 0 && point.y < canvas.height();
}

}  // namespace waystar::animation
