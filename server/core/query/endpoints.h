// Where on a grid a query begins and ends.
#pragma once

#include "absl/status/status.h"
#include "server/core/query/resolve.h"
#include "server/core/query/route_query.h"

namespace waystar::core {

// Checks that the query has one start, and one goal or one list of goals, given by cells or finite positions.
absl::Status CheckEndpoints(const RouteQuery& query);

// Gives `resolved`, whose agent, footprint and goal map are set, the cells that hold the query's ends, and
// those that an end where the agent cannot stand snaps to. If there is no map of the goal's id, the goal
// stays as it is: that is for the search to say. Errors: see Resolve.
absl::Status ResolveEndpoints(const RouteQuery& query, const Budget& budget, GridRouteQuery& resolved);

// Returns the error of a search with its field renamed to the position, where that was given and not a cell.
absl::Status BlamePositionField(const absl::Status& status, const GridRouteQuery& query);

}  // namespace waystar::core
