// From a path query to its answer, whichever RPC asked.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/map/grid_map.h"
#include "server/core/portal/portal_search.h"
#include "server/core/search/query.h"
#include "server/core/search/recorder.h"
#include "server/core/search/scratch.h"
#include "server/core/store/map_snapshot.h"
#include "server/core/store/map_store.h"
#include "server/rpc/access/caller.h"
#include "server/rpc/call/call_context.h"
#include "server/rpc/call/written_message.h"
#include "server/rpc/query/movement.h"
#include "server/rpc/query/world_view.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// core::FindPathThroughPortals by core::FindPath, or what stands in for it.
using PathSearch = absl::FunctionRef<absl::StatusOr<core::PortalPath>(
    const core::GridMap& map, core::World& world, const core::PortalQuery& query, const core::Budget& budget,
    core::Scratch& scratch)>;

absl::StatusOr<core::PortalPath> FindAnyPath(const core::GridMap& map, core::World& world,
                                             const core::PortalQuery& query, const core::Budget& budget,
                                             core::Scratch& scratch);

// The same, with what the search did on the map itself, not on others, written down.
absl::StatusOr<core::PortalPath> TraceAnyPath(const core::GridMap& map, core::World& world,
                                              const core::PortalQuery& query, const core::Budget& budget,
                                              core::Scratch& scratch, core::EventRecorder& recorder);

// Checks the request, searches the map's latest snapshot, of whatever kind it is, and fills the response.
// RESOURCE_EXHAUSTED / RESPONSE_TOO_LARGE if that takes more than `max_bytes`.
absl::Status AnswerFindPath(const core::MapStore& store, std::size_t max_bytes,
                            const v1::FindPathRequest& request, v1::FindPathResponse& response,
                            CallContext& context);

// The same on a grid alone, by that search; any other map is WRONG_MAP_KIND, here and below.
absl::Status AnswerQuery(const core::MapStore& store, PathSearch search, std::size_t max_bytes,
                         const v1::FindPathRequest& request, v1::FindPathResponse& response,
                         CallContext& context);

// The same on a snapshot that is at hand, for a request that ToPathQuery made `asked` of.
absl::Status AnswerOn(const core::MapStore& store, const core::MapSnapshot& snapshot, PathSearch search,
                      std::size_t max_bytes, const v1::FindPathRequest& request, const core::PathQuery& asked,
                      v1::FindPathResponse& response, CallContext& context);

// The same for an agent that moves as `movement` says, but for the corner rule and the footprint, which are
// those of `asked`. `world` is what it sees beyond the snapshot.
absl::Status AnswerAs(const core::MapSnapshot& snapshot, const Movement& movement, WorldView& world,
                      PathSearch search, std::size_t max_bytes, const v1::FindPathRequest& request,
                      const core::PathQuery& asked, v1::FindPathResponse& response, CallContext& context);

// Fills in what was found for a query, but for the revision and the times that it took; points and
// positions go to `written` instead, if it is not null, which stands for the response. `query` is what was
// searched for, on `map`.
void FillAnswer(const core::GridMap& map, WorldView& world, const v1::FindPathRequest& request,
                const core::PathQuery& query, const core::PortalPath& found, v1::FindPathResponse& response,
                WrittenMessage* written);

// The rest of it. Returns what the whole response takes, and nothing more is to be changed in it.
std::size_t FinishAnswer(std::uint64_t revision, std::chrono::nanoseconds queued,
                         std::chrono::nanoseconds searching, v1::FindPathResponse& response,
                         WrittenMessage* written);

// For a request that holds the query in its field "query": the same error, its field, if it has one, below
// that.
absl::Status BelowQuery(const absl::Status& status);

// Whether the path can be walked on the map's latest snapshot.
absl::Status AnswerValidation(const core::MapStore& store, const Caller& caller,
                              const v1::ValidatePathRequest& request, v1::ValidatePathResponse& response);

}  // namespace waystar::rpc
