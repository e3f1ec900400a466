// Paints edits into the cells of a map.
#pragma once

#include <utility>

#include "server/core/edit/edit_plan.h"
#include "server/core/grid/lattice.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/grid_map_editor.h"
#include "server/core/map/obstacle_table.h"
#include "server/core/shape/span_set.h"

namespace waystar::core {

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

}  // namespace waystar::core
