#include "server/core/edit/batch_editor.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/base/status_macros.h"
#include "server/core/edit/edit_memory.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/grid/cells/world_frame.h"
#include "server/core/grid/shapes/shape_raster.h"

namespace waystar::core {
namespace {

bool Blocks(const Obstacle* obstacle) {
  return obstacle != nullptr && obstacle->effect.kind == ObstacleEffect::Kind::kBlock;
}

bool TakesAway(const PlannedEdit& edit) {
  return edit.kind == PlannedEdit::Kind::kReplace && edit.after == nullptr;
}

// Clips a span to the board of a hexagonal map.
RowSpan OnBoard(const GridMap& map, RowSpan span) {
  const std::optional<HexBoard>& board = map.settings().frame.hexagons;
  if (board && HasOffsets(board->layout)) {
    const HexBoard::Span row = board->InRow(span.y);
    span.x_begin = std::max(span.x_begin, row.begin);
    span.x_end = std::max(span.x_begin, std::min(span.x_end, row.end));
  }
  return span;
}

// Counts the cells of a shape that lie off the map, once per part that covers them, up to 2^63 - 1.
std::int64_t CountOffMap(const Shape& shape, const GridMap& map) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  std::int64_t off_board = 0;
  if (const auto& board = map.settings().frame.hexagons; board && HasOffsets(board->layout)) {
    ForEachSpan(shape, map.lattice(), map.bounds(), [&](const RowSpan& span) {
      const RowSpan on_board = OnBoard(map, span);
      off_board += (span.x_end - span.x_begin) - (on_board.x_end - on_board.x_begin);
    });
  }
  const std::int64_t off_plane = CountOutside(shape, map.lattice(), map.bounds());
  return off_plane > kMax - off_board ? kMax : off_plane + off_board;
}

// Counts cells that the edits cover, not those that they uncover.
std::int64_t CountClipped(const EditPlan& plan, const GridMap& map) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  std::int64_t clipped = 0;
  for (const PlannedEdit& edit : plan.edits) {
    const Shape* shape = edit.after != nullptr ? &edit.after->shape : edit.shape;
    const std::int64_t more = shape == nullptr ? 0 : CountOffMap(*shape, map);
    clipped = more > kMax - clipped ? kMax : clipped + more;
  }
  return clipped;
}

// Returns the cells of a word in which the maps differ.
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

absl::Status BatchEditor::Paint(const EditPlan& plan, const StopCheck* stop) {
  for (const PlannedEdit& edit : plan.edits) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    switch (edit.kind) {
      case PlannedEdit::Kind::kBlock:
      case PlannedEdit::Kind::kUnblock:
        PaintObstacles(*edit.shape, edit.kind == PlannedEdit::Kind::kBlock);
        break;
      case PlannedEdit::Kind::kSetTerrain:
        PaintTerrain(*edit.shape, edit.terrain);
        break;
      case PlannedEdit::Kind::kReplace:
        Replace(edit.before.get(), edit.after.get());
        break;
    }
  }
  if (plan.obstacles != nullptr) {
    editor_.SetObstacleTable(plan.obstacles);
  }
  if (plan.portals != nullptr) {
    editor_.SetPortalTable(plan.portals);
  }
  if (plan.profiles != nullptr) {
    editor_.SetProfiles(plan.profiles);
  }
  if (!stale_costs_.empty()) {
    editor_.RefreshCosts(stale_costs_.Sorted());
    stale_costs_.Clear();
  }
  return absl::OkStatus();
}

// Skips cells off the board of a hexagonal map, which never change.
template <typename Visitor>
void BatchEditor::ForEachSpanOnBoard(const Shape& shape, Visitor visit) {
  ForEachSpan(shape, map().lattice(), map().bounds(), [&](const RowSpan& span) {
    if (const RowSpan on_board = OnBoard(map(), span); on_board.x_begin < on_board.x_end) {
      visit(on_board);
    }
  });
}

void BatchEditor::PaintObstacles(const Shape& shape, bool obstacle) {
  SpanSet cells;
  ForEachSpanOnBoard(shape, [&](const RowSpan& span) { cells.Add(span); });
  for (const RowSpan& span : cells.Sorted()) {
    editor_.SetObstacles(span.y, span.x_begin, span.x_end, obstacle);
    touched_.Add(span);
  }
}

void BatchEditor::PaintTerrain(const Shape& shape, TerrainId terrain) {
  has_touched_costs_ = true;
  ForEachSpanOnBoard(shape, [&](const RowSpan& span) {
    editor_.SetTerrains(span.y, span.x_begin, span.x_end, terrain);
    touched_.Add(span);
    // Replace marks the cells of cost obstacles that the batch itself adds or removes.
    if (map().obstacles().cost_obstacles() > 0) {
      stale_costs_.Add(span);
    }
  });
}

void BatchEditor::Replace(const Obstacle* before, const Obstacle* after) {
  const auto cover_of = [&](const Obstacle* obstacle) {
    return Blocks(obstacle) ? SpansOf(obstacle->shape, map().lattice(), map().bounds()) : SpanSet();
  };
  SpanSet old_cover = cover_of(before);
  SpanSet new_cover = cover_of(after);
  ForEachDifference(old_cover.Sorted(), new_cover.Sorted(), [&](const RowSpan& span, bool is_old) {
    editor_.Cover(span.y, span.x_begin, span.x_end, is_old ? -1 : 1);
    touched_.Add(span);
  });
  for (const Obstacle* obstacle : {before, after}) {
    if (obstacle != nullptr && !Blocks(obstacle)) {
      has_touched_costs_ = true;
      ForEachSpan(obstacle->shape, map().lattice(), map().bounds(), [&](const RowSpan& span) {
        touched_.Add(span);
        stale_costs_.Add(span);
      });
    }
  }
}

absl::StatusOr<ChangeSummary> BatchEditor::Apply(absl::Span<const Edit> edits, absl::Time now,
                                                 const StopCheck* stop) {
  WAYSTAR_ASSIGN_OR_RETURN(const EditPlan plan, PlanEdits(map(), edits, now));
  WAYSTAR_RETURN_IF_ERROR(Reserve(plan));
  std::optional<GridMap> before;
  if (is_changed_) {
    before = editor_.Snapshot();
  }
  is_changed_ = true;
  WAYSTAR_RETURN_IF_ERROR(Paint(plan, stop));
  ChangeSummary result;
  result.clipped_cells = CountClipped(plan, base_);
  result.work = plan.work;
  CountChanges(before ? *before : base_, result);
  return result;
}

absl::Status BatchEditor::Reserve(const EditPlan& plan) {
  MemoryAccount* const account = base_.memory_account();
  if (account == nullptr || plan.edits.empty()) {
    return absl::OkStatus();
  }
  const std::size_t bytes = MostBytesOf(plan, base_);
  if (std::ranges::all_of(plan.edits, TakesAway)) {
    account->Add(bytes);
    return absl::OkStatus();
  }
  return account->Reserve(bytes, memory_) ? absl::OkStatus() : MapsMemoryFull(*account, "");
}

void BatchEditor::CountChanges(const GridMap& before, ChangeSummary& result) {
  absl::InlinedVector<WordChange, 16> changes;
  for (const RowSpan& span : touched_.Sorted()) {
    ForEachWord(span.x_begin, span.x_end, [&](std::size_t i, Word cells) {
      const Word changed = Differences(before, map(), span.y, i, cells, has_touched_costs_);
      if (changed != 0) {
        result.changed_cells += std::popcount(changed);
        changes.push_back({span.y, static_cast<std::int32_t>(i), changed});
      }
    });
  }
  changed_areas_ = AreasOf(changes, result.changed_cells, result.changed_bounds);
  touched_.Clear();
  has_touched_costs_ = false;
}

absl::StatusOr<EditResult> ApplyEdits(const GridMap& map, absl::Span<const Edit> edits, absl::Time now,
                                      const StopCheck* stop) {
  BatchEditor editor(map);
  WAYSTAR_ASSIGN_OR_RETURN(const ChangeSummary summary, editor.Apply(edits, now, stop));
  return EditResult{.map = std::move(editor).Finish().map, .summary = summary};
}

}  // namespace waystar::core
