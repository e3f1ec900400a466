// From a path query to its answer, whichever RPC asked.
#pragma once

#include <cstddef>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/map/grid_map.h"
#include "server/core/search/query.h"
#include "server/core/search/scratch.h"
#include "server/core/store/map_snapshot.h"
#include "server/core/store/map_store.h"
#include "server/rpc/call_context.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// core::FindPath, or what stands in for it.
using PathSearch =
    absl::FunctionRef<absl::StatusOr<core::PathResult>(const core::GridMap& map, const core::PathQuery& query,
                                                       const core::Budget& budget, core::Scratch& scratch)>;

// What FindPath answers, on a map of any kind.
absl::Status AnswerFindPath(const core::MapStore& store, std::size_t max_bytes,
                            const v1::FindPathRequest& request, v1::FindPathResponse& response,
                            CallContext& context);

// On a grid; any other map is WRONG_MAP_KIND, here and below.
// Checks the request, searches the map's latest snapshot, and fills the response. RESOURCE_EXHAUSTED /
// RESPONSE_TOO_LARGE if that takes more than `max_bytes`.
absl::Status AnswerQuery(const core::MapStore& store, PathSearch search, std::size_t max_bytes,
                         const v1::FindPathRequest& request, v1::FindPathResponse& response,
                         CallContext& context);

// The same on a snapshot that is at hand, for a request that ToPathQuery made `query` of.
absl::Status AnswerOn(const core::MapSnapshot& snapshot, PathSearch search, std::size_t max_bytes,
                      const v1::FindPathRequest& request, const core::PathQuery& query,
                      v1::FindPathResponse& response, CallContext& context);

// For a request that holds the query in its field "query": the same error, its field, if it has one, below
// that.
absl::Status BelowQuery(const absl::Status& status);

// Whether the path can be walked on the map's latest snapshot.
absl::Status AnswerValidation(const core::MapStore& store, const v1::ValidatePathRequest& request,
                              v1::ValidatePathResponse& response);

}  // namespace waystar::rpc
