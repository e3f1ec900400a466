// Arcs that cost far less for their length than the others of a graph, and the least that the others cost.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "server/core/graph/world_point.h"
#include "server/core/grid/cost.h"

namespace waystar::core {

struct CheapArc {
  WorldPoint from;
  WorldPoint to;
  Cost cost = 0;
  // The cost per unit of length.
  double ratio = 0.0;

  friend bool operator==(const CheapArc&, const CheapArc&) = default;
};

// The arcs of which a heuristic must know one by one, so that a single cheap one does not spoil the least
// cost per length that it may count on everywhere else.
struct ArcCostBound {
  // A heuristic looks at so many for each node that it is asked of.
  static constexpr std::size_t kMostCheap = 8;
  // What costs more than this part of what the others cost at the least is not worth that.
  static constexpr double kWorthwhile = 0.8;

  // At most kMostCheap, the cheapest first.
  std::vector<CheapArc> cheap;
  // The least cost of any other arc per unit of length; infinity if there is none.
  double least = std::numeric_limits<double>::infinity();

  friend bool operator==(const ArcCostBound&, const ArcCostBound&) = default;

  // Takes the arcs in. Those that are too many or not worth it count as others. As long as there are none to
  // compare with, all are kept: what is added later may cost more. So the order of arcs makes no difference.
  void Add(std::vector<CheapArc> arcs);
  // Once all arcs of a graph are added: if none counts as another, the dearest does.
  void Close();

  // Returns whether this bound, to which that of a part was added, may be another once the part's changes.
  bool DependsOnChange(const ArcCostBound& before, const ArcCostBound& after) const;

 private:
  void TakeDearestAsOther();
  void TakeOthers();

  // The least of the others before those joined them that are not worth it. What costs more is of no account;
  // it is infinity if there were no others.
  double least_before_trim_ = std::numeric_limits<double>::infinity();
};

}  // namespace waystar::core
