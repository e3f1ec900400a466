// Path RPCs: from the request through core::Resolve and core::Solve to the response.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/memory_account.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/query/resolve.h"
#include "server/core/query/route.h"
#include "server/core/search/query.h"
#include "server/core/store/map_store.h"
#include "server/service/auth/caller.h"
#include "server/service/call/call_context.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// If the snapshot is older than the view's least version, sets the context's awaited version and returns the
// errors of CheckLeastVersion.
absl::Status TakeView(const core::MapSnapshot& snapshot, const v1::View& view, CallContext& context);

// Answers a path query on the latest snapshot of a map of any kind, or on the query's inline map. Returns the
// errors of MapStore::Pin or MakeInlineMap, TakeView, ToRouteQuery, core::Resolve, core::Solve and
// WriteAnswer.
absl::Status AnswerFindPath(const core::MapStore& store, std::size_t max_bytes,
                            const v1::FindPathRequest& request, v1::FindPathResponse& response,
                            CallContext& context);

// Fills a response with the route of a query, in the form that the context wants, with the snapshot's
// version. Returns RESOURCE_EXHAUSTED / RESPONSE_TOO_LARGE if it exceeds `max_bytes`.
absl::Status WriteAnswer(const core::Route& route, const core::MapSnapshot& snapshot, std::size_t max_bytes,
                         const v1::FindPathRequest& query, v1::FindPathResponse& response,
                         const CallContext& context);

// Returns the maps of the store that portals may lead the call's agents to. A map that is not in memory is
// recorded in the context.
core::OtherMaps MapsFor(const core::MapStore& store, CallContext& context);

// Returns INVALID_ARGUMENT / BAD_VALUE with field "inline_map" for a query with an inline map within a
// request that names the map.
absl::Status CheckNamesMap(const v1::FindPathRequest& query);

// Prefixes the error's field, if any, with "query.", for requests that hold a query there.
absl::Status BelowQuery(const absl::Status& status);

// Maximum number of queries per request.
inline constexpr std::size_t kMaxQueries = 10'000;

// Answers all queries on the map's latest snapshot. An error of a query becomes its result. Returns errors of
// the request as a whole, and RESOURCE_EXHAUSTED / TOO_MANY_ITEMS or RESPONSE_TOO_LARGE with "queries".
absl::Status AnswerQueries(const core::MapStore& store, std::size_t max_bytes,
                           const v1::FindPathsRequest& request, v1::FindPathsResponse& response,
                           CallContext& context);

// Limits on the maps within queries.
inline constexpr std::size_t kMaxInlineCells = 65'536;
inline constexpr std::size_t kMaxInlineNodes = 4'096;
inline constexpr std::size_t kMaxInlineEdges = 65'536;
inline constexpr std::size_t kMaxInlineObstacles = 256;

// A map that lives as long as its query.
struct InlineSnapshot {
  // Has no id, epoch or revision.
  core::MapSnapshot snapshot;
  MemoryAccount::Reservation memory;
};

// Makes the map. Returns the errors of CreateMap, with the field under "inline_map."; INVALID_ARGUMENT /
// BAD_SOURCE with "inline_map" unless it has exactly one source; INVALID_ARGUMENT / BAD_SIZE or
// RESOURCE_EXHAUSTED / TOO_MANY_NODES, TOO_MANY_EDGES or TOO_MANY_OBSTACLES for a map that is too large;
// RESOURCE_EXHAUSTED / MAPS_MEMORY_FULL with "inline_map"; and the errors of BeginUpkeep, as it is never made
// on threads without upkeep.
absl::StatusOr<std::unique_ptr<InlineSnapshot>> MakeInlineMap(const v1::InlineMap& map,
                                                              MemoryAccount& account,
                                                              const core::Budget& budget);

}  // namespace waystar::rpc
