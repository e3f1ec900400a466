// From a path query on a waypoint graph to its answer.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "server/core/store/map_snapshot.h"
#include "server/rpc/call/call_context.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// Checks the request, searches the snapshot, and fills the response. RESOURCE_EXHAUSTED / RESPONSE_TOO_LARGE
// if that takes more than `max_bytes`. REQUIRES: it is a waypoint graph.
absl::Status AnswerGraphQuery(const core::MapSnapshot& snapshot, std::size_t max_bytes,
                              const v1::FindPathRequest& request, v1::FindPathResponse& response,
                              CallContext& context);

}  // namespace waystar::rpc
