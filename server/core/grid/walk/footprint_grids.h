// Cache of the walk grids of agents larger than one cell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/base/lazy.h"
#include "server/base/mutex.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/jumps/lazily_repaired_index.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Maximum side of an agent, in cells.
inline constexpr int kMaxFootprint = 32;

// Calls visit(cell) for the cells covered by an agent of `side` x `side` cells at `position`.
template <typename Visitor>
void ForEachCellUnder(Cell position, int side, Visitor visit) {
  for (int y = position.y; y < position.y + side; ++y) {
    for (int x = position.x; x < position.x + side; ++x) {
      visit(Cell{x, y});
    }
  }
}

// Returns INVALID_ARGUMENT / BAD_VALUE with field "footprint" unless `footprint` is from 1 to kMaxFootprint.
absl::Status CheckFootprint(int footprint);

// Returns the cells (x, y) for which all cells from (x, y) to (x + side - 1, y + side - 1) are set and on the
// plane.
// REQUIRES: 1 <= side <= kMaxFootprint.
BitPlane Eroded(const BitPlane& cells, int side);

// Updates `eroded`, which was Eroded(cells, side) before `changes`, and returns its changes. Cost is
// proportional to the changes.
std::vector<WordChange> RepairEroded(const BitPlane& cells, int side, absl::Span<const WordChange> changes,
                                     BitPlane& eroded);

// Walk grids of one map by size of agent. A grid is made on first use, shared by all queries, and repaired
// from revision to revision. The kAlwaysKept most recently used sizes are kept, and more while all together
// take at most BytesKeptOver the map. Before a grid is evicted, the least recently used ones lose their jump
// indexes.
//
// Thread safety: thread-safe. A request for a grid that is being made waits for it, and so does an edit;
// nothing else waits.
class FootprintGrids {
 public:
  static constexpr std::size_t kAlwaysKept = 8;
  // Returns the memory limit for more than kAlwaysKept grids: about twice the cells of a map with several
  // terrains, plus twice its index memory. `single` is the grid of agents of one cell.
  static std::size_t BytesKeptOver(const WalkGrid& single);

  using Grid = std::shared_ptr<const WalkGrid>;

  FootprintGrids() = default;
  // Updates the grids of `before` to `cells`, which `changes` made from the previous cells.
  FootprintGrids(const FootprintGrids& before, const BitPlane& cells, absl::Span<const WordChange> changes);
  // Makes the grids of the kAlwaysKept most recently used sizes in `before` from `cells`.
  FootprintGrids(const FootprintGrids& before, const BitPlane& cells);
  FootprintGrids(const FootprintGrids&) = delete;
  FootprintGrids& operator=(const FootprintGrids&) = delete;

  // Returns the grid of agents of `side` x `side` cells, given the grid of agents of one cell.
  // REQUIRES: 2 <= side <= kMaxFootprint.
  Grid Get(const WalkGrid& single, int side) const;
  // Returns the grid of that size. If it is neither cached nor being made, calls make() without holding a
  // lock that other sizes need. More than kAlwaysKept are kept only while they take at most `kept_bytes`
  // together.
  Grid Get(int side, std::size_t kept_bytes, absl::FunctionRef<Grid()> make) const;

  // Returns true if the grid of that size is made.
  bool Has(int side) const;
  // Drops the grids that were not used since the last call, or all if `used_too`. Current holders keep
  // theirs.
  void Drop(bool used_too) const;

  // As in WalkGrid, for all sizes.
  bool NeedsBackgroundBuild() const;
  bool BuildInBackground(CancelFlag cancelled) const;
  void FollowCloser(const FootprintGrids& before) const;

  std::size_t memory_bytes() const;
  // Returns the bytes held by these grids and not by `other`.
  // REQUIRES: both are of maps of one size.
  std::size_t BytesBeyond(const FootprintGrids& other) const;

 private:
  struct Kept {
    int side = 0;
    std::uint64_t last_use = 0;
    Grid grid;
    bool was_used = true;
  };

  // A grid that is being made, or whose maker ran out of memory.
  struct Build {
    int side = 0;
    std::size_t kept_bytes = 0;
    Lazy<Grid> grid;
  };

  struct State {
    // Number of calls of Get, including earlier revisions.
    std::uint64_t uses = 0;
    std::vector<Kept> kept;
  };

  State Copy() const;
  // Waits for the grids that are being made, then copies the state.
  State WaitAndCopy() const;
  // Returns the kept grid of that size, or null.
  static const Kept* FindIn(const State& state, int side);
  // Stores a finished grid, unless another thread has done so. Moves evicted grids to `dropped`.
  void Keep(const Build& build, std::vector<Kept>& dropped) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  mutable State state_ ABSL_GUARDED_BY(mutex_);
  mutable std::vector<std::shared_ptr<const Build>> builds_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::core
