// The goals of a search for the nearest of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/cost.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/open_ground.h"
#include "server/core/search/cheap_places.h"

namespace waystar::core {

// Keeps the best goal so far, and bounds the distance to the others. The goals are the leaves of a tree of
// boxes (a k-d tree: Bentley, 1975), so that the nearest of many is found by a look at a few; up to
// kLeafGoals are one leaf, a plain list.
//
// Thread safety: const methods may run beside each other.
class GoalSet {
 public:
  struct Goal {
    Cell cell;
    std::size_t index = 0;
  };

  // The cells from `first` to `last`, both included, hold all goals of a part of the tree.
  struct Box {
    Cell first;
    Cell last;
    // The least index of the goals.
    std::size_t least_index = 0;
    // The goals, in the order of the tree.
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    // The box of the second half; that of the first half follows this one. Zero in a leaf.
    std::uint32_t second = 0;
  };

  // Begins a set of goals on the map, without any; memory is kept.
  void Start(const GridMap& map);
  // Adds a goal that can be reached, by its index in the query's list.
  void Add(Cell cell, std::size_t index) { goals_.push_back({cell, index}); }
  // Returns those added, in no order of meaning.
  absl::Span<const Goal> goals() const { return goals_; }
  // Ends the set. REQUIRES: there is a goal. What follows may be called only after this.
  void Finish();

  // Returns the least octile distance to a goal over the map's CostFloor. It is consistent, as the distance
  // to each is.
  Cost Heuristic(Cell cell) const {
    return HeuristicTo(cell, [](std::size_t /*index*/) { return true; });
  }

  // Returns whether a way of that cost to the goal of that index would be better than any found so far.
  bool Improves(Cost cost, std::size_t index) const {
    return cost < best_cost_ || (cost == best_cost_ && index < best_index_);
  }
  void Improve(Cost cost, std::size_t index) {
    best_cost_ = cost;
    best_index_ = index;
  }

  // Returns whether a way of cost g to the cell can be the beginning of one that Improves, where f is g and
  // the heuristic of the cell. If f only equals the best cost, an earlier goal must be as near.
  bool MayImprove(Cell cell, Cost g, Cost f) const {
    return f < best_cost_ || (f == best_cost_ && HeuristicTo(cell, [&](std::size_t index) {
                                                   return index < best_index_;
                                                 }) <= best_cost_ - g);
  }

  // Improves by each goal that `cell`, reached at cost g, sees: sees(cell of a goal) tells whether a way as
  // long as the distance leads there. Where may_see(box) is false, no goal of the box is asked about.
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
  // A list of so many is about as quick as the boxes above it.
  static constexpr std::size_t kLeafGoals = 16;

  // Makes the boxes of the goals from `begin` to `end`. Returns the first.
  std::uint32_t Divide(std::uint32_t begin, std::uint32_t end);

  static Cost Distance(const OpenGround<Cost>& ground, Cell from, Cell to) {
    return ground.CostOf(to.x - from.x, to.y - from.y);
  }
  // Returns a bound on the distance to the goals of the box.
  static Cost DistanceTo(const OpenGround<Cost>& ground, const Box& box, Cell cell) {
    return ground.CostTo(
        {box.first.x, box.first.y, box.last.x - box.first.x + 1, box.last.y - box.first.y + 1}, cell);
  }

  absl::Span<const Goal> GoalsOf(const Box& box) const {
    return absl::MakeConstSpan(goals_).subspan(box.begin, box.end - box.begin);
  }

  // Returns the heuristic of the goals of which counts(index), or the highest cost if there are none.
  template <typename Counts>
  Cost HeuristicTo(Cell cell, Counts counts) const {
    const Cost cost = LeastDistance(ground_, cell, counts);
    if (places_.empty() || cost == std::numeric_limits<Cost>::max()) {
      return cost;
    }
    return cost + places_.Lower(LeastDistance(places_.elsewhere(), cell, counts), cell);
  }
  // Returns the least distance to a goal of which counts(index), or the highest cost if there is none. If an
  // index counts, lower ones do.
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

  // Calls visit(half, its DistanceTo the cell) for both halves of a box, the nearer one first.
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

  // CostFloor::everywhere.
  OpenGround<Cost> ground_;
  CheapPlaces places_;
  // In the order of the tree.
  std::vector<Goal> goals_;
  // The first is that of all goals.
  std::vector<Box> boxes_;
  Cost best_cost_ = std::numeric_limits<Cost>::max();
  std::size_t best_index_ = kNoIndex;
};

}  // namespace waystar::core
