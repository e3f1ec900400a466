// Editor that applies batches of edits to a grid map in turn.
#pragma once

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/base/memory_account.h"
#include "server/base/stop_check.h"
#include "server/core/edit/edit.h"
#include "server/core/edit/edit_plan.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/grid_map_editor.h"
#include "server/core/shape/span_set.h"

namespace waystar::core {

// Thread safety: one thread at a time; readers of the base are not disturbed.
class BatchEditor {
 public:
  // The base must outlive the editor.
  explicit BatchEditor(const GridMap& base) : base_(base), editor_(base) {}

  // Applies one batch on top of those before, all or nothing: after an error the editor is as it was. `now`
  // is when lifetimes begin. Returns the errors of PlanEdits, and MAPS_MEMORY_FULL if the map's account has
  // no room for what the batch may clone; batches that only remove always go through.
  // Returns the error of `stop`, which is asked before each edit is painted, too: the editor must not be used
  // then.
  absl::StatusOr<ChangeSummary> Apply(absl::Span<const Edit> edits, absl::Time now,
                                      const StopCheck* stop = nullptr);

  // Paints all edits of a plan that was made for the map with the batches so far, and counts nothing. Returns
  // the error of `stop`, as Apply does.
  absl::Status Paint(const EditPlan& plan, const StopCheck* stop = nullptr);

  // Returns the digest of the map with the batches so far.
  std::uint64_t digest() const { return map().digest(); }

  // The map, and the changes from the base to it by all batches together.
  using Result = GridMapEditor::Result;
  // The editor must not be used afterwards, but is to be kept until the result is found by its account's
  // measurements.
  Result Finish() && {
    memory_.Keep();
    return std::move(editor_).FinishAndList();
  }

 private:
  const GridMap& map() const { return editor_.map(); }
  absl::Status Reserve(const EditPlan& plan);
  template <typename Visitor>
  void ForEachSpanOnBoard(const Shape& shape, Visitor visit);
  void PaintObstacles(const Shape& shape, bool obstacle);
  void PaintTerrain(const Shape& shape, TerrainId terrain);
  void Replace(const Obstacle* before, const Obstacle* after);
  // Counts what differs between `before` and now in the cells that were touched, and forgets those.
  void CountChanges(const GridMap& before, ChangeSummary& result);

  const GridMap& base_;
  GridMapEditor editor_;
  // What the batches may have cloned, until the account's measurements find it.
  MemoryAccount::Reservation memory_;
  bool is_changed_ = false;
  // The cells that the batch has painted, some of which may be as they were.
  SpanSet touched_;
  // True if terrains or costs may have changed, too.
  bool has_touched_costs_ = false;
  // The cells whose step costs must be computed anew.
  SpanSet stale_costs_;
};

// The map that a batch leads to, and what the batch did.
struct EditResult {
  GridMap map;
  ChangeSummary summary;
};

// Applies one batch to a map. Returns the errors of PlanEdits and of `stop`. `now` is when lifetimes begin.
absl::StatusOr<EditResult> ApplyEdits(const GridMap& map, absl::Span<const Edit> edits,
                                      absl::Time now = absl::UnixEpoch(), const StopCheck* stop = nullptr);

}  // namespace waystar::core
