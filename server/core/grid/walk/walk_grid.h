// Walkable cells of an agent, with the indexes that searches derive from them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "server/base/lazy.h"
#include "server/base/memory_account.h"
#include "server/base/stop_check.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/components/component_block.h"
#include "server/core/grid/components/components.h"
#include "server/core/grid/jumps/lazily_repaired_index.h"

namespace waystar::core {

class DiagonalJumpIndex;
class TurnJumpIndex;

// Memory limit of the indexes over a grid and its successors.
struct IndexMemory {
  std::size_t max_bytes = std::size_t{64} << 20;
  // Account in which the memory is reserved and charged; null for none.
  std::shared_ptr<MemoryAccount> account;

  IndexMemory DividedBy(std::size_t grids) const { return {max_bytes / grids, account}; }
};

// Walkable cells of agents of one footprint, with components and jump indexes.
//
// Thread safety: immutable.
class WalkGrid : public WalkCells {
 public:
  // The indexes over the grid take at most `memory` together.
  explicit WalkGrid(BitPlane rows, IndexMemory memory = {});
  explicit WalkGrid(WalkCells cells, IndexMemory memory);
  // Makes the grid with cells `rows` from the previous grid and the changes between them. Cost is
  // proportional to the changes. Jump indexes are left to the next search, unless searches have paid for them
  // or they would lag too far behind.
  WalkGrid(const WalkGrid& before, BitPlane rows, absl::Span<const WordChange> changes);
  ~WalkGrid();
  WalkGrid(const WalkGrid&) = delete;
  WalkGrid& operator=(const WalkGrid&) = delete;

  // Returns the index of diagonal jumps under that rule. Returns null if it does not fit into the index
  // memory, or lags behind the grid (LazilyRepairedIndex). Searches then run without it. All searches record
  // the look-arounds that it spares them, or would spare them.
  const DiagonalJumpIndex* diagonal_jumps(CornerRule rule) const { return diagonal_jumps(rule, false); }
  void RecordSpared(CornerRule rule, std::uint64_t look_arounds) const {
    diagonal_jumps_[static_cast<std::size_t>(rule)].RecordSpared(look_arounds, CellCount());
  }
  // Returns the index of horizontal jumps of a 4-connected search, under the same conditions.
  const TurnJumpIndex* turn_jumps() const { return turn_jumps(false); }
  void RecordSparedTurns(std::uint64_t look_arounds) const {
    turn_jumps_.RecordSpared(look_arounds, CellCount());
  }

  // Return the index, made or repaired first if necessary. Return null if there is no room for it or `stop`
  // has failed.
  const DiagonalJumpIndex* MakeDiagonalJumpIndex(CornerRule rule, const StopCheck* stop = nullptr) const {
    return diagonal_jumps(rule, true, stop);
  }
  const TurnJumpIndex* MakeTurnJumpIndex(const StopCheck* stop = nullptr) const {
    return turn_jumps(true, stop);
  }

  // Leave the index, and the components of straight steps, to BuildInBackground, if they take long to make
  // and there is room for the index, which promised_bytes() includes until it is made. Return true if they
  // are left.
  // REQUIRES: the index was not made; no other thread has access to this grid.
  bool TryPostponeDiagonalJumpIndex(CornerRule rule);
  bool TryPostponeTurnJumpIndex();

  // Return true if a jump search would first have to make the index, which no earlier grid had.
  bool WouldMakeDiagonalJumps(CornerRule rule) const;
  bool WouldMakeTurnJumps() const;

  // Returns true if an index lags so far behind that only a background thread should make it.
  bool NeedsBackgroundBuild() const;
  // Makes the indexes that searches have paid for, and the components left to it. Returns true if it made an
  // index. For a background thread, since it costs up to several nanoseconds per cell. Stops once `cancelled`
  // is set.
  bool BuildInBackground(CancelFlag cancelled) const;
  // Makes lagging indexes and missing components follow those of `before`, an ancestor of this grid, where
  // those are closer. Never waits: components that a search is making are skipped. Costs a few pointers per
  // band, and a check of each band that differs.
  void FollowCloser(const WalkGrid& before) const;

  // Returns the connected components. They are made on first use and repaired from grid to grid afterwards.
  // Returns early once `stop` fails; the grid must not be used then.
  const Components& components(Adjacency adjacency, const StopCheck* stop = nullptr) const;
  // Returns true if the components are made.
  bool HasComponents(Adjacency adjacency) const {
    return components_[static_cast<std::size_t>(adjacency)].GetIfMade() != nullptr;
  }

  const IndexMemory& index_memory() const { return index_memory_; }

  // Makes the components that `other` has, from which this grid was made by too many changes to list. Jump
  // indexes are left to searches, which must pay for them.
  // REQUIRES: no other thread has access to this grid.
  void PrepareLike(const WalkGrid& other);
  // Returns a grid with the same cells and components, for whose jump indexes searches must pay again.
  std::shared_ptr<const WalkGrid> WithoutJumpIndexes() const;

  // Returns the bytes held by this grid, including shared parts.
  std::size_t memory_bytes() const { return sizeof(*this) + rows().memory_bytes() + index_bytes(); }
  // Returns the part of memory_bytes that is not the rows of cells.
  std::size_t index_bytes() const;
  // Returns the bytes of indexes left to BuildInBackground, here or on an earlier grid, that are not made
  // yet.
  std::size_t promised_bytes() const;
  // Returns the bytes held by this grid and not by `other`.
  // REQUIRES: the grids have the same size.
  std::size_t BytesBeyond(const WalkGrid& other) const;

 private:
  // Lets the jump indexes lag behind those of `other`, so that searches must pay for them.
  void LagBehind(const WalkGrid& other);
  // HasRoomFor checks whether there is room; TakeRoomFor reserves it.
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
  // Indexes of diagonal jumps by corner rule.
  std::array<LazilyRepairedIndex<DiagonalJumpIndex>, kCornerRuleCount> diagonal_jumps_;
  LazilyRepairedIndex<TurnJumpIndex> turn_jumps_;
  // Components by adjacency.
  std::array<Lazy<Components>, kAdjacencyCount> components_;
};

}  // namespace waystar::core
