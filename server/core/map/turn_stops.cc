#include "server/core/map/turn_stops.h"

#include <cstddef>

#include "absl/types/span.h"
#include "server/core/map/cell.h"
#include "server/core/map/corner_rule.h"
#include "server/core/map/straight_scan.h"
#include "server/core/map/transpose.h"
#include "server/core/map/walk_grid.h"

namespace waystar::core {
namespace {

// Beside a wall that gives way a 4-connected search turns where an 8-connected one turns that may not cut
// corners.
constexpr CornerRule kRule = CornerRule::kNoCornerCutting;

}  // namespace

TurnStops::TurnStops(const WalkGrid& grid) {
  BitPlane south(grid.height(), grid.width(), false);
  BitPlane north = south;
  BitPlaneWriter south_writer(south);
  BitPlaneWriter north_writer(north);
  const auto words = static_cast<std::size_t>(WordsPerRow(grid.height()));
  for (int x = 0; x < grid.width(); ++x) {
    Word* merged = south_writer.row(x);
    const Word* other = north_writer.row(x);
    MarkRunsToJumps<kRule>(ColumnLine(grid, x), grid.height(), merged, north_writer.row(x));
    for (std::size_t i = 0; i < words; ++i) {
      merged[i] |= other[i];
    }
  }
  rows_ = Transposed(south);
}

TurnStops::TurnStops(const TurnStops& before, const WalkGrid& old, const WalkGrid& now,
                     absl::Span<const WordChange> changes)
    : rows_(before.rows_) {
  BitPlaneWriter writer(rows_);
  const auto remake = [&](const Line& column, Cell cell) {
    const bool turns =
        now.IsWalkable(cell) && (FindsJump<kRule, 1>(column, cell.y) || FindsJump<kRule, -1>(column, cell.y));
    if (TestBit(rows_.row(cell.y), cell.x) != turns) {
      AssignBit(writer.row(cell.y), cell.x, turns);
    }
  };
  const auto repair_column = [&](Cell middle) {
    const Line column = ColumnLine(now, middle.x);
    for (int y = middle.y - 1; y <= middle.y + 1; ++y) {
      if (now.Contains({middle.x, y})) {
        remake(column, {middle.x, y});
      }
    }
    const auto remake_at = [&](int y) { remake(column, {middle.x, y}); };
    VisitChangedRuns<kRule>(ColumnLine(old, middle.x), column, now.height(), middle.y, remake_at, remake_at);
  };
  for (const WordChange& change : changes) {
    ForEachCell(change, [&](Cell cell) {
      for (int x = cell.x - 1; x <= cell.x + 1; ++x) {
        if (x >= 0 && x < now.width()) {
          repair_column({x, cell.y});
        }
      }
    });
  }
}

}  // namespace waystar::core
