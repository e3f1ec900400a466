// Applies batches of edits to a map, one after the other, and yields the map that they lead to.
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

// What one batch did to the map that those before it led to.
struct BatchResult {
  // Cells whose obstacle came or went, or whose terrain or cost changed, between before the batch and after
  // it.
  std::int64_t changed_cells = 0;
  // The smallest rectangle around those; empty if there are none.
  Rectangle changed_bounds;
  // Cells of shapes that stuck out of the map; 2^63 - 1 if there are more.
  std::int64_t clipped_cells = 0;
  // Of a waypoint graph, as GraphChanges says; then no cells are counted, and the bounds are around those.
  std::int64_t changed_nodes = 0;
  std::int64_t changed_edges = 0;
};

// Thread safety: one thread at a time; readers of the base are not disturbed.
class BatchEditor {
 public:
  // The base must outlive the editor.
  explicit BatchEditor(const GridMap& base) : base_(base), painter_(base) {}

  // Applies one batch, in order, on top of those before. All or none: after an error the editor is as it was.
  // `now` is what lifetimes begin at. Errors: those of ApplyEdits.
  absl::StatusOr<BatchResult> Apply(absl::Span<const Edit> edits, absl::Time now);

  struct Result {
    GridMap map;
    // From the base to it, all batches together.
    MapChanges changes;
  };

  // The editor is spent.
  Result Finish() &&;

 private:
  // Counts what differs between `before` and now in the cells that were touched.
  void CountChanges(const GridMap& before, BatchResult& result);

  const GridMap& base_;
  EditPainter painter_;
  bool is_changed_ = false;
};

}  // namespace waystar::core
