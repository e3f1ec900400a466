#include "server/core/grid/jumps/turn_jump_index.h"

#include <cstddef>

#include "absl/types/span.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/jumps/straight_scan.h"
#include "server/geometry/cell.h"

namespace waystar::core {
namespace {

// At the end of a wall a 4-connected search turns where an 8-connected one without corner cutting does.
constexpr CornerRule kRule = CornerRule::kNoCornerCutting;

}  // namespace

TurnJumpIndex::TurnJumpIndex(const WalkCells& grid, CancelFlag cancelled) {
  BitPlane south(grid.height(), grid.width(), false);
  BitPlane north = south;
  BitPlaneWriter south_writer(south);
  BitPlaneWriter north_writer(north);
  const auto words = static_cast<std::size_t>(WordsPerRow(grid.height()));
  for (int x = 0; x < grid.width() && !IsCancelled(cancelled); ++x) {
    Word* merged = south_writer.row(x);
    const Word* other = north_writer.row(x);
    MarkRunsToJumps<kRule, 1>(ColumnLine(grid, x), grid.height(), merged);
    MarkRunsToJumps<kRule, -1>(ColumnLine(grid, x), grid.height(), north_writer.row(x));
    for (std::size_t i = 0; i < words; ++i) {
      merged[i] |= other[i];
    }
  }
  rows_ = Transposed(south);
}

TurnJumpIndex::TurnJumpIndex(const TurnJumpIndex& before, const WalkCells& old, const WalkCells& now,
                             absl::Span<const WordChange> changes, CancelFlag cancelled)
    : rows_(before.rows_) {
  BitPlaneWriter writer(rows_);
  const auto put = [&](Cell cell, bool turns) {
    if (TestBit(rows_.row(cell.y), cell.x) != turns) {
      AssignBit(writer.row(cell.y), cell.x, turns);
    }
  };
  const auto remake = [&](Cell cell) {
    repair_work_ += 2;
    const LineBits column = ColumnLine(now, cell.x);
    put(cell, now.IsWalkable(cell) &&
                  (FindsJump<kRule, 1>(column, cell.y) || FindsJump<kRule, -1>(column, cell.y)));
  };
  const auto along_column = [&](int x) {
    return [&, x](int y, bool finds) { finds&& now.IsWalkable({x, y}) ? put({x, y}, true) : remake({x, y}); };
  };
  const Surroundings surroundings(changes, now.width(), now.height());
  for (const WordChange& word : surroundings.words()) {
    if (IsCancelled(cancelled)) {
      return;
    }
    ForEachCell(word, remake);
    surroundings.ForEachNorthEnd(word, [&](Cell end) {
      VisitRun<kRule, 1>(ColumnLine(old, end.x), ColumnLine(now, end.x), now.height(), end.y - 1,
                         along_column(end.x));
    });
    surroundings.ForEachSouthEnd(word, [&](Cell end) {
      VisitRun<kRule, -1>(ColumnLine(old, end.x), ColumnLine(now, end.x), now.height(), end.y + 1,
                          along_column(end.x));
    });
  }
}

}  // namespace waystar::core
