// Editor for successive batches of edits on a waypoint graph.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/core/edit/edit.h"
#include "server/core/elements/area_collector.h"
#include "server/core/elements/map_changes.h"
#include "server/core/graph/map/waypoint_graph.h"

namespace waystar::core {

// Thread safety: one thread at a time. Concurrent readers of the base are safe.
class GraphBatchEditor {
 public:
  explicit GraphBatchEditor(const WaypointGraph& base) : graph_(base) {}

  // Applies one batch on top of the earlier ones, all or nothing: after an error the editor is unchanged.
  // Lifetimes begin at `now`. Returns the errors of GraphEditor, with fields below the edit
  // ("edits[3].add_nodes.nodes[0].id"); INVALID_ARGUMENT / EMPTY_BATCH or BAD_LIFETIME; FAILED_PRECONDITION /
  // WRONG_MAP_KIND for an edit that graphs do not support.
  absl::StatusOr<ChangeSummary> Apply(absl::Span<const Edit> edits, absl::Time now);

  // Returns the digest of the graph after the batches applied so far.
  std::uint64_t digest() const { return graph_.digest(); }

  // As BatchEditor::changed_areas, around the changed nodes, edges and obstacles, in whole units of the
  // world.
  std::vector<Rectangle> changed_areas() const { return areas_.Areas(); }

  // Returns the changes since the base.
  MapChanges changes() const { return {.graph = places_}; }

  // The editor must not be used afterwards.
  WaypointGraph Finish() && { return std::move(graph_); }

 private:
  WaypointGraph graph_;
  GraphPlaces places_;
  // Changes of the latest batch.
  AreaCollector areas_;
};

}  // namespace waystar::core
