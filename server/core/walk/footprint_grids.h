// Cache of the walk grids of agents larger than one cell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/core/grid/bit_plane.h"
#include "server/core/grid/lazy.h"
#include "server/core/jump_index/cancelled.h"
#include "server/core/walk/footprint.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {

// One grid for each size of agent in use on a map. A grid is made when its size is first asked for, shared by
// all queries, and repaired from revision to revision. The most recently used sizes are kept: kAlwaysKept,
// and more if all of them together take no more than BytesKeptOver the map when another one is made. Before
// one is let go of, those not used for longest do without their jump indexes.
//
// Thread safety: any method may be called from any thread. Who asks for a grid that is being made waits for
// it, and so does an edit; nobody else does.
class FootprintGrids {
 public:
  static constexpr std::size_t kAlwaysKept = 8;
  // Returns what grids over that of agents of one cell may take if they are more than kAlwaysKept: about
  // twice what the cells of a map of several terrains take, and twice its memory for indexes.
  static std::size_t BytesKeptOver(const WalkGrid& single);

  using Grid = std::shared_ptr<const WalkGrid>;

  FootprintGrids() = default;
  // Brings the grids of `before` up to date with `cells`, which `changes` made from the cells before.
  FootprintGrids(const FootprintGrids& before, const BitPlane& cells, absl::Span<const WordChange> changes);
  // Makes the grids of the kAlwaysKept most recently used sizes in `before` afresh over `cells`.
  FootprintGrids(const FootprintGrids& before, const BitPlane& cells);
  FootprintGrids(const FootprintGrids&) = delete;
  FootprintGrids& operator=(const FootprintGrids&) = delete;

  // Returns the grid of agents of `side` x `side` cells over the grid of agents of one cell. REQUIRES: 2 <=
  // side <= kMaxFootprint.
  Grid Get(const WalkGrid& single, int side) const;
  // Returns the grid of that size. If it is neither kept nor being made, make() makes it, without any lock
  // that other sizes need; more than kAlwaysKept are kept while they take at most `kept_bytes` together.
  Grid Get(int side, std::size_t kept_bytes, absl::FunctionRef<Grid()> make) const;

  // Returns whether Get would find that grid made.
  bool Has(int side) const;
  // Lets go of the grids that were not asked for since the last call, or of all. Those who have one keep it.
  void Drop(bool used_too) const;

  // These are as in WalkGrid, for all sizes.
  bool NeedsBackgroundBuild() const;
  bool BuildInBackground(CancelFlag cancelled) const;
  void FollowCloser(const FootprintGrids& before) const;

  std::size_t memory_bytes() const;
  // Returns the bytes held by these grids and not by `other`. REQUIRES: both are of maps of one size.
  std::size_t BytesBeyond(const FootprintGrids& other) const;

 private:
  struct Kept {
    int side = 0;
    std::uint64_t last_use = 0;
    Grid grid;
    bool was_used = true;
  };

  // A grid that is being made, or whose maker found no memory.
  struct Build {
    int side = 0;
    std::size_t kept_bytes = 0;
    Lazy<Grid> grid;
  };

  struct State {
    // How often Get was called, in earlier revisions too: a use before an edit is older than one after it.
    std::uint64_t uses = 0;
    std::vector<Kept> kept;
  };

  State Copy() const;
  // Waits for the grids that are being made.
  State WaitAndCopy() const;
  // Returns null if there is none.
  static const Kept* FindIn(const State& state, int side);
  // Keeps a grid that is made, unless another thread has done so. `dropped` becomes what is let go of for it.
  void Keep(const Build& build, std::vector<Kept>& dropped) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  mutable State state_ ABSL_GUARDED_BY(mutex_);
  mutable std::vector<std::shared_ptr<const Build>> builds_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::core
