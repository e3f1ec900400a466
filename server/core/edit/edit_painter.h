// Draws edits into the cells of a map.
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

  // Draws all edits of a plan that was made for map().
  void Paint(const EditPlan& plan);

  // Blocks the cells of a valid shape.
  void Block(const Shape& shape) { PaintObstacles(shape, true); }

  // The state so far.
  const GridMap& map() const { return editor_.map(); }
  GridMap Snapshot() { return editor_.Snapshot(); }

  // What was painted since the last call of ForgetTouched; some of it may be as it was.
  SpanSet& touched() { return touched_; }
  // Whether terrains or costs may have changed since then, too.
  bool has_touched_costs() const { return has_touched_costs_; }
  void ForgetTouched() {
    touched_.Clear();
    has_touched_costs_ = false;
  }

  // The painter is spent.
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
  // Where to say anew what steps cost.
  SpanSet stale_costs_;
};

}  // namespace waystar::core
