// Resolve, which turns a query into what can be solved: the first of the two steps of every path query.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/graph_search/graph_query.h"
#include "server/core/grid/cell.h"
#include "server/core/mesh_search/mesh_query.h"
#include "server/core/portal/portal_search.h"
#include "server/core/query/graph_agent.h"
#include "server/core/query/mesh_agent.h"
#include "server/core/query/resolved_agent.h"
#include "server/core/query/route_query.h"
#include "server/core/search/query.h"
#include "server/core/store/map_snapshot.h"

namespace waystar::core {

// A query on a grid, whose ends are cells.
struct GridRouteQuery {
  // All queries that were resolved with the agent share it.
  std::shared_ptr<ResolvedAgent> agent;
  PathQuery path;
  // It is empty for the query's own map.
  std::string goal_map;
  // If there are any, there are several, and path.goal is ignored.
  std::vector<Cell> goals;

  // Returns whether portals have a part in it: it leads to another map, or its map has portals.
  bool HasPortals() const;
  PortalQuery ToPortalQuery() const;
};

// A query on a waypoint graph.
struct GraphRouteQuery {
  // All queries that were resolved with the agent share it.
  std::shared_ptr<const GraphAgent> agent;
  GraphQuery path;
};

// A query on a navigation mesh.
struct MeshRouteQuery {
  // All queries that were resolved with the agent share it.
  std::shared_ptr<MeshAgent> agent;
  MeshQuery path;
  // It is empty for the query's own map.
  std::string goal_map;
  bool with_corridor = false;

  // As GridRouteQuery::HasPortals.
  bool HasPortals() const;
};

// An agent that many queries on one snapshot share, by the kind of its map.
using SharedAgent = std::variant<std::shared_ptr<ResolvedAgent>, std::shared_ptr<const GraphAgent>,
                                 std::shared_ptr<MeshAgent>>;

struct ResolvedRoute {
  // The snapshot that the query is about, which must outlive this.
  const MapSnapshot* snapshot = nullptr;
  std::variant<GridRouteQuery, GraphRouteQuery, MeshRouteQuery> query;
  std::uint64_t max_expansions = 0;
  bool with_positions = false;
  bool with_summary = false;

  // REQUIRES: the snapshot is a grid.
  const GridRouteQuery& grid() const { return *std::get_if<GridRouteQuery>(&query); }
  GridRouteQuery& grid() { return *std::get_if<GridRouteQuery>(&query); }
};

// Resolves a query on a snapshot: the agent's profile, its view of the map with the overlay, the cells that
// hold the ends' positions, and those that blocked ends snap to. Only snapping costs more than a few
// microseconds, unless a view or an overlay has to be made; `budget` can end it early. The snapshot, the
// query and the store of `others` must outlive the result.
//
// Returns, with the field of the query, the errors of ResolvedAgent::Make, GraphAgent::Make or
// MeshAgent::Make;
// INVALID_ARGUMENT / MISSING_FIELD for an end that is not given, BAD_VALUE for a coordinate or a snap radius
// out of its range, and for directions of an any-angle path; OUT_OF_RANGE / OFF_MAP for a position off the
// map; with several goals those of CheckNearestQuery; FAILED_PRECONDITION / WRONG_MAP_KIND for a field that
// the map's kind does not have; and the errors of StatusOfEnd.
//
// Thread safety: any thread may call it, on one snapshot too.
absl::StatusOr<ResolvedRoute> Resolve(const MapSnapshot& snapshot, const RouteQuery& query, OtherMaps others,
                                      const Budget& budget);

// Resolves an agent for queries that share it. Returns the errors of ResolvedAgent::Make or GraphAgent::Make.
absl::StatusOr<SharedAgent> ResolveAgent(const MapSnapshot& snapshot, const AgentQuery& query,
                                         OtherMaps others, const Budget& budget);

// As Resolve, for an agent that is resolved already, whose profile and overlay are the query's. A corner rule
// or a footprint of the query wins. With `has_own_agent` the agent's do not count at all.
absl::StatusOr<ResolvedRoute> ResolveFor(const SharedAgent& agent, const MapSnapshot& snapshot,
                                         const RouteQuery& query, const Budget& budget,
                                         bool has_own_agent = false);

// Returns the error of a search with the field of the query in place of the search's own: of one goal
// "goals[0]", and of the agent below "agent.".
absl::Status InQuery(const absl::Status& status);

// Takes the work of finding the nodes of so many positions on a waypoint graph off the budget's upkeep,
// unless they are few. Returns the errors of BeginUpkeep.
absl::Status BeginToPlace(std::size_t positions, const Budget& budget);

// Returns the position of a location. REQUIRES: it has one.
WorldPoint ToWorldPoint(const Location& location);

// Returns what a snap allows on a mesh.
MeshSnap ToMeshSnap(const std::optional<Snap>& snap);

// Returns the place on a waypoint graph that a location names. REQUIRES: CheckLocationOnGraph holds.
GraphPlace ToPlace(const Location& location);

// Returns the budget of work on a snapshot, which also ends when the snapshot is to be evicted.
Budget BudgetOn(const MapSnapshot& snapshot, const Budget& budget);

}  // namespace waystar::core
