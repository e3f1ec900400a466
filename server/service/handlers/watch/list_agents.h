// ListAgents: the agents on a map that clients follow.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "server/service/auth/caller.h"
#include "server/service/handlers/watch/path_watch.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// Fills one page of at most `max_bytes`, unless a single agent takes more. Commits and searches on the map
// wait at most while one path is copied. Returns the errors of the contract.
absl::Status ListFollowedAgents(const PathWatchScheduler& watches, const Caller& caller,
                                std::size_t max_bytes, const v1::ListAgentsRequest& request,
                                v1::ListAgentsResponse& response);

}  // namespace waystar::rpc
