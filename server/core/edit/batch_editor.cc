#include "server/core/edit/batch_editor.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/base/status_macros.h"
#include "server/core/edit/edit_plan.h"
#include "server/core/shape/shape_raster.h"

namespace waystar::core {
namespace {

// Counts the cells off the map that the edits cover, not those that they uncover.
std::int64_t CountClipped(const EditPlan& plan, const GridMap& map) {
  const Lattice lattice = LatticeOf(map.settings().connectivity);
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  std::int64_t clipped = 0;
  for (const PlannedEdit& edit : plan.edits) {
    const Shape* shape = edit.after != nullptr ? &edit.after->shape : edit.shape;
    const std::int64_t more = shape == nullptr ? 0 : CountOutside(*shape, lattice, map.bounds());
    clipped = more > kMax - clipped ? kMax : clipped + more;
  }
  return clipped;
}

// The cells of a word of which they differ.
Word Differences(const GridMap& a, const GridMap& b, int y, std::size_t index, Word cells, bool costs_too) {
  Word changed = (a.ObstacleWord(y, index) ^ b.ObstacleWord(y, index)) & cells;
  if (costs_too) {
    const WordChange others{y, static_cast<std::int32_t>(index), cells & ~changed};
    ForEachCell(others, [&](Cell cell) {
      if (a.TerrainAt(cell) != b.TerrainAt(cell) || a.StraightCost(cell) != b.StraightCost(cell)) {
        changed |= Word{1} << (static_cast<unsigned>(cell.x + 1) % kWordBits);
      }
    });
  }
  return changed;
}

}  // namespace

absl::StatusOr<BatchResult> BatchEditor::Apply(absl::Span<const Edit> edits, absl::Time now) {
  WAYSTAR_ASSIGN_OR_RETURN(const EditPlan plan, PlanEdits(painter_.map(), edits, now));
  std::optional<GridMap> before;
  if (is_changed_) {
    before = painter_.Snapshot();
  }
  is_changed_ = true;
  painter_.Paint(plan);
  BatchResult result;
  result.clipped_cells = CountClipped(plan, base_);
  CountChanges(before ? *before : base_, result);
  return result;
}

BatchEditor::Result BatchEditor::Finish() && {
  GridMapEditor::Result result = std::move(painter_).Finish();
  return {std::move(result.map), std::move(result.changes)};
}

void BatchEditor::CountChanges(const GridMap& before, BatchResult& result) {
  for (const RowSpan& span : painter_.touched().Sorted()) {
    ForEachWord(span.x_begin, span.x_end, [&](std::size_t i, Word cells) {
      const Word changed =
          Differences(before, painter_.map(), span.y, i, cells, painter_.has_touched_costs());
      if (changed != 0) {
        result.changed_cells += std::popcount(changed);
        const auto first = static_cast<std::int32_t>(i) * kWordBits - 1;
        result.changed_bounds = Extend(result.changed_bounds, {first + std::countr_zero(changed), span.y});
        result.changed_bounds =
            Extend(result.changed_bounds, {first + kWordBits - 1 - std::countl_zero(changed), span.y});
      }
    });
  }
  painter_.ForgetTouched();
}

}  // namespace waystar::core
