// Lists the named obstacles of a map.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "server/core/store/map_store.h"
#include "waystar/v1/map_service.pb.h"

namespace waystar::rpc {

// One page, in the order of ids, that takes at most `max_bytes` unless one obstacle alone takes more; a page
// token is the last id of the page before. Errors as the contract says.
absl::Status ListNamedObstacles(const core::MapStore& store, std::size_t max_bytes,
                                const v1::ListObstaclesRequest& request, v1::ListObstaclesResponse& response);

}  // namespace waystar::rpc
