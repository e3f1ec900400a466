#include "server/render/scene/query_marks.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/core/mesh/search/mesh_corridor.h"
#include "server/core/portal/portal_legs.h"
#include "server/core/query/resolve.h"
#include "server/core/query/route.h"
#include "server/render/canvas/canvas.h"
#include "server/render/scene/map_scenes.h"

namespace waystar::core {
namespace {

// On smaller cells, outlines would cover everything else.
constexpr double kRimmedCell = 5.0;
constexpr double kSearchOpacity = 0.82;

picture::Point CenterOf(const Layout& layout, Cell cell) { return layout.tiling.At(cell.x, cell.y); }

constexpr std::size_t kCellsBetweenChecks = 1 << 10;

// Returns the line from a parent to a cell that is not adjacent.
std::vector<picture::Point> JumpTo(const PlaceVisit<Cell>& visit, bool any_angle, const Layout& layout) {
  if (any_angle) {
    return {CenterOf(layout, visit.parent), CenterOf(layout, visit.place)};
  }
  return layout.tiling.BentLine(visit.parent.x, visit.parent.y, visit.place.x, visit.place.y);
}

bool IsJump(const PlaceVisit<Cell>& visit) {
  return std::abs(visit.place.x - visit.parent.x) > 1 || std::abs(visit.place.y - visit.parent.y) > 1;
}

// Draws a cell into the ground: its pixels, or the pixel that it shares with others.
void TintGround(const Layout& layout, Cell cell, const picture::Paint& paint, SceneGround& ground) {
  const picture::Point offset = {-static_cast<double>(ground.x), -static_cast<double>(ground.y)};
  if (layout.tiling.CellPixels() < 1) {
    const picture::Point at = CenterOf(layout, cell) + offset;
    const int x = static_cast<int>(std::floor(at.x));
    const int y = static_cast<int>(std::floor(at.y));
    if (ground.image.Contains(x, y)) {
      ground.image.Set(x, y, picture::Mix(ground.image.At(x, y), paint.color, paint.opacity));
    }
    return;
  }
  picture::Polygon outline = layout.tiling.OutlineOf(cell.x, cell.y);
  for (picture::Point& corner : outline) {
    corner = corner + offset;
  }
  ground.image.Fill({&outline, 1}, paint.color, paint.opacity);
}

// Sets the character of a cell, in text.
void MarkGround(const Layout& layout, Cell cell, char symbol, SceneGround& ground) {
  const picture::Point at = CenterOf(layout, cell);
  const int x = static_cast<int>(std::floor(at.x)) - ground.x;
  const int y = static_cast<int>(std::floor(at.y)) - ground.y;
  if (ground.image.Contains(x, y)) {
    ground.symbols[static_cast<std::size_t>(y) * static_cast<std::size_t>(ground.image.width()) +
                   static_cast<std::size_t>(x)] = symbol;
  }
}

// Drops the points in the middle of straight lines.
std::vector<picture::Point> CornersOf(const std::vector<Cell>& cells, const Layout& layout) {
  std::vector<picture::Point> corners;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0 && i + 1 < cells.size()) {
      const std::int64_t ax = cells[i].x - cells[i - 1].x;
      const std::int64_t ay = cells[i].y - cells[i - 1].y;
      const std::int64_t bx = cells[i + 1].x - cells[i].x;
      const std::int64_t by = cells[i + 1].y - cells[i].y;
      if (ax * by == ay * bx && ax * bx + ay * by > 0) {
        continue;
      }
    }
    corners.push_back(CenterOf(layout, cells[i]));
  }
  return corners;
}

// Draws a path in text: a character for each cell, even if only the corners are known.
void AddPathCells(const std::vector<Cell>& cells, const Layout& layout, Scene& scene) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Cell from = cells[i == 0 ? 0 : i - 1];
    const double dx = cells[i].x - from.x;
    const double dy = cells[i].y - from.y;
    // On hexagons, steps of opposite sign cost their sum.
    const double together = layout.tiling.hexagons ? std::abs(dx + dy) : 0.0;
    const double steps = std::max({1.0, std::abs(dx), std::abs(dy), together});
    for (double step = 1; step <= steps; ++step) {
      const double x = std::floor(from.x + dx * step / steps + 0.5);
      const double y = std::floor(from.y + dy * step / steps + 0.5);
      scene.AddDisc(layout.tiling.At(x, y), 0.5, {scene.palette.path}, '*');
    }
  }
}

}  // namespace

MarkSizes::MarkSizes(const Layout& layout, bool is_text) {
  const double cell = is_text ? 1.0 : layout.tiling.CellPixels();
  // In a small picture, such as one for a terminal, a pixel is large.
  const bool is_small = std::min(layout.width, layout.height) < 200;
  path = std::clamp(cell * 0.2, is_small ? 1.0 : 2.5, 8.0);
  halo = is_small ? 0.0 : std::clamp(cell * 0.08, 1.0, 2.0);
  disc = std::clamp(cell * 0.36, is_small ? 1.0 : 5.0, 16.0);
}

void AddStart(picture::Point at, const MarkSizes& sizes, Scene& scene) {
  scene.AddDisc(at, sizes.disc + sizes.halo, {scene.palette.paper});
  scene.AddDisc(at, sizes.disc, {scene.palette.start}, 'S');
}

void AddGoal(picture::Point at, const MarkSizes& sizes, Scene& scene) {
  scene.AddDisc(at, sizes.disc + sizes.halo, {scene.palette.paper});
  scene.AddDisc(at, sizes.disc, {scene.palette.goal}, 'G');
  if (sizes.disc >= 4) {
    scene.AddDisc(at, sizes.disc * 0.55, {scene.palette.paper});
    scene.AddDisc(at, sizes.disc * 0.28, {scene.palette.goal});
  }
}

void AddPathLine(const std::vector<picture::Point>& line, const MarkSizes& sizes, Scene& scene) {
  if (sizes.halo > 0) {
    scene.AddLine(line, sizes.path + 2 * sizes.halo, {scene.palette.paper, 0.9});
  }
  scene.AddLine(line, sizes.path, {scene.palette.path}, '*');
}

absl::Status AddSearch(const QueryMarks& query, const Rectangle& region, const Layout& layout, bool is_text,
                       const StopCheck& stop, Scene& scene) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<PlaceVisit<Cell>> visits,
                           VisitsOf(query.events, &SearchEvent::cell, stop));
  const Cost dearest = DearestOf(query.events);
  const double cell = layout.tiling.CellPixels();
  std::size_t seen = 0;
  for (const PlaceVisit<Cell>& visit : visits) {
    if (seen++ % kCellsBetweenChecks == 0) {
      WAYSTAR_RETURN_IF_ERROR(stop.Check());
    }
    if (!region.Contains(visit.place)) {
      continue;
    }
    const double share = static_cast<double>(visit.g) / static_cast<double>(dearest);
    const picture::Paint paint = visit.is_expanded
                                     ? picture::Paint{picture::SearchColor(share), kSearchOpacity}
                                     : picture::Paint{scene.palette.open, 0.6};
    if (is_text) {
      MarkGround(layout, visit.place, visit.is_expanded ? DigitOf(share) : 'o', scene.ground.front());
    } else if (!scene.ground.empty()) {
      TintGround(layout, visit.place, paint, scene.ground.front());
    } else if (visit.is_expanded || cell < kRimmedCell) {
      scene.AddArea(layout.tiling.OutlineOf(visit.place.x, visit.place.y), paint);
    } else {
      std::vector<picture::Point> rim = layout.tiling.OutlineOf(visit.place.x, visit.place.y, cell * 0.14);
      rim.push_back(rim.front());
      scene.AddLine(std::move(rim), std::clamp(cell * 0.07, 1.0, 2.5), {scene.palette.open});
    }
  }
  const double width = std::clamp(cell * 0.06, 1.0, 2.0);
  // More lines would hide each other.
  constexpr std::size_t kMaxJumps = 50'000;
  std::size_t jumps = 0;
  for (const PlaceVisit<Cell>& visit : visits) {
    if (jumps < kMaxJumps && !is_text && visit.is_expanded && IsJump(visit) && region.Contains(visit.place) &&
        region.Contains(visit.parent)) {
      ++jumps;
      scene.AddLine(JumpTo(visit, query.any_angle, layout), width, {scene.palette.ink, 0.55});
    }
  }
  return absl::OkStatus();
}

void AddPath(const QueryMarks& query, const Rectangle& region, const Layout& layout, bool is_text,
             Scene& scene) {
  const MarkSizes sizes(layout, is_text);
  for (const std::vector<Cell>& leg : query.legs) {
    std::vector<Cell> inside;
    const auto draw = [&] {
      if (is_text) {
        AddPathCells(inside, layout, scene);
      } else if (!inside.empty()) {
        AddPathLine(CornersOf(inside, layout), sizes, scene);
      }
      inside.clear();
    };
    for (const Cell cell : leg) {
      if (region.Contains(cell)) {
        inside.push_back(cell);
      } else {
        draw();
      }
    }
    draw();
  }
  for (const auto& [from, to] : query.jumps) {
    if (region.Contains(from) && region.Contains(to)) {
      scene.AddLine({CenterOf(layout, from), CenterOf(layout, to)}, sizes.path * 0.7, {scene.palette.path}, 0,
                    std::max(3.0, sizes.path * 1.5));
    }
  }
  for (const Cell goal : query.goals) {
    if (region.Contains(goal)) {
      AddGoal(CenterOf(layout, goal), sizes, scene);
    }
  }
  if (query.start.has_value() && region.Contains(*query.start)) {
    AddStart(CenterOf(layout, *query.start), sizes, scene);
  }
}

void AddToLegend(bool has_start, std::size_t goals, bool has_path, Scene& scene) {
  using Sign = LegendEntry::Sign;
  if (has_start) {
    scene.legend.push_back({Sign::kDisc, scene.palette.start, 'S', "start"});
  }
  if (goals > 0) {
    scene.legend.push_back({Sign::kDisc, scene.palette.goal, 'G', goals == 1 ? "goal" : "goals"});
  }
  if (has_path) {
    scene.legend.push_back({Sign::kLine, scene.palette.path, '*', "path"});
  }
}

void AddToLegend(const QueryMarks& query, Scene& scene) {
  using Sign = LegendEntry::Sign;
  AddToLegend(query.start.has_value(), query.goals.size(), !query.legs.empty(), scene);
  if (!query.jumps.empty()) {
    scene.legend.push_back({.sign = Sign::kDashes, .color = scene.palette.path, .text = "through a portal"});
  }
  if (!query.events.empty()) {
    AddSearchToLegend(CostToDouble(DearestOf(query.events)), 'o', scene);
  }
}

void AddSearchToLegend(double dearest, char open_symbol, Scene& scene) {
  // The lowest value of DearestOf stands for 0 too.
  const bool has_range = dearest > CostToDouble(1);
  scene.legend.push_back(
      {.sign = LegendEntry::Sign::kRamp,
       .symbol = '0',
       .text = has_range ? absl::StrFormat("expanded at cost 0 to %.5g", dearest) : "expanded at cost 0"});
  scene.legend.push_back({.color = scene.palette.open, .symbol = open_symbol, .text = "seen, not expanded"});
}

void AddPortal(const std::optional<picture::Point>& from, const std::optional<picture::Point>& to,
               bool is_closed, const MarkSizes& sizes, Scene& scene) {
  if (from.has_value() && to.has_value()) {
    scene.AddLine({*from, *to}, std::max(1.0, sizes.path * 0.4),
                  {scene.palette.portal, is_closed ? 0.35 : 0.8}, 0, 4);
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
    scene.AddArea(diamond(reach + sizes.halo), {scene.palette.paper, 0.9});
    scene.AddArea(diamond(reach), {scene.palette.portal}, 'P');
    if (is_closed) {
      scene.AddArea(diamond(reach * 0.6), {scene.palette.paper});
    }
  }
}

void AddPortalToLegend(Scene& scene) {
  scene.legend.push_back({LegendEntry::Sign::kDisc, scene.palette.portal, 'P', "portal"});
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

namespace {

// Returns the cells along the directions.
std::vector<Cell> Walk(Cell at, absl::Span<const Direction> directions) {
  std::vector<Cell> cells = {at};
  for (const Direction direction : directions) {
    at = Step(at, direction);
    cells.push_back(at);
  }
  return cells;
}

std::optional<GraphMark> MarkOf(const WaypointGraph& graph, const Location& end) {
  if (end.position.has_value()) {
    return GraphMark{.position = {end.position->x, end.position->y, end.position->z}};
  }
  const NodeNumber number = graph.FindNode(end.node);
  if (number == kNoNodeNumber) {
    return std::nullopt;
  }
  return GraphMark{.position = graph.PositionOf(number), .node = number};
}

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

void AddGoals(absl::string_view map, const RouteQuery& query, const Route& route, QueryMarks& marks) {
  if (!query.goal_map.empty() && query.goal_map != map) {
    return;
  }
  for (const Location& goal : query.goals) {
    if (goal.cell.has_value()) {
      marks.goals.push_back(*goal.cell);
    }
  }
  if (marks.goals.empty() && route.path.outcome == Outcome::kFound) {
    marks.goals.push_back(route.path.end);
  }
}

}  // namespace

QueryMarks ToQueryMarks(absl::string_view map, const RouteQuery& query, const Route& route) {
  QueryMarks marks;
  marks.start = route.start;
  marks.any_angle = route.path.statistics.algorithm == Algorithm::kLazyThetaStar;
  AddGoals(map, query, route, marks);
  bool is_here = true;
  Cell begin = route.start;
  for (std::size_t i = 0; i <= route.crossings.size(); ++i) {
    const absl::Span<const Cell> points = LegOf(route.path.points, route.crossings, i);
    std::vector<Cell> leg = route.path.directions.empty()
                                ? std::vector<Cell>(points.begin(), points.end())
                                : Walk(begin, LegOf(route.path.directions, route.crossings, i));
    const std::optional<Cell> end = leg.empty() ? std::optional<Cell>() : std::optional(leg.back());
    if (is_here && !leg.empty()) {
      marks.legs.push_back(std::move(leg));
    }
    if (i == route.crossings.size()) {
      break;
    }
    const PortalCrossing& crossing = route.crossings[i];
    const bool was_here = is_here;
    is_here = crossing.map.empty() || crossing.map == map;
    begin = crossing.arrival;
    if (was_here && is_here && end.has_value()) {
      marks.jumps.emplace_back(*end, begin);
    }
  }
  return marks;
}

GraphQueryMarks ToGraphQueryMarks(const RouteQuery& query, const Route& route) {
  GraphQueryMarks marks{.start = MarkOf(*route.graph, query.start)};
  for (const Location& goal : query.goals) {
    if (const std::optional<GraphMark> mark = MarkOf(*route.graph, goal)) {
      marks.goals.push_back(*mark);
    }
  }
  // The positions are the nodes, plus a start and a goal given as positions.
  const std::size_t first = query.start.position.has_value() ? 1 : 0;
  for (std::size_t i = 0; i < route.positions.size(); ++i) {
    const WorldPoint& position = route.positions[i];
    const bool is_node = i >= first && i - first < route.nodes.size();
    marks.way.push_back({.position = position, .node = is_node ? route.nodes[i - first] : kNoNodeNumber});
  }
  return marks;
}

MeshQueryMarks ToMeshQueryMarks(absl::string_view map, const RouteQuery& query, const Route& route) {
  MeshQueryMarks marks{.start = *query.start.position};
  bool was_home = false;
  std::optional<WorldPoint> last;
  for (const MeshLeg& leg :
       LegsOnMeshes(*route.mesh_agent, route.positions, route.corridor, route.mesh_crossings)) {
    if (leg.is_home && !leg.corners.empty()) {
      if (was_home && last) {
        marks.jumps.emplace_back(*last, leg.corners.front());
      }
      marks.legs.push_back(leg.corridor.empty()
                               ? std::vector<WorldPoint>(leg.corners.begin(), leg.corners.end())
                               : SurfaceLine(*leg.mesh, leg.corners, leg.corridor));
      last = leg.corners.back();
    }
    was_home = leg.is_home;
  }
  if (query.goal_map.empty() || query.goal_map == map) {
    for (const Location& goal : query.goals) {
      marks.goals.push_back(*goal.position);
    }
  }
  return marks;
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
