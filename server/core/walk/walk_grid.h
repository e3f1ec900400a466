// Where an agent may stand, and what searches derive from that.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
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

// The cells on which an agent of one footprint may stand, with the indexes that searches derive from them.
//
// Thread safety: immutable, so any number of threads may read it.
class WalkGrid : public WalkCells {
 public:
  static constexpr std::size_t kDefaultIndexBytes = std::size_t{64} << 20;

  // Indexes over the grid take at most `max_index_bytes` together.
  explicit WalkGrid(BitPlane rows, std::size_t max_index_bytes = kDefaultIndexBytes);
  // The grid whose cells are `rows`, given the grid before and every change that led from one to the other.
  // Costs in proportion to the changes. What jumps derive from the cells is left to who searches next, unless
  // searches have paid for it, or it would lag too far behind.
  WalkGrid(const WalkGrid& before, BitPlane rows, absl::Span<const WordChange> changes);
  ~WalkGrid();
  WalkGrid(const WalkGrid&) = delete;
  WalkGrid& operator=(const WalkGrid&) = delete;

  // Where diagonal jumps stop under that rule. Null if it would not fit into the memory for indexes, or lags
  // behind the grid (LazilyRepairedIndex): then searches do without, and note how often they looked around in
  // vain.
  const DiagonalJumpIndex* diagonal_jumps(CornerRule rule) const { return diagonal_jumps(rule, false); }
  void RecordMisses(CornerRule rule, std::uint64_t look_arounds) const {
    diagonal_jumps_[static_cast<std::size_t>(rule)].RecordMisses(look_arounds);
  }
  // Where horizontal jumps of a 4-connected search stop; likewise.
  const TurnJumpIndex* turn_jumps() const { return turn_jumps(false); }
  void RecordTurnMisses(std::uint64_t look_arounds) const { turn_jumps_.RecordMisses(look_arounds); }

  // The same, made or repaired now if need be. Null if there is no room.
  const DiagonalJumpIndex* MakeDiagonalJumpIndex(CornerRule rule) const { return diagonal_jumps(rule, true); }
  const TurnJumpIndex* MakeTurnJumpIndex() const { return turn_jumps(true); }

  // Whether any of those lags so far behind that neither searches nor who changes the map are to make it.
  bool NeedsBackgroundBuild() const;
  // Makes those of them that searches have paid for. For a thread that has the time: costs up to some
  // nanoseconds a cell. Leaves it once `cancelled` is set. Whether it made any.
  bool BuildInBackground(CancelFlag cancelled) const;
  // Has what lags behind go by the indexes of `before`, a grid that this one came of, where those are closer.
  // Costs a few pointers a band, and a look at each band that differs.
  void FollowCloser(const WalkGrid& before) const;

  // Which cells an agent can go between: made when first asked for, from then on repaired from grid to grid.
  const Components& components(Adjacency adjacency) const;

  std::size_t max_index_bytes() const { return max_index_bytes_; }

  // Makes what was ever asked for of another grid, which this one came of by more changes than are worth a
  // list; but what takes too long is overdue. REQUIRES: nobody else knows this one.
  void PrepareLike(const WalkGrid& other);

  // Held by this grid, shared parts included.
  std::size_t memory_bytes() const;
  // Held by this grid and not by `other`. REQUIRES: the grids are of one size.
  std::size_t BytesBeyond(const WalkGrid& other) const;

 private:
  bool HasRoomFor(std::size_t index_bytes) const;
  const DiagonalJumpIndex* diagonal_jumps(CornerRule rule, bool now, CancelFlag cancelled = nullptr) const;
  const TurnJumpIndex* turn_jumps(bool now, CancelFlag cancelled = nullptr) const;
  template <typename Index>
  const Index* Find(const LazilyRepairedIndex<Index>& index, bool now, CancelFlag cancelled,
                    absl::FunctionRef<Index()> make) const;
  std::size_t CellCount() const {
    return static_cast<std::size_t>(width()) * static_cast<std::size_t>(height());
  }

  const std::size_t max_index_bytes_;
  // By corner rule.
  std::array<LazilyRepairedIndex<DiagonalJumpIndex>, kCornerRuleCount> diagonal_jumps_;
  LazilyRepairedIndex<TurnJumpIndex> turn_jumps_;
  // By adjacency.
  std::array<Lazy<Components>, kAdjacencyCount> components_;
};

}  // namespace waystar::core
