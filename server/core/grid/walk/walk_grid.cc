#include "server/core/grid/walk/walk_grid.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "server/core/grid/jumps/diagonal_jump_index.h"
#include "server/core/grid/jumps/turn_jump_index.h"

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

WalkGrid::WalkGrid(BitPlane rows, IndexMemory memory)
    : WalkGrid(WalkCells(rows, Transposed(rows)), std::move(memory)) {}

WalkGrid::WalkGrid(WalkCells cells, IndexMemory memory)
    : WalkCells(std::move(cells)), index_memory_(std::move(memory)) {}

WalkGrid::WalkGrid(const WalkGrid& before, BitPlane rows, absl::Span<const WordChange> changes)
    : WalkCells(std::move(rows), FlipTransposed(before.columns(), changes)),
      index_memory_(before.index_memory_) {
  const auto follow = [&](auto& index, const auto& index_before, auto make) {
    index.Follow(index_before, before.rows(), before.columns(), changes);
    if (index.PaysAtOnce()) {
      make();
    }
  };
  for (int rule = 0; rule < kCornerRuleCount; ++rule) {
    const auto i = static_cast<std::size_t>(rule);
    follow(diagonal_jumps_[i], before.diagonal_jumps_[i],
           [&] { MakeDiagonalJumpIndex(static_cast<CornerRule>(rule)); });
  }
  follow(turn_jumps_, before.turn_jumps_, [&] { MakeTurnJumpIndex(); });
  for (std::size_t adjacency = 0; adjacency < components_.size(); ++adjacency) {
    if (const Components* components = before.components_[adjacency].GetIfMade()) {
      components_[adjacency].Set(Components(*components, this->rows(), changes));
    }
  }
}

void WalkGrid::LagBehind(const WalkGrid& other) {
  for (std::size_t i = 0; i < diagonal_jumps_.size(); ++i) {
    diagonal_jumps_[i].FollowUnlisted(other.diagonal_jumps_[i], rows());
  }
  turn_jumps_.FollowUnlisted(other.turn_jumps_, rows());
}

void WalkGrid::PrepareLike(const WalkGrid& other) {
  LagBehind(other);
  for (const Lazy<Components>& made : other.components_) {
    if (made.GetIfMade() != nullptr) {
      components(made.GetIfMade()->adjacency());
    }
  }
}

std::shared_ptr<const WalkGrid> WalkGrid::WithoutJumpIndexes() const {
  auto grid = std::make_shared<WalkGrid>(WalkCells(*this), index_memory_);
  grid->LagBehind(*this);
  for (std::size_t i = 0; i < components_.size(); ++i) {
    if (const Components* made = components_[i].GetIfMade()) {
      grid->components_[i].Set(*made);
    }
  }
  return grid;
}

WalkGrid::~WalkGrid() = default;

bool WalkGrid::NeedsBackgroundBuild() const {
  return turn_jumps_.NeedsBackgroundBuild() ||
         std::ranges::any_of(diagonal_jumps_, [](const auto& stops) { return stops.NeedsBackgroundBuild(); });
}

bool WalkGrid::BuildInBackground(CancelFlag cancelled) const {
  bool has_made = false;
  const auto make_if_due = [&](const auto& index, auto make) {
    if (!index.NeedsBackgroundBuild() || !index.IsWanted()) {
      return;
    }
    // Built first, because queries need components more.
    components(Adjacency::kStraight);
    has_made = make() != nullptr || has_made;
  };
  for (int rule = 0; rule < kCornerRuleCount; ++rule) {
    make_if_due(diagonal_jumps_[static_cast<std::size_t>(rule)],
                [&] { return diagonal_jumps(static_cast<CornerRule>(rule), true, cancelled); });
  }
  make_if_due(turn_jumps_, [&] { return turn_jumps(true, cancelled); });
  return has_made;
}

void WalkGrid::FollowCloser(const WalkGrid& before) const {
  if (this == &before || !NeedsBackgroundBuild()) {
    return;
  }
  const std::vector<WordChange> changes = DifferencesBetween(before.rows(), rows());
  for (std::size_t i = 0; i < diagonal_jumps_.size(); ++i) {
    diagonal_jumps_[i].FollowCloser(before.diagonal_jumps_[i], before.rows(), before.columns(), changes);
  }
  turn_jumps_.FollowCloser(before.turn_jumps_, before.rows(), before.columns(), changes);
  for (std::size_t i = 0; i < components_.size(); ++i) {
    const Components* const made = before.components_[i].GetIfMade();
    if (made != nullptr && components_[i].GetIfMade() == nullptr) {
      components_[i].TrySet(Components(*made, rows(), changes));
    }
  }
}

// Two concurrent calls may both find room for only one index; this is tolerated. Memory reserved in the
// account is charged at once and confirmed by its next measurement.
bool WalkGrid::TakeRoomFor(std::size_t index_bytes) const {
  MemoryAccount* const account = index_memory_.account.get();
  // Indexes are optional for searches, so half of the memory is reserved for maps.
  return HasRoomFor(index_bytes) &&
         (account == nullptr || account->TryAdd(index_bytes, account->max_bytes() / 2));
}

bool WalkGrid::HasRoomFor(std::size_t index_bytes) const {
  std::size_t taken = turn_jumps_.IsAskedFor() ? TurnJumpIndex::BytesFor(CellCount()) : 0;
  for (const LazilyRepairedIndex<DiagonalJumpIndex>& stops : diagonal_jumps_) {
    taken += stops.IsAskedFor() ? DiagonalJumpIndex::BytesFor(CellCount()) : 0;
  }
  if (taken + index_bytes > index_memory_.max_bytes) {
    return false;
  }
  const MemoryAccount* const account = index_memory_.account.get();
  return account == nullptr || account->room() >= account->max_bytes() / 2 + index_bytes;
}

bool WalkGrid::WouldMakeDiagonalJumps(CornerRule rule) const {
  return !diagonal_jumps_[static_cast<std::size_t>(rule)].IsAskedFor() &&
         HasRoomFor(DiagonalJumpIndex::BytesFor(CellCount()));
}

bool WalkGrid::WouldMakeTurnJumps() const {
  return !turn_jumps_.IsAskedFor() && HasRoomFor(TurnJumpIndex::BytesFor(CellCount()));
}

template <typename Index>
const Index* WalkGrid::Find(const LazilyRepairedIndex<Index>& index, bool now, CancelFlag cancelled,
                            absl::FunctionRef<Index()> make) const {
  if (!index.IsAskedFor() && !TakeRoomFor(Index::BytesFor(CellCount()))) {
    return nullptr;
  }
  const auto repair = [&](const Index& before, const BitPlane& rows, const BitPlane& columns,
                          const ChangeLog& log) {
    const std::vector<WordChange> changes = log.Differences(rows, this->rows());
    if constexpr (std::is_same_v<Index, DiagonalJumpIndex>) {
      return Index(before, *this, changes, cancelled);
    } else {
      return Index(before, WalkCells(rows, columns), *this, changes, cancelled);
    }
  };
  return now ? index.MakeNow(make, repair, cancelled) : index.Get(make, repair);
}

const DiagonalJumpIndex* WalkGrid::diagonal_jumps(CornerRule rule, bool now, CancelFlag cancelled) const {
  return Find<DiagonalJumpIndex>(diagonal_jumps_[static_cast<std::size_t>(rule)], now, cancelled,
                                 [&] { return DiagonalJumpIndex(*this, rule, cancelled); });
}

const TurnJumpIndex* WalkGrid::turn_jumps(bool now, CancelFlag cancelled) const {
  return Find<TurnJumpIndex>(turn_jumps_, now, cancelled, [&] { return TurnJumpIndex(*this, cancelled); });
}

template <typename Index>
bool WalkGrid::TryPostpone(LazilyRepairedIndex<Index>& index) const {
  const bool may = index.TakesLong(CellCount()) && TakeRoomFor(Index::BytesFor(CellCount()));
  if (may) {
    index.LeaveToBackground(rows());
  }
  return may;
}

bool WalkGrid::TryPostponeDiagonalJumpIndex(CornerRule rule) {
  return TryPostpone(diagonal_jumps_[static_cast<std::size_t>(rule)]);
}

bool WalkGrid::TryPostponeTurnJumpIndex() { return TryPostpone(turn_jumps_); }

const Components& WalkGrid::components(Adjacency adjacency, const StopCheck* stop) const {
  return components_[static_cast<std::size_t>(adjacency)].Get([&] {
    Components components(rows(), adjacency, stop);
    if (index_memory_.account != nullptr) {
      index_memory_.account->Add(components.memory_bytes());
    }
    return components;
  });
}

std::size_t WalkGrid::index_bytes() const {
  std::size_t bytes = columns().memory_bytes();
  for (const LazilyRepairedIndex<DiagonalJumpIndex>& stops : diagonal_jumps_) {
    bytes += stops.BytesBeyond(nullptr, rows(), columns());
  }
  bytes += turn_jumps_.BytesBeyond(nullptr, rows(), columns());
  for (const Lazy<Components>& components : components_) {
    bytes += components.GetIfMade() != nullptr ? components.GetIfMade()->memory_bytes() : 0;
  }
  return bytes;
}

std::size_t WalkGrid::promised_bytes() const {
  std::size_t bytes = turn_jumps_.PromisedBytes(rows());
  for (const LazilyRepairedIndex<DiagonalJumpIndex>& stops : diagonal_jumps_) {
    bytes += stops.PromisedBytes(rows());
  }
  return bytes;
}

std::size_t WalkGrid::BytesBeyond(const WalkGrid& other) const {
  if (this == &other) {
    return 0;
  }
  std::size_t bytes =
      sizeof(*this) + rows().BytesBeyond(other.rows()) + columns().BytesBeyond(other.columns());
  for (std::size_t i = 0; i < diagonal_jumps_.size(); ++i) {
    bytes += diagonal_jumps_[i].BytesBeyond(&other.diagonal_jumps_[i], rows(), columns());
  }
  bytes += turn_jumps_.BytesBeyond(&other.turn_jumps_, rows(), columns());
  for (std::size_t i = 0; i < components_.size(); ++i) {
    if (const Components* made = components_[i].GetIfMade()) {
      bytes += made->BytesBeyond(other.components_[i].GetIfMade());
    }
  }
  return bytes;
}

}  // namespace waystar::core
