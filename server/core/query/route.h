// Answer to a route query on a map of any kind, as plain values.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/graph/search/graph_query.h"
#include "server/core/grid/cells/world_frame.h"
#include "server/core/grid/portal/portal_search.h"
#include "server/core/map/map_version.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/portal/mesh_portal_search.h"
#include "server/core/mesh/search/mesh_path.h"
#include "server/core/query/resolve.h"
#include "server/core/query/resolved_agent.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Summary of a route. Lengths are in world units.
struct RouteSummary {
  // A part of the route over one terrain.
  struct Leg {
    char terrain = '.';
    // Number of cells entered.
    int cells = 0;
    double length = 0.0;
    double cost = 0.0;
  };

  double length = 0.0;
  // Number of points where the direction changes.
  int turns = 0;
  // Legs in order. Consecutive legs have different terrains, unless a portal separates them.
  std::vector<Leg> legs;
};

// Part of a path behind the place where it was clipped.
struct RouteRest {
  double cost = 0.0;
  double length = 0.0;
};

// Place on a route where a turn of a game ends.
struct RouteTurn {
  // One of these, by the kind of the map.
  Cell cell;
  NodeNumber node = 0;
  WorldPoint position;
  // Cost of the route up to there.
  double cost = 0.0;
  // Number of crossings before it.
  std::size_t crossings = 0;
};

// Storage of a clipped route on a grid.
struct ClippedCells {
  std::vector<Cell> points;
  std::vector<Direction> directions;
  std::vector<PortalCrossing> crossings;
};

// A route. Refers to the resolved query, and to the scratch until its next search.
struct Route {
  // Outcome, reason, cost, bound and statistics are set for any kind of map, the other fields only for grids.
  PathResult path;
  // Index of the goal that the path reaches, with Outcome::kFound.
  std::size_t goal_index = 0;
  // Set if the query asked for it and there is a path.
  std::optional<RouteSummary> summary;
  // Set if the path was clipped.
  std::optional<RouteRest> rest;
  // Ends of all turns but the last, if the query asked for them.
  std::vector<RouteTurn> turn_ends;

  // These three are set on a grid.
  PathForm form = PathForm::kEveryCell;
  Cell start;
  absl::Span<const PortalCrossing> crossings;
  // Crossings on a mesh.
  std::vector<MeshCrossing> mesh_crossings;
  // Version of the map that each crossing leads to.
  std::vector<MapVersion> crossing_versions;
  // Hexagon board of that map, on grids; nullopt for squares.
  std::vector<std::optional<HexBoard>> crossing_boards;
  // The graph, null on other maps, and the nodes of the path.
  const WaypointGraph* graph = nullptr;
  absl::Span<const NodeNumber> nodes;
  // True if the first, or the last, of the positions is that of no node.
  bool starts_at_position = false;
  bool ends_at_position = false;
  // The agent on a mesh, null on other maps, and the polygons that the path passes, if the query asked for
  // them: for each leg those of its mesh, as seen by the agent.
  MeshAgent* mesh_agent = nullptr;
  absl::Span<const PolygonNumber> corridor;
  // The same polygons, if the query asked for them with their corners.
  absl::Span<const PolygonNumber> polygons;
  // Course of the path over the surface, on meshes, if the query asked for it.
  std::vector<WorldPoint> surface;

  // Positions of the path. On a grid, the centres of its points, if the query asked for them. On a graph, a
  // start given as a position, the nodes, and a reached goal given as a position. On a mesh, the corners.
  std::vector<WorldPoint> positions;

  // Owns the points and directions of a path that was clipped or divided into turns.
  std::shared_ptr<const ClippedCells> clipped;

  // Duration of the search.
  std::chrono::nanoseconds searching{0};

  // Returns the bound that AnswerInfo has: 0 if nothing is proved.
  double bound() const {
    const bool is_proved =
        path.outcome != Outcome::kBudgetExhausted && path.statistics.algorithm != Algorithm::kLazyThetaStar;
    return is_proved ? path.bound : 0.0;
  }

  PortalPath portal_path() const { return {.path = path, .crossings = crossings, .goal_index = goal_index}; }
};

// Adds positions and the summary if the query asked for them. Each leg uses the map that it lies on.
void AddExtras(const ResolvedRoute& resolved, Route& route);

// Returns a start given as a position, the nodes, and a reached goal given as a position.
std::vector<WorldPoint> PositionsOnGraph(const WaypointGraph& graph, const GraphQuery& query,
                                         const GraphPathResult& found);

// Returns the length and number of turns of a path on a waypoint graph; there are no legs. A point is a turn
// if the unit directions before and after it differ by more than 1e-9.
RouteSummary SummaryOf(const std::vector<WorldPoint>& positions);

// Returns the length in space along the surface and the number of turns of a path on a navigation mesh; there
// are no legs.
// REQUIRES: there is a path.
RouteSummary SummaryOnMesh(MeshAgent& agent, const MeshPathResult& found,
                           absl::Span<const MeshCrossing> crossings);

// Returns the SurfaceLine of each leg of a path on a navigation mesh, one after the other.
// REQUIRES: there is a path.
std::vector<WorldPoint> SurfaceOnMesh(MeshAgent& agent, const MeshPathResult& found,
                                      absl::Span<const MeshCrossing> crossings);

// Leg of a path on navigation meshes.
struct MeshLeg {
  const NavMesh* mesh = nullptr;
  // True if the leg lies on the query's own map.
  bool is_home = true;
  absl::Span<const WorldPoint> corners;
  absl::Span<const PolygonNumber> corridor;
};

// Splits a path at its portals. `corners` or `corridor` may be empty.
// REQUIRES: the crossings are those of the path, which was found with this agent.
std::vector<MeshLeg> LegsOnMeshes(MeshAgent& agent, absl::Span<const WorldPoint> corners,
                                  absl::Span<const PolygonNumber> corridor,
                                  absl::Span<const MeshCrossing> crossings);

}  // namespace waystar::core
