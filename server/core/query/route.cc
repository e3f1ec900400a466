#include "server/core/query/route.h"

#include <algorithm>
#include <variant>

#include "server/core/grid/path/path.h"
#include "server/core/mesh/search/mesh_corridor.h"
#include "server/core/portal/portal_legs.h"

namespace waystar::core {
namespace {

void AddSummary(const PathSummary& leg, const GridSettings& settings, RouteSummary& summary) {
  const double cell_size = settings.frame.cell_size;
  summary.length += leg.length * cell_size;
  summary.turns += leg.turns;
  for (const PathLeg& part : leg.legs) {
    summary.legs.push_back({.terrain = settings.terrains[part.terrain].symbol,
                            .cells = part.cells,
                            .length = part.length * cell_size,
                            .cost = part.cost});
  }
}

// Unit directions that differ by at most this are equal.
constexpr double kStraight = 1e-9;

// Returns the part of the list from `begin` to `end`, clipped to the list.
template <typename T>
absl::Span<const T> Part(absl::Span<const T> list, std::size_t begin, std::size_t end) {
  const std::size_t first = std::min(begin, list.size());
  return list.subspan(first, std::min(end, list.size()) - first);
}

WorldPoint Between(const WorldPoint& a, const WorldPoint& b) { return {b.x - a.x, b.y - a.y, b.z - a.z}; }
double LengthOf(const WorldPoint& way) { return Distance({}, way); }

}  // namespace

void AddExtras(const ResolvedRoute& resolved, Route& route) {
  const bool with_summary = resolved.with_summary && HasPath(route.path.outcome);
  if (!resolved.with_positions && !with_summary) {
    return;
  }
  if (with_summary) {
    route.summary.emplace();
  }
  route.positions.reserve(resolved.with_positions ? route.path.points.size() : 0);
  const GridRouteQuery& query = resolved.grid();
  const GridMap* map = &query.agent->map();
  PathQuery part = query.path;
  PathResult leg = route.path;
  for (std::size_t i = 0; i <= route.crossings.size(); ++i) {
    leg.points = LegOf(route.path.points, route.crossings, i);
    leg.directions = LegOf(route.path.directions, route.crossings, i);
    if (resolved.with_positions) {
      for (const Cell point : leg.points) {
        route.positions.push_back(map->settings().frame.CenterOf(point));
      }
    }
    if (with_summary) {
      AddSummary(Summarize(*map, part, leg), map->settings(), *route.summary);
    }
    if (i < route.crossings.size()) {
      const PortalCrossing& crossing = route.crossings[i];
      map = crossing.map.empty() ? &query.agent->map() : query.agent->Find(crossing.map);
      part.start = crossing.arrival;
    }
  }
}

std::vector<WorldPoint> PositionsOnGraph(const WaypointGraph& graph, const GraphQuery& query,
                                         const GraphPathResult& found) {
  std::vector<WorldPoint> positions;
  const auto* start = std::get_if<WorldPoint>(&query.start);
  if (start != nullptr && (found.reaches_goal || !found.nodes.empty())) {
    positions.push_back(*start);
  }
  for (const NodeNumber node : found.nodes) {
    positions.push_back(graph.PositionOf(node));
  }
  const auto* goal = std::get_if<WorldPoint>(&query.goals[found.goal_index]);
  if (goal != nullptr && found.reaches_goal) {
    positions.push_back(*goal);
  }
  return positions;
}

RouteSummary SummaryOf(const std::vector<WorldPoint>& positions) {
  RouteSummary summary;
  WorldPoint before;
  for (std::size_t i = 1; i < positions.size(); ++i) {
    const WorldPoint way = Between(positions[i - 1], positions[i]);
    const double length = LengthOf(way);
    // Nodes may coincide.
    if (length == 0.0) {
      continue;
    }
    const WorldPoint direction = {way.x / length, way.y / length, way.z / length};
    if (summary.length > 0.0 &&
        LengthOf({direction.x - before.x, direction.y - before.y, direction.z - before.z}) > kStraight) {
      ++summary.turns;
    }
    summary.length += length;
    before = direction;
  }
  return summary;
}

RouteSummary SummaryOnMesh(MeshAgent& agent, const MeshPathResult& found,
                           absl::Span<const MeshCrossing> crossings) {
  RouteSummary summary;
  for (const MeshLeg& leg : LegsOnMeshes(agent, found.corners, found.corridor, crossings)) {
    summary.length += LengthInSpace(SurfaceLine(*leg.mesh, leg.corners, leg.corridor));
    summary.turns += leg.corners.size() < 2 ? 0 : static_cast<int>(leg.corners.size() - 2);
  }
  return summary;
}

std::vector<WorldPoint> SurfaceOnMesh(MeshAgent& agent, const MeshPathResult& found,
                                      absl::Span<const MeshCrossing> crossings) {
  std::vector<WorldPoint> surface;
  for (const MeshLeg& leg : LegsOnMeshes(agent, found.corners, found.corridor, crossings)) {
    const std::vector<WorldPoint> line = SurfaceLine(*leg.mesh, leg.corners, leg.corridor);
    surface.insert(surface.end(), line.begin(), line.end());
  }
  return surface;
}

std::vector<MeshLeg> LegsOnMeshes(MeshAgent& agent, absl::Span<const WorldPoint> corners,
                                  absl::Span<const PolygonNumber> corridor,
                                  absl::Span<const MeshCrossing> crossings) {
  std::vector<MeshLeg> legs;
  MeshLeg leg{.mesh = &agent.mesh(), .is_home = true, .corners = {}, .corridor = {}};
  std::size_t corner = 0;
  std::size_t polygon = 0;
  for (const MeshCrossing& crossing : crossings) {
    leg.corners = Part(corners, corner, crossing.index);
    leg.corridor = Part(corridor, polygon, crossing.corridor_index);
    legs.push_back(leg);
    corner = crossing.index;
    polygon = crossing.corridor_index;
    leg.mesh = crossing.map.empty() ? &agent.mesh() : agent.Find(crossing.map);
    leg.is_home = leg.mesh == &agent.mesh();
  }
  leg.corners = Part(corners, corner, corners.size());
  leg.corridor = Part(corridor, polygon, corridor.size());
  legs.push_back(leg);
  return legs;
}

}  // namespace waystar::core
