// Resolution of endpoints: the cells where a query on a grid begins and ends.
#pragma once

#include "absl/status/status.h"
#include "server/core/query/resolve.h"
#include "server/core/query/route_query.h"

namespace waystar::core {

// Checks that the query has one start, and one goal or one list of goals, given by cells or finite positions.
absl::Status CheckEndpoints(const RouteQuery& query);

// Sets in `resolved`, whose agent, footprint and goal map are set, the cells that hold the query's ends, or
// those that blocked ends snap to. If there is no map of the goal's id, it leaves the goal as it is, and the
// search reports that. Returns the errors of Resolve.
absl::Status ResolveEndpoints(const RouteQuery& query, const Budget& budget, GridRouteQuery& resolved);

// Returns the error of a search with its field renamed to the position if the caller gave that and not a
// cell.
absl::Status BlamePositionField(const absl::Status& status, const GridRouteQuery& query);

}  // namespace waystar::core
