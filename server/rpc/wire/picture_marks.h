// What a query and its answer add to the picture of a map.
#pragma once

#include <string>

#include "server/core/graph/waypoint_graph.h"
#include "server/core/render/graph_scene.h"
#include "server/core/render/query_marks.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// By cells of the plane. `map` is the id of the map that is drawn, on which the query is.
core::QueryMarks ToQueryMarks(const std::string& map, const v1::FindPathRequest& query,
                              const v1::FindPathResponse& answer);
core::GraphQueryMarks ToGraphQueryMarks(const core::WaypointGraph& graph, const v1::FindPathRequest& query,
                                        const v1::FindPathResponse& answer);

// Such as "path found, cost 19.8; 39 cells expanded by A*".
std::string CaptionOf(const v1::FindPathResponse& answer);

}  // namespace waystar::rpc
