// ListNodes: the nodes of a waypoint graph, a page at a time.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "server/core/store/map_store.h"
#include "waystar/v1/map_service.pb.h"

namespace waystar::rpc {

// A page of the nodes of a waypoint graph, of at most `max_bytes`.
absl::Status ListWaypointNodes(const core::MapStore& store, std::size_t max_bytes,
                               const v1::ListNodesRequest& request, v1::ListNodesResponse& response);

}  // namespace waystar::rpc
