// The answer to a route query, on a map of any kind, as plain values.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "server/core/graph/waypoint_graph.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/world_frame.h"
#include "server/core/mesh/mesh_spec.h"
#include "server/core/mesh_portal/mesh_portal_search.h"
#include "server/core/portal/portal_search.h"
#include "server/core/query/mesh_agent.h"
#include "server/core/search/query.h"
#include "server/core/store/map_version.h"

namespace waystar::core {

// The summary of a route. Lengths are in units of the game.
struct RouteSummary {
  // A part of the route over one terrain.
  struct Leg {
    char terrain = '.';
    // The number of cells that are entered.
    int cells = 0;
    double length = 0.0;
    double cost = 0.0;
  };

  double length = 0.0;
  // The number of points where the direction changes.
  int turns = 0;
  // The legs in order. Consecutive ones are over different terrains, unless a portal lies between.
  std::vector<Leg> legs;
};

// A route. It refers to the resolved query and to the scratch that was searched with, until its next search.
struct Route {
  // Outcome, reason, cost and statistics are set for any kind of map, the other fields only for grids.
  PathResult path;
  // The index of the goal that the path leads to, with Outcome::kFound.
  std::size_t goal_index = 0;
  // If the query asked for it and there is a path.
  std::optional<RouteSummary> summary;

  // The next two are set on a grid.
  Cell start;
  absl::Span<const PortalCrossing> crossings;
  // The same on a mesh.
  std::vector<MeshCrossing> mesh_crossings;
  // The version of the map that each crossing leads to.
  std::vector<MapVersion> crossing_versions;
  // On grids, how that map counts hexagons; none where it has squares.
  std::vector<std::optional<HexBoard>> crossing_boards;
  // The graph, which is null on other maps, and the nodes that the path goes through.
  const WaypointGraph* graph = nullptr;
  absl::Span<const NodeNumber> nodes;
  // The agent on a mesh, which is null on other maps, and the polygons that the path leads through, if they
  // were asked for: of each leg those of its mesh, as the agent sees it.
  MeshAgent* mesh_agent = nullptr;
  absl::Span<const PolygonNumber> corridor;

  // The positions of the path: on a grid the centres of its points, if they were asked for; on a graph a
  // start that is a position, the nodes, and a goal that is a position and is reached; on a mesh its corners.
  std::vector<Position> positions;

  // How long the search took.
  std::chrono::nanoseconds searching{0};

  PortalPath portal_path() const { return {.path = path, .crossings = crossings, .goal_index = goal_index}; }
};

}  // namespace waystar::core
