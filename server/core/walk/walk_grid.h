// Where an agent may stand, and what searches derive from that.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "server/core/grid/bit_plane.h"
#include "server/core/grid/bit_row.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/corner_rule.h"
#include "server/core/grid/lazy.h"
#include "server/core/walk/cancelled.h"
#include "server/core/walk/change_log.h"
#include "server/core/walk/component_block.h"
#include "server/core/walk/components.h"
#include "server/core/walk/lagging_index.h"

namespace waystar::core {

class DiagonalStops;
class TurnStops;

// The cells on which an agent of one footprint may stand, as rows of bits and, transposed, as columns.
//
// Thread safety: immutable, so any number of threads may read it.
class WalkGrid {
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

  int width() const { return rows_.width(); }
  int height() const { return rows_.height(); }
  bool Contains(Cell cell) const {
    return static_cast<unsigned>(cell.x) < static_cast<unsigned>(width()) &&
           static_cast<unsigned>(cell.y) < static_cast<unsigned>(height());
  }

  // False off the map.
  bool IsWalkable(Cell cell) const { return rows_.Test(cell); }

  // Bits of the walkable cells of row y, cell x being bit x + 1; see bit_row.h.
  // REQUIRES: -1 <= y <= height(); the rows just off the map are empty.
  const Word* Row(int y) const { return rows_.row(y); }
  // Bits of the walkable cells of column x, cell y being bit y + 1. REQUIRES: -1 <= x <= width().
  const Word* Column(int x) const { return columns_.row(x); }

  const BitPlane& rows() const { return rows_; }
  const BitPlane& columns() const { return columns_; }

  // Where diagonal jumps stop under that rule. Null if it would not fit into the memory for indexes, or lags
  // behind the grid (LaggingIndex): then searches do without, and note how often they looked around in vain.
  const DiagonalStops* diagonal_stops(CornerRule rule) const { return diagonal_stops(rule, false); }
  void NoteInVain(CornerRule rule, std::uint64_t look_arounds) const {
    diagonal_stops_[static_cast<std::size_t>(rule)].NoteInVain(look_arounds);
  }
  // Where horizontal jumps of a 4-connected search stop; likewise.
  const TurnStops* turn_stops() const { return turn_stops(false); }
  void NoteTurnsInVain(std::uint64_t look_arounds) const { turn_stops_.NoteInVain(look_arounds); }

  // The same, made or repaired now if need be. Null if there is no room.
  const DiagonalStops* MakeDiagonalStops(CornerRule rule) const { return diagonal_stops(rule, true); }
  const TurnStops* MakeTurnStops() const { return turn_stops(true); }

  // Whether any of those lags so far behind that neither searches nor who changes the map are to make it.
  bool HasOverdueIndexes() const;
  // Makes those of them that searches have paid for. For a thread that has the time: costs up to some
  // nanoseconds a cell. Leaves it once `cancelled` is set. Whether it made any.
  bool MakeOverdueIndexes(CancelFlag cancelled) const;
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
  // The cells alone.
  WalkGrid(BitPlane rows, BitPlane columns);

  bool HasRoomFor(std::size_t index_bytes) const;
  const DiagonalStops* diagonal_stops(CornerRule rule, bool now, CancelFlag cancelled = nullptr) const;
  const TurnStops* turn_stops(bool now, CancelFlag cancelled = nullptr) const;
  template <typename Index>
  const Index* Find(const LaggingIndex<Index>& index, bool now, CancelFlag cancelled,
                    absl::FunctionRef<Index()> make) const;
  std::size_t CellCount() const {
    return static_cast<std::size_t>(width()) * static_cast<std::size_t>(height());
  }

  const std::size_t max_index_bytes_;
  BitPlane rows_;
  BitPlane columns_;
  // By corner rule.
  std::array<LaggingIndex<DiagonalStops>, kCornerRuleCount> diagonal_stops_;
  LaggingIndex<TurnStops> turn_stops_;
  // By adjacency.
  std::array<Lazy<Components>, kAdjacencyCount> components_;
};

}  // namespace waystar::core
