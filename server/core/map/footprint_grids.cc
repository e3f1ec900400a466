#include "server/core/map/footprint_grids.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace waystar::core {

std::vector<FootprintGrids::Kept> FootprintGrids::Copy() const {
  MutexLock lock(mutex_);
  return kept_;
}

FootprintGrids::FootprintGrids(const FootprintGrids& before, const BitPlane& cells,
                               absl::Span<const WordChange> changes)
    : kept_(before.Copy()) {
  MutexLock lock(mutex_);
  for (Kept& kept : kept_) {
    BitPlane eroded = kept.grid->rows();
    const std::vector<WordChange> changed = RepairEroded(cells, kept.side, changes, eroded);
    if (!changed.empty()) {
      kept.grid = std::make_shared<const WalkGrid>(*kept.grid, std::move(eroded), changed);
    }
  }
}

FootprintGrids::FootprintGrids(const FootprintGrids& before, const BitPlane& cells) : kept_(before.Copy()) {
  MutexLock lock(mutex_);
  for (Kept& kept : kept_) {
    auto grid = std::make_shared<const WalkGrid>(Eroded(cells, kept.side), kept.grid->max_index_bytes());
    grid->PrepareLike(*kept.grid);
    kept.grid = std::move(grid);
  }
}

std::shared_ptr<const WalkGrid> FootprintGrids::Get(const WalkGrid& single, int side) const {
  MutexLock lock(mutex_);
  ++uses_;
  const auto is_it = [&](const Kept& kept) { return kept.side == side; };
  auto found = std::find_if(kept_.begin(), kept_.end(), is_it);
  if (found == kept_.end()) {
    if (kept_.size() == kMaxKept) {
      const auto older = [](const Kept& a, const Kept& b) { return a.last_use < b.last_use; };
      kept_.erase(std::min_element(kept_.begin(), kept_.end(), older));
    }
    // All sizes together share as much memory for indexes as the agents of one cell have.
    auto grid =
        std::make_shared<const WalkGrid>(Eroded(single.rows(), side), single.max_index_bytes() / kMaxKept);
    kept_.push_back({.side = side, .grid = std::move(grid)});
    found = kept_.end() - 1;
  }
  found->last_use = uses_;
  return found->grid;
}

std::size_t FootprintGrids::memory_bytes() const {
  std::size_t bytes = sizeof(*this);
  for (const Kept& kept : Copy()) {
    bytes += kept.grid->memory_bytes();
  }
  return bytes;
}

}  // namespace waystar::core
