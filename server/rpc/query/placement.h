// Where on a map a query begins and ends.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/search/query.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// Gives the query, which ToPathQuery made of the request, and which has the agent's footprint by now, the
// cells that hold the request's positions, and those that a start or goal where the agent cannot be snaps to.
// Returns the goals, if the request has several.
//
// `map` is what the agent sees of the map that it starts on, `goal_map` of the one that the goal lies on;
// null if there is no such map, which is for the search to say.
//
// Errors: OUT_OF_RANGE / OFF_MAP with field "start_position", "goal_position" or "goal_positions[i]"; with
// several goals those of core::CheckNearestQuery; and what ends searches early, since snaps take time.
absl::StatusOr<std::vector<core::Cell>> PlaceEnds(const v1::FindPathRequest& request,
                                                  const core::GridMap& map, const core::GridMap* goal_map,
                                                  const core::Budget& budget, core::PathQuery& query);

// An error of a search that was asked for by positions: the same, its field, if it is a cell that the request
// did not give, the position.
absl::Status OfPositions(const absl::Status& status, const v1::FindPathRequest& request);

}  // namespace waystar::rpc
