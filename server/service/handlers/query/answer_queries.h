// Handler of FindPaths.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "server/core/store/map_store.h"
#include "server/service/call/call_context.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// Maximum number of queries per request.
inline constexpr std::size_t kMaxQueries = 10'000;

// Answers all queries on the map's latest snapshot. An error of a query becomes its result. Returns errors of
// the request as a whole, and RESOURCE_EXHAUSTED / TOO_MANY_ITEMS or RESPONSE_TOO_LARGE with "queries".
absl::Status AnswerQueries(const core::MapStore& store, std::size_t max_bytes,
                           const v1::FindPathsRequest& request, v1::FindPathsResponse& response,
                           CallContext& context);

}  // namespace waystar::rpc
