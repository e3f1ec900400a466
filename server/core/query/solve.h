// Solve: answers a resolved query. The second of the two steps of every path query.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/graph/search/graph_flood.h"
#include "server/core/graph/search/graph_search.h"
#include "server/core/grid/field/jump_graph.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/core/mesh/search/mesh_scratch.h"
#include "server/core/query/find_paths.h"
#include "server/core/query/resolve.h"
#include "server/core/query/route.h"
#include "server/core/search/query.h"
#include "server/core/search/recorder.h"

namespace waystar::core {

// Working memory of a thread that solves queries, kept between queries so that a search need not allocate.
//
// Thread safety: none.
struct QueryScratch {
  // Trim never frees a scratch of at most this size.
  static constexpr std::size_t kSmallBytes = std::size_t{2} << 20;

  // `bytes` limits the memory of each kind of search.
  explicit QueryScratch(std::size_t bytes)
      : max_bytes(bytes), scratch(bytes), graph_scratch(bytes), mesh_scratch(bytes) {}

  // Resets the scratch and frees all memory. Required after std::bad_alloc, which may leave a scratch
  // unusable.
  void Renew() {
    const std::size_t bytes = max_bytes;
    std::destroy_at(this);
    std::construct_at(this, bytes);
  }

  std::size_t kept_bytes() const {
    return scratch.kept_bytes() + field_scratch.memory_bytes() + graph_scratch.memory_bytes() +
           mesh_scratch.memory_bytes();
  }

  // Frees memory far beyond what grid searches needed since the last call, or all memory above kSmallBytes if
  // there were no queries; also unpins maps. Call it periodically, but never while the result of a query is
  // in use.
  void Trim(bool had_queries) {
    if (!had_queries) {
      if (kept_bytes() > kSmallBytes) {
        Renew();
      }
    } else if (scratch.OutgrewNeed(kSmallBytes)) {
      std::destroy_at(&scratch);
      std::construct_at(&scratch, max_bytes);
    }
    scratch.portals().Clear();
  }

  const std::size_t max_bytes;

  Scratch scratch;
  FieldScratch field_scratch;
  GraphScratch graph_scratch;
  MeshScratch mesh_scratch;
};

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

// Solves many queries of one agent on one snapshot, each as Solve does, in any order; skips null entries.
// Queries on grids and meshes that involve no portals are solved together (FindPaths, FindMeshPaths): those
// on grids by the crew, unless that is null. All others run on the calling thread.
//
// Returns the errors of StatusOfEnd and of the sink; other errors are answers.
// REQUIRES: ResolveFor has resolved the queries with `shared`.
absl::Status SolveMany(absl::Span<const ResolvedRoute* const> queries, const SharedAgent& shared,
                       const Budget& budget, QueryScratch& scratch, PathCrew* crew, RouteSink sink);

// Returns true if the error of one query ends the whole batch: deadline, cancellation or eviction.
bool EndsAll(const absl::Status& status);

}  // namespace waystar::core
