#include "server/render/scene/query_marks.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/geometry/box.h"
#include "server/render/canvas/canvas.h"

namespace waystar::core {
namespace {

const char* NameOf(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::kAStar:
      return "A*";
    case Algorithm::kDijkstra:
      return "Dijkstra";
    case Algorithm::kJumpPoint:
      return "jump point search";
    case Algorithm::kLazyThetaStar:
      return "Lazy Theta*";
    case Algorithm::kSubgoalHierarchy:
      return "the subgoal hierarchy";
    case Algorithm::kPolyanya:
      return "Polyanya";
    case Algorithm::kAuto:
      break;
  }
  return "no search";
}

}  // namespace

picture::MarkSizes SizesInCells(const Layout& layout, bool is_text) {
  const double cell = is_text ? 1.0 : layout.tiling.CellPixels();
  // In a small picture, such as one for a terminal, a pixel is large.
  const bool is_small = std::min(layout.width, layout.height) < 200;
  return {.path = std::clamp(cell * 0.2, is_small ? 1.0 : 2.5, 8.0),
          .halo = is_small ? 0.0 : std::clamp(cell * 0.08, 1.0, 2.0),
          .disc = std::clamp(cell * 0.36, is_small ? 1.0 : 5.0, 16.0)};
}

void AddToLegend(const QueryMarks& marks, Scene& scene) {
  using Sign = picture::LegendEntry::Sign;
  if (marks.start.has_value()) {
    scene.legend.push_back({Sign::kStart, scene.palette.start, 'S', "start"});
  }
  if (!marks.goals.empty()) {
    scene.legend.push_back(
        {Sign::kGoal, scene.palette.goal, 'G', marks.goals.size() == 1 ? "goal" : "goals"});
  }
  if (!marks.legs.empty()) {
    scene.legend.push_back({Sign::kLine, scene.palette.path, '*', "path"});
  }
  if (!marks.jumps.empty()) {
    scene.legend.push_back({.sign = Sign::kDashes, .color = scene.palette.path, .text = "through a portal"});
  }
}

void AddSearchToLegend(double dearest, picture::LegendEntry::Sign open_sign, char open_symbol, Scene& scene) {
  // The lowest value of DearestOf stands for 0 too.
  const bool has_range = dearest > CostToDouble(1);
  scene.legend.push_back(
      {.sign = picture::LegendEntry::Sign::kRamp,
       .symbol = '0',
       .text = has_range ? absl::StrFormat("expanded at cost 0 to %.5g", dearest) : "expanded at cost 0"});
  scene.legend.push_back(
      {.sign = open_sign, .color = scene.palette.open, .symbol = open_symbol, .text = "on the open list"});
}

void AddEnds(const QueryMarks& marks, const picture::MarkSizes& sizes,
             absl::FunctionRef<std::optional<picture::Point>(const WorldPoint&)> shown, Scene& scene) {
  const double reach = sizes.disc + sizes.halo;
  for (const WorldPoint& goal : marks.goals) {
    if (const std::optional<picture::Point> at = shown(goal)) {
      DrawGoal(*at, sizes, scene.palette, scene);
      scene.names.push_back({.middle = *at, .across = reach, .down = reach});
    }
  }
  if (!marks.start.has_value()) {
    return;
  }
  if (const std::optional<picture::Point> at = shown(*marks.start)) {
    DrawStart(*at, sizes, scene.palette, scene);
    scene.names.push_back({.middle = *at, .across = reach, .down = reach});
  }
}

void AddPortal(absl::string_view name, const std::optional<picture::Point>& from,
               const std::optional<picture::Point>& to, bool is_closed, const picture::MarkSizes& sizes,
               Scene& scene) {
  if (from.has_value() && to.has_value()) {
    const picture::Point line[] = {*from, *to};
    scene.Stroke(line, {{scene.palette.portal, is_closed ? 0.35 : 0.8}, std::max(1.5, sizes.path * 0.4), 4});
  }
  for (const std::optional<picture::Point>& end : {from, to}) {
    if (!end.has_value()) {
      continue;
    }
    const double reach = sizes.disc * 1.05;
    DrawDiamond(*end, reach + sizes.halo, {scene.palette.paper, 0.9}, scene);
    DrawDiamond(*end, reach, {scene.palette.portal, 1, 'P'}, scene);
    if (is_closed) {
      DrawDiamond(*end, reach * 0.6, {scene.palette.paper}, scene);
    }
    scene.names.push_back({.name = std::string(name), .middle = *end, .across = reach, .down = reach});
  }
}

void AddPortalToLegend(Scene& scene) {
  scene.legend.push_back({picture::LegendEntry::Sign::kDiamond, scene.palette.portal, 'P', "portal"});
}

namespace {

picture::Color ColorOf(const ObstacleEffect& effect, const picture::Palette& palette) {
  switch (effect.kind) {
    case ObstacleEffect::Kind::kBlock:
      return palette.named_obstacle;
    case ObstacleEffect::Kind::kMultiplyCost:
      return effect.amount < 1 ? palette.cheaper : palette.dearer;
    case ObstacleEffect::Kind::kAddCost:
      break;
  }
  return effect.amount < 0 ? palette.cheaper : palette.dearer;
}

// Returns the outlines of a shape but for its lines. Centres of cells have whole numbers, and a disc covers
// cells by their centres; in the world, a cell is the square up to the next whole numbers.
std::vector<picture::Polygon> OutlinesOf(const Shape& shape, const picture::Tiling& tiling, bool on_cells) {
  const double shift = on_cells ? -0.5 : 0.0;
  const double rim = on_cells ? 0.3 : 0.0;
  const double unit = Distance({}, tiling.y_step);
  std::vector<Rectangle> rectangles = shape.rectangles;
  for (const Cell cell : shape.cells) {
    rectangles.push_back({cell.x, cell.y, 1, 1});
  }
  std::vector<picture::Polygon> outlines;
  for (const Rectangle& part : rectangles) {
    const double left = part.x + shift;
    const double top = part.y + shift;
    const double right = left + part.width;
    const double bottom = top + part.height;
    outlines.push_back(
        {tiling.At(left, top), tiling.At(right, top), tiling.At(right, bottom), tiling.At(left, bottom)});
  }
  for (const Disc& disc : shape.discs) {
    outlines.push_back(
        picture::DiscOutline(tiling.At(disc.center.x, disc.center.y), (disc.radius + rim) * unit));
  }
  for (const Polygon& polygon : shape.polygons) {
    picture::Polygon& outline = outlines.emplace_back();
    for (const Point& vertex : polygon.vertices) {
      outline.push_back(tiling.At(vertex.x, vertex.y));
    }
  }
  return outlines;
}

}  // namespace

void AddObstacle(const Obstacle& obstacle, const Layout& layout, bool on_cells, Scene& scene) {
  constexpr double kLeastAcross = 8.0;
  const picture::Color color = ColorOf(obstacle.effect, scene.palette);
  const bool shows_cells = on_cells && obstacle.effect.kind == ObstacleEffect::Kind::kBlock;
  const picture::Paint area = {color, on_cells ? 0.0 : picture::kObstacleOpacity, '%'};
  std::vector<picture::Polygon> outlines = OutlinesOf(obstacle.shape, layout.tiling, on_cells);
  for (picture::Polygon& outline : outlines) {
    scene.Fill(outline, area);
    outline.push_back(outline.front());
    if (!shows_cells) {
      scene.StrokeIn(layout.plot, outline, {{color}, 1.5, 5});
    }
  }
  for (const Line& line : obstacle.shape.lines) {
    const double width = std::max(2.0, line.width * Distance({}, layout.tiling.y_step));
    const picture::Box& plot = layout.plot;
    const picture::Box near = {plot.x - width, plot.y - width, plot.width + 2 * width,
                               plot.height + 2 * width};
    outlines.push_back(
        {layout.tiling.At(line.start.x, line.start.y), layout.tiling.At(line.end.x, line.end.y)});
    scene.StrokeIn(near, outlines.back(), {{color, on_cells ? 0.0 : 0.75, '%'}, width});
  }
  Box bounds;
  for (const picture::Polygon& outline : outlines) {
    for (const picture::Point& point : outline) {
      bounds = bounds.And(Box::Around(point.x, point.y, 0));
    }
  }
  const double across = (bounds.x_high - bounds.x_low) / 2;
  if (!bounds.is_empty() && across >= kLeastAcross) {
    scene.names.push_back({.name = obstacle.id,
                           .middle = {bounds.x_low + across, (bounds.y_low + bounds.y_high) / 2},
                           .across = across,
                           .down = (bounds.y_high - bounds.y_low) / 2,
                           .is_area = true});
  }
}

std::string CaptionOf(const Route& route) {
  const std::string search = absl::StrFormat("%d expanded by %s", route.path.statistics.expanded,
                                             NameOf(route.path.statistics.algorithm));
  switch (route.path.outcome) {
    case Outcome::kFound:
      return absl::StrFormat("path found, cost %.9g; %s", route.path.cost, search);
    case Outcome::kPartial:
      return absl::StrFormat("no path to the goal; as near as can be, cost %.9g; %s", route.path.cost,
                             search);
    case Outcome::kBudgetExhausted:
      return absl::StrCat("out of budget before the goal was reached; ", search);
    case Outcome::kTooCostly:
      return absl::StrFormat("the path costs at least %.9g; %s", route.path.least_cost, search);
    case Outcome::kUnreachable:
      break;
  }
  return absl::StrCat("no path to the goal; ", search);
}

}  // namespace waystar::core
