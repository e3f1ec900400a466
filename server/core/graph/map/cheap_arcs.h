// Arcs that are much cheaper for their length than the others of a graph, and a bound for the others.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "server/core/grid/cells/grid_settings.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

struct CheapArc {
  WorldPoint from;
  WorldPoint to;
  Cost cost = 0;
  // Cost per unit of length.
  double ratio = 0.0;

  friend bool operator==(const CheapArc&, const CheapArc&) = default;
};

// Lower bound of arc costs for heuristics. The cheapest arcs are listed individually, so that a single cheap
// arc does not weaken the bound on the cost per length everywhere else.
struct ArcCostBound {
  // Maximum number of cheap arcs; a heuristic checks each of them for every node.
  static constexpr std::size_t kMostCheap = 8;
  // An arc is listed only if its ratio is below this fraction of the least ratio of the others.
  static constexpr double kWorthwhile = 0.8;

  // At most kMostCheap, cheapest first.
  std::vector<CheapArc> cheap;
  // Minimum cost of all other arcs per unit of length; infinity if there are none.
  double least = std::numeric_limits<double>::infinity();

  friend bool operator==(const ArcCostBound&, const ArcCostBound&) = default;

  // Adds arcs. Arcs that are too many or not worth listing count as others. While there are no others to
  // compare with, all are listed, because later arcs may cost more. The result does not depend on the order
  // of arcs.
  void Add(std::vector<CheapArc> arcs);
  // Called after all arcs of a graph were added: if there are no others, the most expensive listed arc
  // becomes one.
  void Close();

  // Returns true if this bound, to which that of a part was added, may change when the part's bound does.
  bool DependsOnChange(const ArcCostBound& before, const ArcCostBound& after) const;

 private:
  void TakeDearestAsOther();
  void TakeOthers();

  // Minimum of the others before arcs not worth listing joined them; infinity if there were none. Arcs with a
  // higher ratio do not matter.
  double least_before_trim_ = std::numeric_limits<double>::infinity();
};

}  // namespace waystar::core
