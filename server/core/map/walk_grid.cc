#include "server/core/map/walk_grid.h"

#include <cstddef>
#include <utility>

#include "absl/types/span.h"
#include "server/core/map/transpose.h"

namespace waystar::core {
namespace {

BitPlane FlipTransposed(BitPlane columns, absl::Span<const WordChange> changes) {
  BitPlaneWriter writer(columns);
  for (const WordChange& change : changes) {
    ForEachCell(change, [&](Cell cell) {
      Word* column = writer.row(cell.x);
      AssignBit(column, cell.y, !TestBit(column, cell.y));
    });
  }
  return columns;
}

}  // namespace

WalkGrid::WalkGrid(BitPlane rows) : rows_(std::move(rows)), columns_(Transposed(rows_)) {}

WalkGrid::WalkGrid(const WalkGrid& before, BitPlane rows, absl::Span<const WordChange> changes)
    : rows_(std::move(rows)), columns_(FlipTransposed(before.columns_, changes)) {}

std::size_t WalkGrid::memory_bytes() const {
  return sizeof(*this) + rows_.memory_bytes() + columns_.memory_bytes();
}

}  // namespace waystar::core
