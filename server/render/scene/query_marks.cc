#include "server/render/scene/query_marks.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
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
    scene.legend.push_back({Sign::kDisc, scene.palette.start, 'S', "start"});
  }
  if (!marks.goals.empty()) {
    scene.legend.push_back(
        {Sign::kDisc, scene.palette.goal, 'G', marks.goals.size() == 1 ? "goal" : "goals"});
  }
  if (!marks.legs.empty()) {
    scene.legend.push_back({Sign::kLine, scene.palette.path, '*', "path"});
  }
  if (!marks.jumps.empty()) {
    scene.legend.push_back({.sign = Sign::kDashes, .color = scene.palette.path, .text = "through a portal"});
  }
}

void AddSearchToLegend(double dearest, char open_symbol, Scene& scene) {
  // The lowest value of DearestOf stands for 0 too.
  const bool has_range = dearest > CostToDouble(1);
  scene.legend.push_back(
      {.sign = picture::LegendEntry::Sign::kRamp,
       .symbol = '0',
       .text = has_range ? absl::StrFormat("expanded at cost 0 to %.5g", dearest) : "expanded at cost 0"});
  scene.legend.push_back({.color = scene.palette.open, .symbol = open_symbol, .text = "seen, not expanded"});
}

void AddEnds(const QueryMarks& marks, const picture::MarkSizes& sizes,
             absl::FunctionRef<std::optional<picture::Point>(const WorldPoint&)> shown, Scene& scene) {
  for (const WorldPoint& goal : marks.goals) {
    if (const std::optional<picture::Point> at = shown(goal)) {
      DrawGoal(*at, sizes, scene.palette, scene);
    }
  }
  if (!marks.start.has_value()) {
    return;
  }
  if (const std::optional<picture::Point> at = shown(*marks.start)) {
    DrawStart(*at, sizes, scene.palette, scene);
  }
}

void AddPortal(const std::optional<picture::Point>& from, const std::optional<picture::Point>& to,
               bool is_closed, const picture::MarkSizes& sizes, Scene& scene) {
  if (from.has_value() && to.has_value()) {
    const picture::Point line[] = {*from, *to};
    scene.Stroke(line, {{scene.palette.portal, is_closed ? 0.35 : 0.8}, std::max(1.0, sizes.path * 0.4), 4});
  }
  for (const std::optional<picture::Point>& end : {from, to}) {
    if (!end.has_value()) {
      continue;
    }
    const auto diamond = [&](double reach) -> picture::Polygon {
      return {*end + picture::Point{0, -reach}, *end + picture::Point{reach, 0},
              *end + picture::Point{0, reach}, *end + picture::Point{-reach, 0}};
    };
    const double reach = sizes.disc * 1.05;
    scene.Fill(diamond(reach + sizes.halo), {scene.palette.paper, 0.9});
    scene.Fill(diamond(reach), {scene.palette.portal, 1, 'P'});
    if (is_closed) {
      scene.Fill(diamond(reach * 0.6), {scene.palette.paper});
    }
  }
}

void AddPortalToLegend(Scene& scene) {
  scene.legend.push_back({picture::LegendEntry::Sign::kDisc, scene.palette.portal, 'P', "portal"});
}

std::vector<picture::Polygon> OutlinesOf(const Shape& shape, const picture::Tiling& tiling, double shift,
                                         double rim, double unit) {
  std::vector<picture::Polygon> outlines;
  for (const Rectangle& part : shape.rectangles) {
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
