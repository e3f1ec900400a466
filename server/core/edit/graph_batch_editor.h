// Editor that applies batches of edits to a waypoint graph in turn.
#pragma once

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/core/edit/edit.h"
#include "server/core/graph/waypoint_graph.h"
#include "server/core/map/map_changes.h"

namespace waystar::core {

// Thread safety: one thread at a time; readers of the base are not disturbed.
class GraphBatchEditor {
 public:
  explicit GraphBatchEditor(const WaypointGraph& base) : graph_(base) {}

  // Applies one batch on top of those before, all or nothing: after an error the editor is as it was. `now`
  // is when lifetimes begin. Returns the errors of GraphEditor, with fields below the edit
  // ("edits[3].put_nodes.nodes[0].id"); INVALID_ARGUMENT / EMPTY_BATCH or BAD_LIFETIME; FAILED_PRECONDITION /
  // WRONG_MAP_KIND for an edit of the cells of a grid.
  absl::StatusOr<ChangeSummary> Apply(absl::Span<const Edit> edits, absl::Time now);

  // Returns the digest of the graph with the batches so far.
  std::uint64_t digest() const { return graph_.digest(); }

  // Returns what the batches so far changed.
  const GraphPlaces& places() const { return places_; }

  // The editor must not be used afterwards.
  WaypointGraph Finish() && { return std::move(graph_); }

 private:
  WaypointGraph graph_;
  GraphPlaces places_;
};

}  // namespace waystar::core
