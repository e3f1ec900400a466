// The cells on which an agent may stand, with the indexes that searches derive from them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "server/base/memory_account.h"
#include "server/base/stop_check.h"
#include "server/core/components/component_block.h"
#include "server/core/components/components.h"
#include "server/core/grid/bit_plane.h"
#include "server/core/grid/corner_rule.h"
#include "server/core/grid/lazy.h"
#include "server/core/grid/walk_cells.h"
#include "server/core/jump_index/cancelled.h"
#include "server/core/jump_index/change_log.h"
#include "server/core/jump_index/lazily_repaired_index.h"

namespace waystar::core {

class DiagonalJumpIndex;
class TurnJumpIndex;

// The memory that the indexes over a grid may take, and the ones over its successors.
struct IndexMemory {
  std::size_t max_bytes = std::size_t{64} << 20;
  // Asked for it as well, and told of what is made; null if nobody counts.
  std::shared_ptr<MemoryAccount> account;

  IndexMemory DividedBy(std::size_t grids) const { return {max_bytes / grids, account}; }
};

// The walkable cells of an agent of one footprint, with the components and jump indexes over them.
//
// Thread safety: immutable, so any number of threads may read it.
class WalkGrid : public WalkCells {
 public:
  // The indexes over the grid take at most `memory` together.
  explicit WalkGrid(BitPlane rows, IndexMemory memory = {});
  explicit WalkGrid(WalkCells cells, IndexMemory memory);
  // Makes the grid whose cells are `rows` from the grid before and every change that led from one to the
  // other. The cost is proportional to the changes. Jump indexes are left to the next search, unless searches
  // have paid for them or they would lag too far behind.
  WalkGrid(const WalkGrid& before, BitPlane rows, absl::Span<const WordChange> changes);
  ~WalkGrid();
  WalkGrid(const WalkGrid&) = delete;
  WalkGrid& operator=(const WalkGrid&) = delete;

  // Returns the index of diagonal jumps under that rule. Returns null if it does not fit into the memory for
  // indexes, or if it lags behind the grid (LazilyRepairedIndex): searches then do without it, and record how
  // often they looked around in vain.
  const DiagonalJumpIndex* diagonal_jumps(CornerRule rule) const { return diagonal_jumps(rule, false); }
  void RecordMisses(CornerRule rule, std::uint64_t look_arounds) const {
    diagonal_jumps_[static_cast<std::size_t>(rule)].RecordMisses(look_arounds);
  }
  // Returns the index of horizontal jumps of a 4-connected search, under the same conditions.
  const TurnJumpIndex* turn_jumps() const { return turn_jumps(false); }
  void RecordTurnMisses(std::uint64_t look_arounds) const { turn_jumps_.RecordMisses(look_arounds); }

  // Return the index, made or repaired now if need be. They return null if there is no room for it, or if
  // `stop` has failed meanwhile.
  const DiagonalJumpIndex* MakeDiagonalJumpIndex(CornerRule rule, const StopCheck* stop = nullptr) const {
    return diagonal_jumps(rule, true, stop);
  }
  const TurnJumpIndex* MakeTurnJumpIndex(const StopCheck* stop = nullptr) const {
    return turn_jumps(true, stop);
  }

  // Leave the index, and the components of straight steps, to BuildInBackground, if they take long to make
  // and there is room for the index, which promised_bytes() tells of until it is made. They return whether
  // they do.
  // REQUIRES: the index was not made; no other thread knows this grid.
  bool TryPostponeDiagonalJumpIndex(CornerRule rule);
  bool TryPostponeTurnJumpIndex();

  // Return whether a search by jumps would first have to make the index, which no grid before had.
  bool WouldMakeDiagonalJumps(CornerRule rule) const;
  bool WouldMakeTurnJumps() const;

  // Returns whether an index lags so far behind that neither searches nor changes of the map are to make it.
  bool NeedsBackgroundBuild() const;
  // Makes those indexes that searches have paid for, and components that were left to it; returns whether it
  // made any index. It is meant for a background thread, as it costs up to some nanoseconds a cell. It stops
  // once `cancelled` is set.
  bool BuildInBackground(CancelFlag cancelled) const;
  // Lets lagging indexes, and components that are not made, follow those of `before`, an ancestor of this
  // grid, where those are closer. Components that a search is making are left to it: nobody waits. The cost
  // is a few pointers a band, and a look at each band that differs.
  void FollowCloser(const WalkGrid& before) const;

  // Returns the connected components: made when first asked for, and repaired from grid to grid from then on.
  // Once `stop` fails they end early: the grid must not be used any more then.
  const Components& components(Adjacency adjacency, const StopCheck* stop = nullptr) const;
  // Returns whether they are made.
  bool HasComponents(Adjacency adjacency) const {
    return components_[static_cast<std::size_t>(adjacency)].GetIfMade() != nullptr;
  }

  const IndexMemory& index_memory() const { return index_memory_; }

  // Makes the components that `other` has, from which this grid was made by more changes than are worth a
  // list. Jump indexes are left to searches, which have to pay for them. REQUIRES: no other thread knows this
  // grid.
  void PrepareLike(const WalkGrid& other);
  // Returns a grid of the same cells and components, whose jump indexes searches have to pay for again.
  std::shared_ptr<const WalkGrid> WithoutJumpIndexes() const;

  // Returns the bytes held by this grid, shared parts included.
  std::size_t memory_bytes() const { return sizeof(*this) + rows().memory_bytes() + index_bytes(); }
  // Returns those of them that are not the rows of cells.
  std::size_t index_bytes() const;
  // Returns what indexes will take that were left to BuildInBackground, here or on a grid before this, and
  // have yet to be made.
  std::size_t promised_bytes() const;
  // Returns the bytes held by this grid and not by `other`. REQUIRES: the grids are of one size.
  std::size_t BytesBeyond(const WalkGrid& other) const;

 private:
  // Leaves the jump indexes that `other` has to searches.
  void LagBehind(const WalkGrid& other);
  // The first says whether there is room, the second takes it.
  bool HasRoomFor(std::size_t index_bytes) const;
  bool TakeRoomFor(std::size_t index_bytes) const;
  const DiagonalJumpIndex* diagonal_jumps(CornerRule rule, bool now, CancelFlag cancelled = nullptr) const;
  const TurnJumpIndex* turn_jumps(bool now, CancelFlag cancelled = nullptr) const;
  template <typename Index>
  const Index* Find(const LazilyRepairedIndex<Index>& index, bool now, CancelFlag cancelled,
                    absl::FunctionRef<Index()> make) const;
  template <typename Index>
  bool TryPostpone(LazilyRepairedIndex<Index>& index) const;
  std::size_t CellCount() const {
    return static_cast<std::size_t>(width()) * static_cast<std::size_t>(height());
  }

  const IndexMemory index_memory_;
  // The indexes by corner rule.
  std::array<LazilyRepairedIndex<DiagonalJumpIndex>, kCornerRuleCount> diagonal_jumps_;
  LazilyRepairedIndex<TurnJumpIndex> turn_jumps_;
  // The components by adjacency.
  std::array<Lazy<Components>, kAdjacencyCount> components_;
};

}  // namespace waystar::core
