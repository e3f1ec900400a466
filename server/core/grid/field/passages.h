// Passages: connections between cells of a map other than steps, for floods and for matrices over jump
// points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/types/span.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/field/flood_ground.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/search/agent.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Returns the cost of two paths in sequence, or the maximum Cost if the sum overflows, as it can with very
// many expensive portals.
inline Cost SaturatingSum(Cost a, Cost b) {
  constexpr Cost kGreatest = std::numeric_limits<Cost>::max();
  return a > kGreatest - b ? kGreatest : a + b;
}

// Connection between two walkable cells.
struct Passage {
  Cell from;
  Cell to;
  Cost cost = 0;
  // Null for a path through other maps; otherwise lives as long as the map.
  const Portal* portal = nullptr;
};

// Returns the portals within the map that the agent can use, in id order; two-way portals occur twice. Checks
// each portal of the map.
std::vector<Passage> OwnPassages(const GridMap& map, const Agent& agent);

// Edge from one cell of a flood to another.
struct Gate {
  // Indices of the ground. In a flood to its seeds, edges are reversed: `from` is the passage's target.
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  Cost cost = 0;
  const Portal* portal = nullptr;
};

// Passages between cells of a ground, by the cell at which a flood uses them.
//
// Thread safety: const methods may run concurrently.
class FloodGates {
 public:
  // Reads the passages with both ends on the ground, for floods in that sense. Reuses memory. Costs one bit
  // per cell of the ground, or nothing without passages.
  // REQUIRES: the passages belong to the ground's map.
  void Read(const FloodGround& ground, absl::Span<const Passage> passages, FloodSense sense);

  bool empty() const { return gates_.empty(); }
  bool IsAt(std::size_t index) const { return (at_[index / kWordBits] >> (index % kWordBits) & 1U) != 0; }
  // Returns the gates of a cell in the order in which they were read.
  absl::Span<const Gate> From(std::uint32_t index) const;

  std::size_t memory_bytes() const {
    return gates_.capacity() * sizeof(Gate) + at_.capacity() * sizeof(Word);
  }

 private:
  // Gates, sorted by `from`.
  std::vector<Gate> gates_;
  // One bit per cell, set if gates start there.
  std::vector<Word> at_;
};

// Dijkstra's algorithm over the exits of passages, whose edges are a walk followed by a passage. A row holds
// the costs of walks from one cell, first to the ends, then to each entrance; kUnreached if there is no walk.
//
// Thread safety: const methods may run concurrently.
class PassageCosts {
 public:
  static constexpr Cost kUnreached = std::numeric_limits<Cost>::max();

  // If `is_reversed`, passages are used backwards.
  PassageCosts(absl::Span<const Passage> passages, bool is_reversed, std::size_t end_count);

  // Cells where passages start and cells where they end, without duplicates.
  const std::vector<Cell>& entrances() const { return entrances_; }
  const std::vector<Cell>& exits() const { return exits_; }

  // Returns the row of an exit. Fill all rows before calling Improve.
  std::vector<Cost>& RowOfExit(std::size_t exit) { return rows_[exit]; }

  // Lowers the costs of the ends in a row to those of the cheapest paths. Costs a nanosecond per reached exit
  // times (passages + exits + ends).
  void Improve(std::vector<Cost>& row) const;

 private:
  struct Link {
    std::size_t entrance = 0;
    std::size_t exit = 0;
    Cost cost = 0;
  };

  const std::size_t end_count_;
  std::vector<Cell> entrances_;
  std::vector<Cell> exits_;
  std::vector<Link> links_;
  std::vector<std::vector<Cost>> rows_;
};

}  // namespace waystar::core
