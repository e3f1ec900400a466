#include "server/core/walk/footprint_grids.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace waystar::core {

FootprintGrids::State FootprintGrids::Copy() const {
  MutexLock lock(mutex_);
  return state_;
}

FootprintGrids::FootprintGrids(const FootprintGrids& before, const BitPlane& cells,
                               absl::Span<const WordChange> changes)
    : state_(before.Copy()) {
  MutexLock lock(mutex_);
  for (Kept& kept : state_.kept) {
    BitPlane eroded = kept.grid->rows();
    const std::vector<WordChange> changed = RepairEroded(cells, kept.side, changes, eroded);
    if (!changed.empty()) {
      kept.grid = std::make_shared<const WalkGrid>(*kept.grid, std::move(eroded), changed);
    }
  }
}

FootprintGrids::FootprintGrids(const FootprintGrids& before, const BitPlane& cells) : state_(before.Copy()) {
  MutexLock lock(mutex_);
  for (Kept& kept : state_.kept) {
    auto grid = std::make_shared<WalkGrid>(Eroded(cells, kept.side), kept.grid->index_memory());
    grid->PrepareLike(*kept.grid);
    kept.grid = std::move(grid);
  }
}

std::shared_ptr<const WalkGrid> FootprintGrids::Get(const WalkGrid& single, int side) const {
  MutexLock lock(mutex_);
  std::vector<Kept>& all = state_.kept;
  ++state_.uses;
  const auto is_it = [&](const Kept& kept) { return kept.side == side; };
  auto found = std::find_if(all.begin(), all.end(), is_it);
  if (found == all.end()) {
    if (all.size() == kMaxKept) {
      const auto older = [](const Kept& a, const Kept& b) { return a.last_use < b.last_use; };
      all.erase(std::min_element(all.begin(), all.end(), older));
    }
    // All sizes together share as much memory for indexes as the agents of one cell have.
    auto grid = std::make_shared<const WalkGrid>(Eroded(single.rows(), side),
                                                 single.index_memory().DividedBy(kMaxKept));
    all.push_back({.side = side, .grid = std::move(grid)});
    found = all.end() - 1;
  }
  found->last_use = state_.uses;
  found->was_used = true;
  return found->grid;
}

bool FootprintGrids::Has(int side) const {
  MutexLock lock(mutex_);
  return FindIn(state_, side) != nullptr;
}

void FootprintGrids::Drop(bool used_too) const {
  // Freed outside of the lock.
  std::vector<Kept> dropped;
  MutexLock lock(mutex_);
  const auto is_kept = [&](const Kept& kept) { return kept.was_used && !used_too; };
  const auto first = std::stable_partition(state_.kept.begin(), state_.kept.end(), is_kept);
  std::move(first, state_.kept.end(), std::back_inserter(dropped));
  state_.kept.erase(first, state_.kept.end());
  for (Kept& kept : state_.kept) {
    kept.was_used = false;
  }
}

const WalkGrid* FootprintGrids::FindIn(const State& state, int side) {
  const auto found =
      std::find_if(state.kept.begin(), state.kept.end(), [&](const Kept& kept) { return kept.side == side; });
  return found == state.kept.end() ? nullptr : found->grid.get();
}

bool FootprintGrids::NeedsBackgroundBuild() const {
  MutexLock lock(mutex_);
  return std::any_of(state_.kept.begin(), state_.kept.end(),
                     [](const Kept& kept) { return kept.grid->NeedsBackgroundBuild(); });
}

bool FootprintGrids::BuildInBackground(CancelFlag cancelled) const {
  bool has_made = false;
  for (const Kept& kept : Copy().kept) {
    has_made = kept.grid->BuildInBackground(cancelled) || has_made;
  }
  return has_made;
}

void FootprintGrids::FollowCloser(const FootprintGrids& before) const {
  const State own = Copy();
  const State others = before.Copy();
  for (const Kept& kept : own.kept) {
    if (const WalkGrid* found = FindIn(others, kept.side)) {
      kept.grid->FollowCloser(*found);
    }
  }
}

std::size_t FootprintGrids::memory_bytes() const {
  const State state = Copy();
  std::size_t bytes = sizeof(*this);
  for (const Kept& kept : state.kept) {
    bytes += kept.grid->memory_bytes();
  }
  return bytes;
}

std::size_t FootprintGrids::BytesBeyond(const FootprintGrids& other) const {
  if (this == &other) {
    return 0;
  }
  const State own = Copy();
  const State others = other.Copy();
  std::size_t bytes = sizeof(*this);
  for (const Kept& kept : own.kept) {
    const WalkGrid* found = FindIn(others, kept.side);
    bytes += found == nullptr ? kept.grid->memory_bytes() : kept.grid->BytesBeyond(*found);
  }
  return bytes;
}

}  // namespace waystar::core
