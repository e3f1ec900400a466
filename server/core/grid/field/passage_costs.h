// Passages: connections between cells of a map other than steps.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "absl/types/span.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/cells/grid_settings.h"
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
