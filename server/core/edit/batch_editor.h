// Editor that applies batches of edits to a grid map in turn.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/core/edit/edit.h"
#include "server/core/edit/edit_painter.h"
#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/map_changes.h"

namespace waystar::core {

// What one batch changed, compared with the map that the batches before it led to.
struct BatchResult {
  // Cells whose obstacle came or went, or whose terrain or cost changed, over the whole batch.
  std::int64_t changed_cells = 0;
  // The smallest rectangle around those cells; empty if there are none.
  Rectangle changed_bounds;
  // The number of cells of shapes that stuck out of the map; 2^63 - 1 if there are more.
  std::int64_t clipped_cells = 0;
  // Counts for a waypoint graph, as in GraphChanges. Then no cells are counted; the bounds are around these.
  std::int64_t changed_nodes = 0;
  std::int64_t changed_edges = 0;
};

// Thread safety: one thread at a time; readers of the base are not disturbed.
class BatchEditor {
 public:
  // The base must outlive the editor.
  explicit BatchEditor(const GridMap& base) : base_(base), painter_(base) {}

  // Applies one batch on top of those before, all or nothing: after an error the editor is as it was. `now`
  // is when lifetimes begin. Returns the errors of PlanEdits.
  absl::StatusOr<BatchResult> Apply(absl::Span<const Edit> edits, absl::Time now);

  struct Result {
    GridMap map;
    // The changes from the base to the map, by all batches together.
    MapChanges changes;
  };

  // The editor must not be used afterwards.
  Result Finish() &&;

 private:
  // Counts what differs between `before` and now in the cells that were touched.
  void CountChanges(const GridMap& before, BatchResult& result);

  const GridMap& base_;
  EditPainter painter_;
  bool is_changed_ = false;
};

}  // namespace waystar::core
