// Applies batches of edits to a map, one after the other, and yields the map that they lead to.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/core/edit/change_summary.h"
#include "server/core/edit/edit.h"
#include "server/core/edit/edit_painter.h"
#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/map_changes.h"

namespace waystar::core {

// Thread safety: one thread at a time; readers of the base are not disturbed.
class BatchEditor {
 public:
  // The base must outlive the editor.
  explicit BatchEditor(const GridMap& base) : base_(base), painter_(base) {}

  // Applies one batch, in order, on top of those before. All or none: after an error the editor is as it was.
  // `now` is what lifetimes begin at. Errors: those of ApplyEdits.
  absl::StatusOr<ChangeSummary> Apply(absl::Span<const Edit> edits, absl::Time now);

  struct Result {
    GridMap map;
    // From the base to it, all batches together.
    MapChanges changes;
  };

  // The editor is spent.
  Result Finish() &&;

 private:
  // Counts what differs between `before` and now in the cells that were touched.
  void CountChanges(const GridMap& before, ChangeSummary& result);

  const GridMap& base_;
  EditPainter painter_;
  bool is_changed_ = false;
};

}  // namespace waystar::core
