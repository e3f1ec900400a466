// Resolve: turns a query into one that can be solved. The first of the two steps of every path query.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/graph/search/graph_query.h"
#include "server/core/grid/portal/portal_search.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/mesh/search/mesh_path.h"
#include "server/core/query/resolved_agent.h"
#include "server/core/query/route_query.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// A query on a grid, with its locations resolved to cells.
struct GridRouteQuery {
  // Shared by all queries that were resolved with it.
  std::shared_ptr<ResolvedAgent> agent;
  PathQuery path;
  // Empty for the query's own map.
  std::string goal_map;
  // Either empty or several goals, which then replace path.goal.
  std::vector<Cell> goals;

  // Returns true if the query leads to another map or its map has portals.
  bool HasPortals() const;
  PortalQuery ToPortalQuery() const;
};

struct GraphRouteQuery {
  // Shared by all queries that were resolved with it.
  std::shared_ptr<const GraphAgent> agent;
  GraphQuery path;
};

struct MeshRouteQuery {
  // Shared by all queries that were resolved with it.
  std::shared_ptr<MeshAgent> agent;
  MeshQuery path;
  // Empty for the query's own map.
  std::string goal_map;
  bool with_corridor = false;
  bool with_surface = false;
  bool with_polygons = false;

  // As GridRouteQuery::HasPortals.
  bool HasPortals() const;
};

// An agent shared by many queries on one snapshot, by the kind of the map.
using SharedAgent = std::variant<std::shared_ptr<ResolvedAgent>, std::shared_ptr<const GraphAgent>,
                                 std::shared_ptr<MeshAgent>>;

struct ResolvedRoute {
  // The snapshot to search, which must outlive this.
  const MapSnapshot* snapshot = nullptr;
  std::variant<GridRouteQuery, GraphRouteQuery, MeshRouteQuery> query;
  std::uint64_t max_expansions = 0;
  Cost max_cost = std::numeric_limits<Cost>::max();
  PathClip clip;
  bool with_positions = false;
  bool with_summary = false;

  // REQUIRES: the snapshot is a grid.
  const GridRouteQuery& grid() const { return *std::get_if<GridRouteQuery>(&query); }
  GridRouteQuery& grid() { return *std::get_if<GridRouteQuery>(&query); }
  // REQUIRES: the snapshot is a navigation mesh.
  const MeshRouteQuery& mesh() const { return *std::get_if<MeshRouteQuery>(&query); }
};

// Resolves a query on a snapshot: the agent's profile, its view of the map with the overlay, the cells of
// positions, and the cells that blocked locations snap to. Takes a few microseconds, except for snapping and
// for creating a view or an overlay, which `budget` can end early. The snapshot, the query and the store of
// `others` must outlive the result.
//
// Returns, with the fields of the query, the errors of CheckQuery, ResolveAgent, LocationResolver and, with
// several goals, CheckNearestQuery.
//
// Thread safety: any method may be called from any thread, also on the same snapshot.
absl::StatusOr<ResolvedRoute> Resolve(const MapSnapshot& snapshot, const RouteQuery& query, OtherMaps others,
                                      const Budget& budget);

// Resolves an agent for queries that share it; `by_jumps` says whether jump searches will use it. Returns the
// errors of ResolvedAgent::Make, GraphAgent::Make or MeshAgent::Make.
absl::StatusOr<SharedAgent> ResolveAgent(const MapSnapshot& snapshot, const AgentQuery& query,
                                         OtherMaps others, const Budget& budget, bool by_jumps = true);

// As Resolve, with a resolved agent in place of the query's.
absl::StatusOr<ResolvedRoute> ResolveFor(const SharedAgent& agent, const MapSnapshot& snapshot,
                                         const RouteQuery& query, const Budget& budget);

// Renames the field of a search error to the field of the query: "goals[0]" for the goal, "agent.footprint"
// for the footprint.
absl::Status InQuery(const absl::Status& status);

// Charges the budget's upkeep for finding the nodes of `positions` positions on a waypoint graph, unless they
// are few. Returns the errors of BeginUpkeep.
absl::Status BeginToPlace(std::size_t positions, const Budget& budget);

// Returns the limits of a snap on a mesh.
MeshSnap ToMeshSnap(const std::optional<Snap>& snap);

// Returns the place on a waypoint graph that a location names.
// REQUIRES: CheckLocation holds on a graph.
GraphPlace ToPlace(const Location& location);

// Returns the budget with the snapshot's eviction flag.
Budget BudgetOn(const MapSnapshot& snapshot, const Budget& budget);

}  // namespace waystar::core
