// Where on a map a query begins and ends.
#pragma once

#include "absl/status/status.h"
#include "server/core/map/grid_map.h"
#include "server/core/search/query.h"
#include "server/rpc/movement.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// Gives the query, which ToPathQuery made of the request, the cells that hold the request's positions, and
// those that a start or goal where the agent cannot be snaps to. OUT_OF_RANGE / OFF_MAP with field
// "start_position" or "goal_position".
// `goal_map` is what the agent sees of the map that the goal lies on; null if there is no such map, which is
// for the search to say.
absl::Status PlaceEnds(const v1::FindPathRequest& request, const Movement& movement,
                       const core::GridMap* goal_map, core::PathQuery& query);

// An error of a search that was asked for by positions: the same, its field, if it is a cell that the request
// did not give, the position.
absl::Status OfPositions(const absl::Status& status, const v1::FindPathRequest& request);

}  // namespace waystar::rpc
