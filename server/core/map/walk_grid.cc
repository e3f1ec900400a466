#include "server/core/map/walk_grid.h"

#include <cstddef>
#include <utility>

#include "absl/types/span.h"
#include "server/core/map/diagonal_stops.h"
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
    : rows_(std::move(rows)), columns_(FlipTransposed(before.columns_, changes)) {
  for (std::size_t rule = 0; rule < diagonal_stops_.size(); ++rule) {
    if (const DiagonalStops* stops = before.diagonal_stops_[rule].GetIfMade()) {
      diagonal_stops_[rule].Set(DiagonalStops(*stops, before, *this, changes));
    }
  }
}

WalkGrid::~WalkGrid() = default;

const DiagonalStops& WalkGrid::diagonal_stops(CornerRule rule) const {
  return diagonal_stops_[static_cast<std::size_t>(rule)].Get([&] { return DiagonalStops(*this, rule); });
}

std::size_t WalkGrid::memory_bytes() const {
  std::size_t bytes = sizeof(*this) + rows_.memory_bytes() + columns_.memory_bytes();
  for (const Lazy<DiagonalStops>& stops : diagonal_stops_) {
    bytes += stops.GetIfMade() != nullptr ? stops.GetIfMade()->memory_bytes() : 0;
  }
  return bytes;
}

}  // namespace waystar::core
