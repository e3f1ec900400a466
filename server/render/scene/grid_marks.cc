#include "server/render/scene/grid_marks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/core/portal/portal_legs.h"
#include "server/core/query/resolve.h"
#include "server/render/canvas/canvas.h"

namespace waystar::core {
namespace {

// On smaller cells, outlines would cover everything else.
constexpr double kRimmedCell = 5.0;
constexpr double kSearchOpacity = 0.82;
constexpr std::size_t kVisitsBetweenChecks = 1 << 10;

WorldPoint PlaceOf(Cell cell) { return {.x = static_cast<double>(cell.x), .y = static_cast<double>(cell.y)}; }

bool Contains(const Rectangle& region, const WorldPoint& place) {
  return region.Contains({static_cast<std::int32_t>(place.x), static_cast<std::int32_t>(place.y)});
}

picture::Point CenterOf(const Layout& layout, const WorldPoint& place) {
  return layout.tiling.At(place.x, place.y);
}

// Returns the line from a parent to a cell that is not adjacent.
std::vector<picture::Point> JumpTo(const PlaceVisit<Cell>& visit, bool any_angle, const Layout& layout) {
  if (any_angle) {
    return {layout.tiling.At(visit.parent.x, visit.parent.y), layout.tiling.At(visit.place.x, visit.place.y)};
  }
  return layout.tiling.BentLine(visit.parent.x, visit.parent.y, visit.place.x, visit.place.y);
}

bool IsJump(const PlaceVisit<Cell>& visit) {
  return std::abs(visit.place.x - visit.parent.x) > 1 || std::abs(visit.place.y - visit.parent.y) > 1;
}

// Draws a cell into the ground: its character, its pixels, or the pixel that it shares with others.
void TintGround(const Layout& layout, Cell cell, const picture::Paint& paint, SceneGround& ground) {
  const picture::Point offset = {-static_cast<double>(ground.x), -static_cast<double>(ground.y)};
  const bool is_text = !ground.symbols.empty();
  if (is_text || layout.tiling.CellPixels() < 1) {
    const picture::Point at = layout.tiling.At(cell.x, cell.y) + offset;
    const int x = static_cast<int>(std::floor(at.x));
    const int y = static_cast<int>(std::floor(at.y));
    if (!ground.image.Contains(x, y)) {
      return;
    }
    if (is_text) {
      ground.SymbolAt(x, y) = paint.symbol;
    } else {
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

// Drops the points in the middle of straight lines.
std::vector<picture::Point> CornersOf(absl::Span<const WorldPoint> cells, const Layout& layout) {
  std::vector<picture::Point> corners;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0 && i + 1 < cells.size()) {
      const picture::Point a = {cells[i].x - cells[i - 1].x, cells[i].y - cells[i - 1].y};
      const picture::Point b = {cells[i + 1].x - cells[i].x, cells[i + 1].y - cells[i].y};
      if (a.x * b.y == a.y * b.x && a.x * b.x + a.y * b.y > 0) {
        continue;
      }
    }
    corners.push_back(CenterOf(layout, cells[i]));
  }
  return corners;
}

// Draws a path in text: a character for each cell, even if only the corners are known.
void AddPathCells(absl::Span<const WorldPoint> cells, const Layout& layout, Scene& scene) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const WorldPoint& from = cells[i == 0 ? 0 : i - 1];
    const double dx = cells[i].x - from.x;
    const double dy = cells[i].y - from.y;
    // On hexagons, steps of opposite sign cost their sum.
    const double together = layout.tiling.hexagons ? std::abs(dx + dy) : 0.0;
    const double steps = std::max({1.0, std::abs(dx), std::abs(dy), together});
    for (double step = 1; step <= steps; ++step) {
      const double x = std::floor(from.x + dx * step / steps + 0.5);
      const double y = std::floor(from.y + dy * step / steps + 0.5);
      scene.FillDisc(layout.tiling.At(x, y), 0.5, {scene.palette.path, 1, '*'});
    }
  }
}

// Returns the cells of a leg of the path, which begins at `at`.
std::vector<WorldPoint> CellsOf(const Route& route, std::size_t leg, Cell at) {
  std::vector<WorldPoint> cells;
  if (route.path.directions.empty()) {
    for (const Cell cell : LegOf(route.path.points, route.crossings, leg)) {
      cells.push_back(PlaceOf(cell));
    }
    return cells;
  }
  cells.push_back(PlaceOf(at));
  for (const Direction direction : LegOf(route.path.directions, route.crossings, leg)) {
    at = Step(at, direction);
    cells.push_back(PlaceOf(at));
  }
  return cells;
}

}  // namespace

QueryMarks GridMarks(const AnsweredQuery& answered) {
  const auto& [map, query, route, search] = answered;
  QueryMarks marks{.start = PlaceOf(route.start)};
  if (query.goal_map.empty() || query.goal_map == map) {
    for (const Location& goal : query.goals) {
      if (goal.cell.has_value()) {
        marks.goals.push_back(PlaceOf(*goal.cell));
      }
    }
    if (marks.goals.empty() && route.path.outcome == Outcome::kFound) {
      marks.goals.push_back(PlaceOf(route.path.end));
    }
  }
  bool is_here = true;
  Cell begin = route.start;
  for (std::size_t i = 0; i <= route.crossings.size(); ++i) {
    std::vector<WorldPoint> leg = CellsOf(route, i, begin);
    const std::optional<WorldPoint> end = leg.empty() ? std::nullopt : std::optional(leg.back());
    if (is_here && end.has_value()) {
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
      marks.jumps.emplace_back(*end, PlaceOf(begin));
    }
  }
  return marks;
}

absl::Status AddGridSearch(const AnsweredQuery& answered, const Rectangle& region, const Layout& layout,
                           bool is_text, const StopCheck& stop, Scene& scene) {
  const std::vector<SearchEvent>& events = answered.search->cells.events();
  const bool any_angle = answered.route.path.statistics.algorithm == Algorithm::kLazyThetaStar;
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<PlaceVisit<Cell>> visits,
                           VisitsOf(events, &SearchEvent::cell, stop));
  const Cost dearest = DearestOf(events);
  const double cell = layout.tiling.CellPixels();
  std::size_t seen = 0;
  for (const PlaceVisit<Cell>& visit : visits) {
    if (seen++ % kVisitsBetweenChecks == 0) {
      WAYSTAR_RETURN_IF_ERROR(stop.Check());
    }
    if (!region.Contains(visit.place)) {
      continue;
    }
    const double share = static_cast<double>(visit.g) / static_cast<double>(dearest);
    const picture::Paint paint = visit.is_expanded ? picture::Paint{picture::SearchColor(share),
                                                                    kSearchOpacity, picture::DigitOf(share)}
                                                   : picture::Paint{scene.palette.open, 0.6, 'o'};
    if (!scene.ground.empty()) {
      TintGround(layout, visit.place, paint, scene.ground.front());
    } else if (visit.is_expanded || cell < kRimmedCell) {
      scene.Fill(layout.tiling.OutlineOf(visit.place.x, visit.place.y), paint);
    } else {
      std::vector<picture::Point> rim = layout.tiling.OutlineOf(visit.place.x, visit.place.y, cell * 0.14);
      rim.push_back(rim.front());
      scene.Stroke(rim, {{scene.palette.open}, std::clamp(cell * 0.07, 1.0, 2.5)});
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
      scene.Stroke(JumpTo(visit, any_angle, layout), {{scene.palette.ink, 0.55}, width});
    }
  }
  return absl::OkStatus();
}

void AddGridPath(const QueryMarks& marks, const Rectangle& region, const Layout& layout, bool is_text,
                 Scene& scene) {
  const picture::MarkSizes sizes = SizesInCells(layout, is_text);
  const auto is_outside = [&](const WorldPoint& place) { return !Contains(region, place); };
  for (const std::vector<WorldPoint>& leg : marks.legs) {
    for (auto begin = leg.begin(); begin != leg.end();) {
      const auto end = std::find_if(begin, leg.end(), is_outside);
      const absl::Span<const WorldPoint> inside(leg.data() + (begin - leg.begin()),
                                                static_cast<std::size_t>(end - begin));
      if (is_text) {
        AddPathCells(inside, layout, scene);
      } else if (!inside.empty()) {
        DrawPath(CornersOf(inside, layout), sizes, scene.palette, scene);
      }
      begin = std::find_if_not(end, leg.end(), is_outside);
    }
  }
  for (const auto& [from, to] : marks.jumps) {
    if (Contains(region, from) && Contains(region, to)) {
      const picture::Point line[] = {CenterOf(layout, from), CenterOf(layout, to)};
      scene.Stroke(line, {{scene.palette.path}, sizes.path * 0.7, std::max(3.0, sizes.path * 1.5)});
    }
  }
}

}  // namespace waystar::core
