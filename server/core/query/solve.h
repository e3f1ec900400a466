// Solve, which answers a resolved query: the second of the two steps of every path query.
#pragma once

#include <chrono>
#include <cstddef>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/query/find_paths.h"
#include "server/core/query/query_scratch.h"
#include "server/core/query/resolve.h"
#include "server/core/query/route.h"
#include "server/core/query/search_recorder.h"
#include "server/core/search/query.h"

namespace waystar::core {

// Searches for the route, on any kind of map, to one goal or several, through portals or not, and adds what
// the query asked for besides. A recorder, unless it is null, receives each step of the search and the map of
// the step; it is for a single goal alone.
//
// The lesser of the expansions that the query and the budget allow is the limit.
//
// Returns the errors of FindPathThroughPortals, FindPathToNearest or FindGraphPath, with the field of the
// query that the caller filled.
//
// Thread safety: any thread may call it for queries that share no agent; `scratch` belongs to the caller's
// thread.
absl::StatusOr<Route> Solve(const ResolvedRoute& resolved, const Budget& budget, QueryScratch& scratch,
                            SearchRecorder* recorder = nullptr);

// Receives each answer once. The route's path is gone when it returns. An error ends everything.
using RouteSink = absl::FunctionRef<absl::Status(std::size_t index, const absl::StatusOr<Route>& route)>;

// Solves many queries on one snapshot, in any order, each as Solve does, and skips those that are null.
// Queries on a grid that share an agent and meet no portals are solved together, by the crew, or without one
// on the calling thread: see FindPaths. The others are solved there one after the other.
//
// Returns the errors of StatusOfEnd and of the sink; all others are answers.
absl::Status SolveMany(absl::Span<const ResolvedRoute* const> queries, const SharedAgent& shared,
                       const Budget& budget, QueryScratch& scratch, PathCrew* crew, RouteSink sink);

// Returns whether an error of one of many queries ends all: a deadline, a cancellation or an eviction.
bool EndsAll(const absl::Status& status);

}  // namespace waystar::core
