#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "server/core/mesh/search/mesh_corridor.h"
#include "server/core/portal/portal_legs.h"
#include "server/core/query/resolve.h"
#include "server/core/query/route.h"
#include "server/geometry/cell.h"
#include "server/render/scene/map_scenes.h"

namespace waystar::core {
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
    case Outcome::kUnreachable:
      break;
  }
  return absl::StrCat("no path to the goal; ", search);
}

}  // namespace waystar::core
