// Cache of the walk grids of agents larger than one cell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/core/grid/bit_plane.h"
#include "server/core/jump_index/cancelled.h"
#include "server/core/walk/footprint.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {

// One grid for each size of agent in use on a map. A grid is made when its size is first asked for, shared by
// all queries, and repaired from revision to revision. The kMaxKept most recently used sizes are kept.
//
// Thread safety: any method may be called from any thread.
class FootprintGrids {
 public:
  static constexpr std::size_t kMaxKept = 8;

  FootprintGrids() = default;
  // Brings the grids of `before` up to date with `cells`, which `changes` made from the cells before.
  FootprintGrids(const FootprintGrids& before, const BitPlane& cells, absl::Span<const WordChange> changes);
  // Makes the grids of the sizes in `before` afresh over `cells`.
  FootprintGrids(const FootprintGrids& before, const BitPlane& cells);
  FootprintGrids(const FootprintGrids&) = delete;
  FootprintGrids& operator=(const FootprintGrids&) = delete;

  // Returns the grid of agents of `side` x `side` cells over the grid of agents of one cell. REQUIRES: 2 <=
  // side <= kMaxFootprint.
  std::shared_ptr<const WalkGrid> Get(const WalkGrid& single, int side) const;

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
    std::shared_ptr<const WalkGrid> grid;
    bool was_used = true;
  };

  struct State {
    // How often Get was called, in earlier revisions too: a use before an edit is older than one after it.
    std::uint64_t uses = 0;
    std::vector<Kept> kept;
  };

  State Copy() const;
  // Returns null if there is none.
  static const WalkGrid* FindIn(const State& state, int side);

  mutable Mutex mutex_;
  mutable State state_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::core
