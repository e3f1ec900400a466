#include "server/core/walk/walk_grid.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/transpose.h"
#include "server/core/walk/diagonal_stops.h"
#include "server/core/walk/turn_stops.h"

namespace waystar::core {
namespace {

BitPlane FlipTransposed(BitPlane columns, absl::Span<const WordChange> changes) {
  BitPlaneWriter writer(columns);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (i + BitPlaneWriter::kRowsAhead < changes.size()) {
      ForEachCell(changes[i + BitPlaneWriter::kRowsAhead], [&](Cell cell) { writer.FetchAhead(cell.x); });
    }
    ForEachCell(changes[i], [&](Cell cell) {
      Word* column = writer.row(cell.x);
      AssignBit(column, cell.y, !TestBit(column, cell.y));
    });
  }
  return columns;
}

}  // namespace

WalkGrid::WalkGrid(BitPlane rows, std::size_t max_index_bytes)
    : max_index_bytes_(max_index_bytes), rows_(std::move(rows)), columns_(Transposed(rows_)) {}

WalkGrid::WalkGrid(BitPlane rows, BitPlane columns)
    : max_index_bytes_(0), rows_(std::move(rows)), columns_(std::move(columns)) {}

WalkGrid::WalkGrid(const WalkGrid& before, BitPlane rows, absl::Span<const WordChange> changes)
    : max_index_bytes_(before.max_index_bytes_),
      rows_(std::move(rows)),
      columns_(FlipTransposed(before.columns_, changes)) {
  const auto follow = [&](auto& index, const auto& index_before, auto make) {
    index.Follow(index_before, before.rows_, before.columns_, changes);
    if (index.IsWanted() && !index.IsOverdue() && index.Lag().has_value()) {
      make();
      index.SpendCredit();
    }
  };
  for (int rule = 0; rule < kCornerRuleCount; ++rule) {
    const auto i = static_cast<std::size_t>(rule);
    follow(diagonal_stops_[i], before.diagonal_stops_[i],
           [&] { MakeDiagonalStops(static_cast<CornerRule>(rule)); });
  }
  follow(turn_stops_, before.turn_stops_, [&] { MakeTurnStops(); });
  for (std::size_t adjacency = 0; adjacency < components_.size(); ++adjacency) {
    if (const Components* components = before.components_[adjacency].GetIfMade()) {
      components_[adjacency].Set(Components(*components, rows_, changes));
    }
  }
}

void WalkGrid::PrepareLike(const WalkGrid& other) {
  for (int rule = 0; rule < kCornerRuleCount; ++rule) {
    const auto i = static_cast<std::size_t>(rule);
    if (other.diagonal_stops_[i].IsAskedFor() &&
        !diagonal_stops_[i].FollowUnlisted(other.diagonal_stops_[i], rows_)) {
      MakeDiagonalStops(static_cast<CornerRule>(rule));
    }
  }
  if (other.turn_stops_.IsAskedFor() && !turn_stops_.FollowUnlisted(other.turn_stops_, rows_)) {
    MakeTurnStops();
  }
  for (const Lazy<Components>& made : other.components_) {
    if (made.GetIfMade() != nullptr) {
      components(made.GetIfMade()->adjacency());
    }
  }
}

WalkGrid::~WalkGrid() = default;

bool WalkGrid::HasOverdueIndexes() const {
  return turn_stops_.IsOverdue() ||
         std::ranges::any_of(diagonal_stops_, [](const auto& stops) { return stops.IsOverdue(); });
}

bool WalkGrid::MakeOverdueIndexes(CancelFlag cancelled) const {
  bool has_made = false;
  const auto make_if_due = [&](const auto& index, auto make) {
    if (index.IsOverdue() && index.IsWanted() && make() != nullptr) {
      index.SpendCredit();
      has_made = true;
    }
  };
  for (int rule = 0; rule < kCornerRuleCount; ++rule) {
    make_if_due(diagonal_stops_[static_cast<std::size_t>(rule)],
                [&] { return diagonal_stops(static_cast<CornerRule>(rule), true, cancelled); });
  }
  make_if_due(turn_stops_, [&] { return turn_stops(true, cancelled); });
  return has_made;
}

void WalkGrid::FollowCloser(const WalkGrid& before) const {
  if (this == &before || !HasOverdueIndexes()) {
    return;
  }
  const std::vector<WordChange> changes = DifferencesBetween(before.rows_, rows_);
  for (std::size_t i = 0; i < diagonal_stops_.size(); ++i) {
    diagonal_stops_[i].FollowCloser(before.diagonal_stops_[i], before.rows_, before.columns_, changes);
  }
  turn_stops_.FollowCloser(before.turn_stops_, before.rows_, before.columns_, changes);
}

// Two that are asked for at the same time may both find room that only one has; that much is tolerated.
bool WalkGrid::HasRoomFor(std::size_t index_bytes) const {
  std::size_t taken = turn_stops_.IsAskedFor() ? TurnStops::BytesFor(CellCount()) : 0;
  for (const LaggingIndex<DiagonalStops>& stops : diagonal_stops_) {
    taken += stops.IsAskedFor() ? DiagonalStops::BytesFor(CellCount()) : 0;
  }
  return taken + index_bytes <= max_index_bytes_;
}

template <typename Index>
const Index* WalkGrid::Find(const LaggingIndex<Index>& index, bool now, CancelFlag cancelled,
                            absl::FunctionRef<Index()> make) const {
  if (!index.IsAskedFor() && !HasRoomFor(Index::BytesFor(CellCount()))) {
    return nullptr;
  }
  const auto repair = [&](const Index& before, const BitPlane& rows, const BitPlane& columns,
                          const ChangeLog& log) {
    return Index(before, WalkGrid(rows, columns), *this, log.Differences(rows, rows_), cancelled);
  };
  return now ? index.MakeNow(make, repair, cancelled) : index.Get(make, repair);
}

const DiagonalStops* WalkGrid::diagonal_stops(CornerRule rule, bool now, CancelFlag cancelled) const {
  return Find<DiagonalStops>(diagonal_stops_[static_cast<std::size_t>(rule)], now, cancelled,
                             [&] { return DiagonalStops(*this, rule, cancelled); });
}

const TurnStops* WalkGrid::turn_stops(bool now, CancelFlag cancelled) const {
  return Find<TurnStops>(turn_stops_, now, cancelled, [&] { return TurnStops(*this, cancelled); });
}

const Components& WalkGrid::components(Adjacency adjacency) const {
  return components_[static_cast<std::size_t>(adjacency)].Get([&] { return Components(rows_, adjacency); });
}

std::size_t WalkGrid::memory_bytes() const {
  std::size_t bytes = sizeof(*this) + rows_.memory_bytes() + columns_.memory_bytes();
  for (const LaggingIndex<DiagonalStops>& stops : diagonal_stops_) {
    bytes += stops.BytesBeyond(nullptr, rows_, columns_);
  }
  bytes += turn_stops_.BytesBeyond(nullptr, rows_, columns_);
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
  for (std::size_t i = 0; i < diagonal_stops_.size(); ++i) {
    bytes += diagonal_stops_[i].BytesBeyond(&other.diagonal_stops_[i], rows_, columns_);
  }
  bytes += turn_stops_.BytesBeyond(&other.turn_stops_, rows_, columns_);
  for (std::size_t i = 0; i < components_.size(); ++i) {
    if (const Components* made = components_[i].GetIfMade()) {
      bytes += made->BytesBeyond(other.components_[i].GetIfMade());
    }
  }
  return bytes;
}

}  // namespace waystar::core
