// Solve: answers a resolved query. The second of the two steps of every path query.
#pragma once

#include <chrono>
#include <cstddef>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/graph/search/graph_search.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/core/query/find_paths.h"
#include "server/core/query/query_scratch.h"
#include "server/core/query/resolve.h"
#include "server/core/query/route.h"
#include "server/core/search/query.h"
#include "server/core/search/recorder.h"

namespace waystar::core {

// Only the part for the map's kind is filled. Each keeps up to `max_events` events.
struct SearchRecorder {
  explicit SearchRecorder(std::size_t max_events)
      : cells(max_events), nodes(max_events), intervals(max_events) {}

  std::size_t event_count() const {
    return cells.events().size() + nodes.events().size() + intervals.events().size();
  }
  bool is_truncated() const {
    return cells.is_truncated() || nodes.is_truncated() || intervals.is_truncated();
  }

  EventRecorder cells;
  NodeRecorder nodes;
  IntervalRecorder intervals;
};

// Searches for the route on a map of any kind, to one or several goals, with or without portals, and adds the
// optional results. A non-null recorder receives the events of the search and their maps; only for queries
// with a single goal.
//
// The limit of expansions is the lower of the query's and the budget's. Errors of the search have the field
// of the query.
//
// Thread safety: may be called concurrently for queries that share no agent. `scratch` belongs to the calling
// thread.
absl::StatusOr<Route> Solve(const ResolvedRoute& resolved, const Budget& budget, QueryScratch& scratch,
                            SearchRecorder* recorder = nullptr);

// Receives each answer once. The route's path is valid only during the call. An error ends the whole batch.
using RouteSink = absl::FunctionRef<absl::Status(std::size_t index, const absl::StatusOr<Route>& route)>;

// Solves many queries on one snapshot, each as Solve does, in any order; skips null entries. Grid queries
// that share the agent and involve no portals are solved together (FindPaths), by the crew or, if that is
// null, on the calling thread. The others are solved one by one on the calling thread.
//
// Returns the errors of StatusOfEnd and of the sink; other errors are answers.
absl::Status SolveMany(absl::Span<const ResolvedRoute* const> queries, const SharedAgent& shared,
                       const Budget& budget, QueryScratch& scratch, PathCrew* crew, RouteSink sink);

// Returns true if the error of one query ends the whole batch: deadline, cancellation or eviction.
bool EndsAll(const absl::Status& status);

}  // namespace waystar::core
