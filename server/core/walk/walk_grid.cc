#include "server/core/walk/walk_grid.h"

#include <cstddef>
#include <utility>

#include "absl/types/span.h"
#include "server/core/grid/transpose.h"
#include "server/core/walk/diagonal_stops.h"
#include "server/core/walk/turn_stops.h"

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

WalkGrid::WalkGrid(BitPlane rows, std::size_t max_index_bytes)
    : max_index_bytes_(max_index_bytes), rows_(std::move(rows)), columns_(Transposed(rows_)) {}

WalkGrid::WalkGrid(const WalkGrid& before, BitPlane rows, absl::Span<const WordChange> changes)
    : max_index_bytes_(before.max_index_bytes_),
      rows_(std::move(rows)),
      columns_(FlipTransposed(before.columns_, changes)) {
  for (std::size_t rule = 0; rule < diagonal_stops_.size(); ++rule) {
    if (const DiagonalStops* stops = before.diagonal_stops_[rule].GetIfMade()) {
      diagonal_stops_[rule].Set(DiagonalStops(*stops, before, *this, changes));
    }
  }
  if (const TurnStops* stops = before.turn_stops_.GetIfMade()) {
    turn_stops_.Set(TurnStops(*stops, before, *this, changes));
  }
  for (std::size_t adjacency = 0; adjacency < components_.size(); ++adjacency) {
    if (const Components* components = before.components_[adjacency].GetIfMade()) {
      components_[adjacency].Set(Components(*components, rows_, changes));
    }
  }
}

void WalkGrid::PrepareLike(const WalkGrid& other) const {
  for (int rule = 0; rule < kCornerRuleCount; ++rule) {
    if (other.diagonal_stops_[static_cast<std::size_t>(rule)].GetIfMade() != nullptr) {
      diagonal_stops(static_cast<CornerRule>(rule));
    }
  }
  if (other.turn_stops_.GetIfMade() != nullptr) {
    turn_stops();
  }
  for (const Lazy<Components>& made : other.components_) {
    if (made.GetIfMade() != nullptr) {
      components(made.GetIfMade()->adjacency());
    }
  }
}

WalkGrid::~WalkGrid() = default;

// Two that are asked for at the same time may both find room that only one has; that much is tolerated.
bool WalkGrid::HasRoomFor(std::size_t index_bytes) const {
  std::size_t taken = turn_stops_.GetIfMade() != nullptr ? TurnStops::BytesFor(CellCount()) : 0;
  for (const Lazy<DiagonalStops>& stops : diagonal_stops_) {
    taken += stops.GetIfMade() != nullptr ? DiagonalStops::BytesFor(CellCount()) : 0;
  }
  return taken + index_bytes <= max_index_bytes_;
}

const DiagonalStops* WalkGrid::diagonal_stops(CornerRule rule) const {
  const Lazy<DiagonalStops>& stops = diagonal_stops_[static_cast<std::size_t>(rule)];
  if (stops.GetIfMade() == nullptr && !HasRoomFor(DiagonalStops::BytesFor(CellCount()))) {
    return nullptr;
  }
  return &stops.Get([&] { return DiagonalStops(*this, rule); });
}

const TurnStops* WalkGrid::turn_stops() const {
  if (turn_stops_.GetIfMade() == nullptr && !HasRoomFor(TurnStops::BytesFor(CellCount()))) {
    return nullptr;
  }
  return &turn_stops_.Get([&] { return TurnStops(*this); });
}

const Components& WalkGrid::components(Adjacency adjacency) const {
  return components_[static_cast<std::size_t>(adjacency)].Get([&] { return Components(rows_, adjacency); });
}

std::size_t WalkGrid::memory_bytes() const {
  std::size_t bytes = sizeof(*this) + rows_.memory_bytes() + columns_.memory_bytes();
  for (const Lazy<DiagonalStops>& stops : diagonal_stops_) {
    bytes += stops.GetIfMade() != nullptr ? stops.GetIfMade()->memory_bytes() : 0;
  }
  bytes += turn_stops_.GetIfMade() != nullptr ? turn_stops_.GetIfMade()->memory_bytes() : 0;
  for (const Lazy<Components>& components : components_) {
    bytes += components.GetIfMade() != nullptr ? components.GetIfMade()->memory_bytes() : 0;
  }
  return bytes;
}

std::size_t WalkGrid::BytesBeyond(const WalkGrid& other) const {
  if (this == &other) {
    return 0;
  }
  std::size_t bytes = sizeof(*this) + rows_.BytesBeyond(other.rows_) + columns_.BytesBeyond(other.columns_);
  const auto add = [&](const auto& own, const auto& others) {
    if (const auto* made = own.GetIfMade()) {
      bytes += made->BytesBeyond(others.GetIfMade());
    }
  };
  for (std::size_t i = 0; i < diagonal_stops_.size(); ++i) {
    add(diagonal_stops_[i], other.diagonal_stops_[i]);
  }
  add(turn_stops_, other.turn_stops_);
  for (std::size_t i = 0; i < components_.size(); ++i) {
    add(components_[i], other.components_[i]);
  }
  return bytes;
}

}  // namespace waystar::core
