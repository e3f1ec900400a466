// Passages: how an agent gets from one cell of a map to another without steps.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/cost.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/portal.h"
#include "server/core/search/agent.h"

namespace waystar::core {

// Returns the cost of two ways in a row, or the greatest Cost if that is less: a way through very many dear
// portals costs more than a Cost holds.
inline Cost SaturatingSum(Cost a, Cost b) {
  constexpr Cost kGreatest = std::numeric_limits<Cost>::max();
  return a > kGreatest - b ? kGreatest : a + b;
}

// A passage between two cells, both of which are free.
struct Passage {
  Cell from;
  Cell to;
  Cost cost = 0;
  // Null if it leads by way of other maps; else it lives as long as the map.
  const Portal* portal = nullptr;
};

// Returns the portals from the map to itself that the agent can pass, in the order of their ids; those that
// lead both ways occur twice. It costs a look at each portal of the map.
std::vector<Passage> OwnPassages(const GridMap& map, const Agent& agent);

// Runs Dijkstra's algorithm over the cells that passages lead to, whose edges are a walk and a passage. Rows
// hold the costs of walks from one cell, first to the ends, then to each entrance; kUnreached where none
// leads.
//
// Thread safety: const methods may run beside each other.
class PassageCosts {
 public:
  static constexpr Cost kUnreached = std::numeric_limits<Cost>::max();

  // With `is_reversed`, ways go from where passages lead to, to where they begin.
  PassageCosts(absl::Span<const Passage> passages, bool is_reversed, std::size_t end_count);

  // The cells where passages begin, and those where they lead to; no cell occurs twice.
  const std::vector<Cell>& entrances() const { return entrances_; }
  const std::vector<Cell>& exits() const { return exits_; }

  // Returns the row of an exit. Fill all of them before Improve.
  std::vector<Cost>& RowOfExit(std::size_t exit) { return rows_[exit]; }

  // Lowers the costs of the ends in a row to those of the cheapest ways. It costs a nanosecond for each exit
  // that is reached, times passages, exits and ends.
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
