// From what a query asks to what can be solved: the first of the two steps that every path query takes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/graph_search/graph_query.h"
#include "server/core/grid/cell.h"
#include "server/core/portal/portal_search.h"
#include "server/core/query/resolved_agent.h"
#include "server/core/query/route_query.h"
#include "server/core/search/query.h"
#include "server/core/store/map_snapshot.h"

namespace waystar::core {

// A query on a grid, whose ends are cells.
struct GridRouteQuery {
  // Shared by all queries that were resolved with it.
  std::shared_ptr<ResolvedAgent> agent;
  PathQuery path;
  // Empty for the query's own map.
  std::string goal_map;
  // With any, path.goal is not looked at.
  std::vector<Cell> goals;

  // How the ends were given, so that errors blame the field that the caller filled.
  bool start_was_position = false;
  bool goal_was_position = false;
  bool goals_were_positions = false;

  // Whether portals have a part in it: whether it may lead to another map, or its map has any.
  bool HasPortals() const;
  PortalQuery ToPortalQuery() const;
};

struct ResolvedRoute {
  // The snapshot that the query is about, which must outlive this.
  const MapSnapshot* snapshot = nullptr;
  std::variant<GridRouteQuery, GraphQuery> query;
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
// Errors, with the field of the query: those of ResolvedAgent::Make; INVALID_ARGUMENT / MISSING_FIELD for an
// end that is not given, BAD_VALUE for one that is given twice, for a coordinate or a snap radius that is no
// finite number, and for directions of a path at any angle; OUT_OF_RANGE / OFF_MAP for a position off the
// map; with several goals those of CheckNearestQuery; FAILED_PRECONDITION / WRONG_MAP_KIND for a field that
// the map's kind does not have; and what ends searches early.
//
// Thread safety: any, on one snapshot.
absl::StatusOr<ResolvedRoute> Resolve(const MapSnapshot& snapshot, const RouteQuery& query, OtherMaps others,
                                      const Budget& budget);

// The same on a grid for an agent that is resolved already, and shared by queries that say nothing else of
// it; where they have a corner rule or a footprint, these win.
absl::StatusOr<ResolvedRoute> ResolveFor(const std::shared_ptr<ResolvedAgent>& agent,
                                         const MapSnapshot& snapshot, const RouteQuery& query,
                                         const Budget& budget);

// INVALID_ARGUMENT / BAD_VALUE with field "goals" or "goal_positions" for a query with several goals where
// only one can be asked for.
absl::Status CheckOneGoal(const RouteQuery& query);

// The budget of work on a snapshot: it ends when the snapshot is to be let go of.
Budget BudgetOn(const MapSnapshot& snapshot, const Budget& budget);

}  // namespace waystar::core
