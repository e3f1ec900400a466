// From a resolved query to its answer: the second of the two steps that every path query takes.
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
#include "server/core/search/query.h"
#include "server/core/search/recorder.h"

namespace waystar::core {

// Searches for the route, on whatever kind of map, to one goal or several, through portals or not, and tells
// what the query wished to know beside it. A recorder, unless it is null, is told of each step of the search
// and of the map that it was made on; it is for grids and a single goal alone.
//
// Of the expansions that the query and the budget allow, the fewer count.
//
// Errors: those of FindPathThroughPortals, FindPathToNearest or FindGraphPath, with the field of the query
// that the caller filled; FAILED_PRECONDITION / WRONG_MAP_KIND with field "map" for a recorder on a graph.
//
// Thread safety: any, for queries that share no agent; `scratch` belongs to the caller's thread.
absl::StatusOr<Route> Solve(const ResolvedRoute& resolved, const Budget& budget, QueryScratch& scratch,
                            EventRecorder* recorder = nullptr);

// Is told of each answer once. The route's path is gone when it returns. An error ends everything.
using RouteSink = absl::FunctionRef<absl::Status(std::size_t index, const absl::StatusOr<Route>& route)>;

// Solves many queries on one snapshot, in any order, each as Solve does; null among them are passed over.
// Queries that share an agent and meet no portals are solved together, by the crew, or without one on the
// calling thread: see FindPaths. The others are solved there one after the other.
//
// Errors: what ends searches early, and the sink's; all others are answers.
absl::Status SolveMany(absl::Span<const ResolvedRoute* const> queries, const ResolvedAgent& shared,
                       const Budget& budget, QueryScratch& scratch, PathCrew* crew, RouteSink sink);

// Whether what ended the work on one of many queries ends that on all: a deadline, a cancellation, or a
// snapshot that has to be let go of.
bool EndsAll(const absl::Status& status);

}  // namespace waystar::core
