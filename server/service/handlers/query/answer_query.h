// The path RPCs: from the request to core::Resolve and core::Solve, and from the route to the response.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/query/resolve.h"
#include "server/core/query/route.h"
#include "server/core/store/map_store.h"
#include "server/service/auth/caller.h"
#include "server/service/call/call_context.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// Returns the errors of CheckLeastVersion if the snapshot is older than a view asks for, and then tells the
// context what to wait for.
absl::Status TakeView(const core::MapSnapshot& snapshot, const v1::View& view, CallContext& context);

// Answers a path query on the latest snapshot of a map of any kind, or on the map that the query brings
// along. Returns the errors of MapStore::Pin or MakeInlineMap, TakeView, ToRouteQuery, core::Resolve,
// core::Solve and WriteAnswer.
absl::Status AnswerFindPath(const core::MapStore& store, std::size_t max_bytes,
                            const v1::FindPathRequest& request, v1::FindPathResponse& response,
                            CallContext& context);

// Answers whether a path can be walked on the map's latest snapshot.
absl::Status AnswerValidation(const core::MapStore& store, const v1::ValidatePathRequest& request,
                              v1::ValidatePathResponse& response, CallContext& context);

// Fills a response with a route, as the context wants it, stamped with the snapshot's revision. Returns
// RESOURCE_EXHAUSTED / RESPONSE_TOO_LARGE if that takes more than `max_bytes`.
absl::Status WriteAnswer(const core::Route& route, const core::MapSnapshot& snapshot, std::size_t max_bytes,
                         v1::FindPathResponse& response, const CallContext& context);

// Returns the maps of the store that portals may lead that call's agents to. One that is not in memory is
// noted in the context.
core::OtherMaps MapsFor(const core::MapStore& store, CallContext& context);

// Returns INVALID_ARGUMENT / BAD_VALUE with field "inline_map" for a query that brings a map along, where the
// request that holds it names the map.
absl::Status CheckNamesMap(const v1::FindPathRequest& query);

// Returns the error with its field, if it has one, below "query.", for requests that hold a query there.
absl::Status BelowQuery(const absl::Status& status);

}  // namespace waystar::rpc
