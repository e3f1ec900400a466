#include "server/core/edit/edit_painter.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>

#include "absl/types/span.h"
#include "server/core/grid/hex_board.h"
#include "server/core/map/cost_obstacles.h"
#include "server/core/shape/shape_raster.h"

namespace waystar::core {
namespace {

bool Blocks(const Obstacle* obstacle) {
  return obstacle != nullptr && obstacle->effect.kind == ObstacleEffect::Kind::kBlock;
}

bool ChangesCosts(const Obstacle* obstacle) { return obstacle != nullptr && !Blocks(obstacle); }

}  // namespace

void EditPainter::Paint(const EditPlan& plan) {
  for (const PlannedEdit& edit : plan.edits) {
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
    RefreshCosts(map().obstacles(), stale_costs_.Sorted(), editor_);
    stale_costs_.Clear();
  }
}

Lattice EditPainter::lattice() const { return LatticeOf(map().settings().connectivity); }

// Without what lies off the board of a map of hexagons, which stays as it is.
template <typename Visitor>
void EditPainter::ForEachSpanOnBoard(const Shape& shape, Visitor visit) {
  const std::optional<HexBoard>& board = map().settings().frame.hexagons;
  ForEachSpan(shape, lattice(), map().bounds(), [&](RowSpan span) {
    if (board && HasOffsets(board->layout)) {
      const HexBoard::Span row = board->InRow(span.y);
      span.x_begin = std::max(span.x_begin, row.begin);
      span.x_end = std::min(span.x_end, row.end);
    }
    if (span.x_begin < span.x_end) {
      visit(span);
    }
  });
}

void EditPainter::PaintObstacles(const Shape& shape, bool obstacle) {
  SpanSet cells;
  ForEachSpanOnBoard(shape, [&](const RowSpan& span) { cells.Add(span); });
  for (const RowSpan& span : cells.Sorted()) {
    editor_.SetObstacles(span.y, span.x_begin, span.x_end, obstacle);
    touched_.Add(span);
  }
}

void EditPainter::PaintTerrain(const Shape& shape, TerrainId terrain) {
  has_touched_costs_ = true;
  ForEachSpanOnBoard(shape, [&](const RowSpan& span) {
    editor_.SetTerrains(span.y, span.x_begin, span.x_end, terrain);
    touched_.Add(span);
    // The cells of obstacles that the batch lays or lifts are stale anyway.
    if (map().obstacles().cost_obstacles() > 0) {
      stale_costs_.Add(span);
    }
  });
}

void EditPainter::Replace(const Obstacle* before, const Obstacle* after) {
  UpdateCover(Blocks(before) ? before : nullptr, Blocks(after) ? after : nullptr);
  for (const Obstacle* obstacle : {before, after}) {
    if (ChangesCosts(obstacle)) {
      has_touched_costs_ = true;
      ForEachSpan(obstacle->shape, lattice(), map().bounds(), [&](const RowSpan& span) {
        touched_.Add(span);
        stale_costs_.Add(span);
      });
    }
  }
}

void EditPainter::UpdateCover(const Obstacle* before, const Obstacle* after) {
  SpanSet old_cover = before == nullptr ? SpanSet() : SpansOf(before->shape, lattice(), map().bounds());
  SpanSet new_cover = after == nullptr ? SpanSet() : SpansOf(after->shape, lattice(), map().bounds());
  ForEachDifference(old_cover.Sorted(), new_cover.Sorted(), [&](const RowSpan& span, bool is_old) {
    editor_.Cover(span.y, span.x_begin, span.x_end, is_old ? -1 : 1);
    touched_.Add(span);
  });
}

}  // namespace waystar::core
