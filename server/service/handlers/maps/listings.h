// Listings of maps, and of the named obstacles, portals and nodes of a map, in pages.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "server/core/store/map_store.h"
#include "server/service/auth/caller.h"
#include "waystar/v1/map_service.pb.h"

namespace waystar::rpc {

// Each function fills one page of at most `max_bytes`, unless a single item takes more. A page token is the
// last id of the previous page; for nodes, the number of the next node. Returns the errors of the contract.

// Lists the maps that the caller may read, in the order of their ids.
absl::Status ListReadableMaps(const core::MapStore& store, const Caller& caller, std::size_t max_bytes,
                              const v1::ListMapsRequest& request, v1::ListMapsResponse& response);

// Lists obstacles in the order of their ids.
absl::Status ListNamedObstacles(const core::MapStore& store, std::size_t max_bytes,
                                const v1::ListObstaclesRequest& request, v1::ListObstaclesResponse& response);

// Lists portals in the order of their ids.
absl::Status ListMapPortals(const core::MapStore& store, std::size_t max_bytes,
                            const v1::ListPortalsRequest& request, v1::ListPortalsResponse& response);

// Lists nodes in the order of their numbers, or those whose ids the request names, in its order.
absl::Status ListWaypointNodes(const core::MapStore& store, std::size_t max_bytes,
                               const v1::ListNodesRequest& request, v1::ListNodesResponse& response);

}  // namespace waystar::rpc
