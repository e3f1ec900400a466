// Goals of a search for the nearest goal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/cost_floor.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/search/octile.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Goals with the best one found so far, and lower bounds on the distance to the others. They form a k-d tree
// of bounding boxes (Bentley, 1975), so that a query visits few of them. Up to kLeafGoals goals are one leaf.
//
// Thread safety: const methods may run concurrently.
class GoalSet {
 public:
  struct Goal {
    Cell cell;
    std::size_t index = 0;
  };

  // Bounding box of the goals of a subtree; both corners are included.
  struct Box {
    Cell first;
    Cell last;
    // Minimum index of the goals.
    std::size_t least_index = 0;
    // Range of the goals in goals_.
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    // Index of the second child; the first child follows this box. 0 in a leaf.
    std::uint32_t second = 0;
  };

  // Starts an empty set for the map; keeps memory.
  void Start(const GridMap& map);
  // Excludes paths that cost more.
  void Limit(Cost max_cost) { best_cost_ = max_cost; }
  // Adds a reachable goal, with its index in the query's list.
  void Add(Cell cell, std::size_t index) { goals_.push_back({cell, index}); }
  // Returns the added goals in unspecified order.
  absl::Span<const Goal> goals() const { return goals_; }
  // Builds the tree. The methods below may be called only afterwards.
  // REQUIRES: there is a goal.
  void Finish();

  // Returns the minimum octile distance to a goal over the map's CostFloor. It is consistent, being the
  // minimum of consistent functions.
  Cost Heuristic(Cell cell) const {
    return HeuristicTo(cell, [](std::size_t /*index*/) { return true; });
  }

  // Returns true if a path of that cost to the goal of that index would be better than the best so far.
  bool Improves(Cost cost, std::size_t index) const {
    return cost < best_cost_ || (cost == best_cost_ && index < best_index_);
  }
  void Improve(Cost cost, std::size_t index) {
    best_cost_ = cost;
    best_index_ = index;
  }

  // Returns true if a path of cost g to the cell can be extended to one that Improves, where f is g plus the
  // cell's heuristic. If f equals the best cost, a goal of lower index must be as near.
  bool MayImprove(Cell cell, Cost g, Cost f) const {
    return f < best_cost_ || (f == best_cost_ && HeuristicTo(cell, [&](std::size_t index) {
                                                   return index < best_index_;
                                                 }) <= best_cost_ - g);
  }

  // Calls Improve for each better goal that is visible from `cell`, which was reached at cost g. sees(goal
  // cell) returns true if a path as short as the distance leads there. Boxes for which may_see(box) is false
  // are skipped.
  template <typename MaySee, typename Sees>
  void LookAround(Cell cell, Cost g, MaySee may_see, Sees sees) {
    LookInto(0, cell, g, may_see, sees);
  }

  std::size_t memory_bytes() const {
    return goals_.capacity() * sizeof(goals_[0]) + boxes_.capacity() * sizeof(boxes_[0]);
  }

  bool is_found() const { return best_index_ != kNoIndex; }
  Cost best_cost() const { return best_cost_; }
  std::size_t best_index() const { return best_index_; }

 private:
  static constexpr std::size_t kNoIndex = std::numeric_limits<std::size_t>::max();
  // Maximum goals in a leaf; checking this many takes about as long as boxes around them would.
  static constexpr std::size_t kLeafGoals = 16;

  // Builds the boxes of the goals from `begin` to `end`. Returns the index of the root.
  std::uint32_t Divide(std::uint32_t begin, std::uint32_t end);

  static Cost Distance(const OpenGround<Cost>& ground, Cell from, Cell to) {
    return ground.CostOf(to.x - from.x, to.y - from.y);
  }
  // Returns a lower bound on the distance to the goals of the box.
  static Cost DistanceTo(const OpenGround<Cost>& ground, const Box& box, Cell cell) {
    return ground.CostTo(
        {box.first.x, box.first.y, box.last.x - box.first.x + 1, box.last.y - box.first.y + 1}, cell);
  }

  absl::Span<const Goal> GoalsOf(const Box& box) const {
    return absl::MakeConstSpan(goals_).subspan(box.begin, box.end - box.begin);
  }

  // Returns the heuristic for the goals that satisfy counts(index), or the highest cost if there are none.
  template <typename Counts>
  Cost HeuristicTo(Cell cell, Counts counts) const {
    const Cost cost = LeastDistance(ground_, cell, counts);
    if (places_.empty() || cost == std::numeric_limits<Cost>::max()) {
      return cost;
    }
    return cost + places_.Lower(LeastDistance(places_.elsewhere(), cell, counts), cell);
  }
  // Returns the minimum distance to a goal that satisfies counts(index), or the highest cost if there is
  // none.
  // REQUIRES: if counts(i), then counts(k) for all k < i.
  template <typename Counts>
  Cost LeastDistance(const OpenGround<Cost>& ground, Cell cell, Counts counts) const {
    Cost least = std::numeric_limits<Cost>::max();
    Approach(0, ground, cell, counts, least);
    return least;
  }
  template <typename Counts>
  void Approach(std::uint32_t at, const OpenGround<Cost>& ground, Cell cell, Counts counts,
                Cost& least) const {
    const Box& box = boxes_[at];
    if (box.second == 0) {
      for (const Goal& goal : GoalsOf(box)) {
        if (counts(goal.index)) {
          least = std::min(least, Distance(ground, cell, goal.cell));
        }
      }
      return;
    }
    ForHalves(at, ground, cell, [&](std::uint32_t half, Cost distance) {
      if (distance < least && counts(boxes_[half].least_index)) {
        Approach(half, ground, cell, counts, least);
      }
    });
  }

  template <typename MaySee, typename Sees>
  void LookInto(std::uint32_t at, Cell cell, Cost g, MaySee may_see, Sees sees) {
    const Box& box = boxes_[at];
    if (box.second == 0) {
      for (const Goal& goal : GoalsOf(box)) {
        const Cost cost = g + Distance(ground_, cell, goal.cell);
        if (Improves(cost, goal.index) && sees(goal.cell)) {
          Improve(cost, goal.index);
        }
      }
      return;
    }
    ForHalves(at, ground_, cell, [&](std::uint32_t half, Cost distance) {
      if (Improves(g + distance, boxes_[half].least_index) && may_see(boxes_[half])) {
        LookInto(half, cell, g, may_see, sees);
      }
    });
  }

  // Calls visit(half, DistanceTo(half)) for both children of a box, the nearer one first.
  template <typename Visit>
  void ForHalves(std::uint32_t at, const OpenGround<Cost>& ground, Cell cell, Visit visit) const {
    std::uint32_t nearer = at + 1;
    std::uint32_t farther = boxes_[at].second;
    Cost near = DistanceTo(ground, boxes_[nearer], cell);
    Cost far = DistanceTo(ground, boxes_[farther], cell);
    if (far < near) {
      std::swap(nearer, farther);
      std::swap(near, far);
    }
    visit(nearer, near);
    visit(farther, far);
  }

  // Ground of the map's CostFloor::everywhere.
  OpenGround<Cost> ground_;
  CheapPlaces places_;
  // Goals in the order of the tree's leaves.
  std::vector<Goal> goals_;
  // Boxes of the tree in preorder.
  std::vector<Box> boxes_;
  Cost best_cost_ = std::numeric_limits<Cost>::max();
  std::size_t best_index_ = kNoIndex;
};

// Tracks the cell nearest to the goal in a straight line; among equals, the one that is cheaper to reach,
// then the first in row-major order. Initially the start.
class NearestCell {
 public:
  NearestCell(Cell start, Cell goal, Lattice lattice = Lattice::kSquare)
      : lattice_(lattice), goal_(goal), cell_(start) {}

  void Consider(Cell cell, Cost g) {
    const std::int64_t distance = SquaredDistance(lattice_, cell, goal_);
    if (distance > distance_ ||
        (distance == distance_ && (g > g_ || (g == g_ && !RowMajorLess(cell, cell_))))) {
      return;
    }
    cell_ = cell;
    distance_ = distance;
    g_ = g;
  }

  Cell cell() const { return cell_; }
  // Returns the cost of the path to the cell.
  Cost cost() const { return g_; }

 private:
  Lattice lattice_;
  Cell goal_;
  Cell cell_;
  std::int64_t distance_ = std::numeric_limits<std::int64_t>::max();
  Cost g_ = 0;
};

}  // namespace waystar::core
