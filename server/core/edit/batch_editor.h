// Editor that applies batches of edits to a grid map in turn.
#pragma once

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/core/edit/change_summary.h"
#include "server/core/edit/edit.h"
#include "server/core/edit/edit_plan.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/lattice.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/grid_map_editor.h"
#include "server/core/map/map_changes.h"
#include "server/core/map/obstacle_table.h"
#include "server/core/shape/span_set.h"

namespace waystar::core {

// Paints edits into the cells of a map.
//
// Thread safety: one thread at a time.
class EditPainter {
 public:
  // The base must outlive the painter.
  explicit EditPainter(const GridMap& base) : editor_(base) {}

  // Paints all edits of a plan that was made for map().
  void Paint(const EditPlan& plan);

  // Blocks the cells of a valid shape.
  void Block(const Shape& shape) { PaintObstacles(shape, true); }

  // Returns the state so far.
  const GridMap& map() const { return editor_.map(); }
  GridMap Snapshot() { return editor_.Snapshot(); }

  // Returns the cells painted since the last call of ForgetTouched; some of them may be as they were.
  SpanSet& touched() { return touched_; }
  // Returns whether terrains or costs may have changed since then, too.
  bool has_touched_costs() const { return has_touched_costs_; }
  void ForgetTouched() {
    touched_.Clear();
    has_touched_costs_ = false;
  }

  // The painter must not be used afterwards.
  GridMapEditor::Result Finish() && { return std::move(editor_).FinishAndList(); }

 private:
  Lattice lattice() const;
  template <typename Visitor>
  void ForEachSpanOnBoard(const Shape& shape, Visitor visit);
  void PaintObstacles(const Shape& shape, bool obstacle);
  void PaintTerrain(const Shape& shape, TerrainId terrain);
  void Replace(const Obstacle* before, const Obstacle* after);
  void UpdateCover(const Obstacle* before, const Obstacle* after);

  GridMapEditor editor_;
  SpanSet touched_;
  bool has_touched_costs_ = false;
  // The cells whose step costs must be computed anew.
  SpanSet stale_costs_;
};

// Thread safety: one thread at a time; readers of the base are not disturbed.
class BatchEditor {
 public:
  // The base must outlive the editor.
  explicit BatchEditor(const GridMap& base) : base_(base), painter_(base) {}

  // Applies one batch on top of those before, all or nothing: after an error the editor is as it was. `now`
  // is when lifetimes begin. Returns the errors of PlanEdits.
  absl::StatusOr<ChangeSummary> Apply(absl::Span<const Edit> edits, absl::Time now);

  struct Result {
    GridMap map;
    // The changes from the base to the map, by all batches together.
    MapChanges changes;
  };

  // The editor must not be used afterwards.
  Result Finish() &&;

 private:
  // Counts what differs between `before` and now in the cells that were touched.
  void CountChanges(const GridMap& before, ChangeSummary& result);

  const GridMap& base_;
  EditPainter painter_;
  bool is_changed_ = false;
};

}  // namespace waystar::core
