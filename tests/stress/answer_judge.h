// Whether an answer is what a slow, obvious search says of the map.
#pragma once

#include <string>

#include "server/core/grid/map/grid_map.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::stress {

// What is wrong with the answer; empty if nothing. `map` is as it was at the revision that the answer names.
// The agent is that of the query's corner rule, footprint and movement profile, and may go through portals
// within the map. The query has a start and one goal, both cells, and asks for every cell, with
// UNREACHABLE_POLICY_REPORT and no overlay.
std::string FaultOf(const v1::FindPathRequest& request, const v1::FindPathResponse& response,
                    const core::GridMap& map);

}  // namespace waystar::stress
