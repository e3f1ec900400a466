// The goals of a search for the nearest of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/cost.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/open_ground.h"
#include "server/core/search/node_table.h"

namespace waystar::core {

// Keeps the best goal so far, and bounds the distance to the others.
//
// Thread safety: const methods may run beside each other.
class GoalSet {
 public:
  struct Goal {
    PackedCell cell = 0;
    std::size_t index = 0;

    bool operator<(const Goal& other) const {
      return cell != other.cell ? cell < other.cell : index < other.index;
    }
  };

  // `goals` are those that can be reached; their indexes are those in the query's list.
  GoalSet(const GridMap& map, std::vector<Goal> goals)
      : goals_(std::move(goals)), ground_(OpenGround<Cost>::Of(map)) {
    std::sort(goals_.begin(), goals_.end());
  }

  absl::Span<const Goal> goals() const { return goals_; }
  // Returns whether the goals are few enough to be looked at one by one.
  bool is_small() const { return goals_.size() <= kFew; }

  // Returns the least octile distance, or zero if there are many goals. It is consistent, as each is.
  Cost Heuristic(Cell cell) const {
    Cost least = is_small() ? std::numeric_limits<Cost>::max() : 0;
    if (is_small()) {
      for (const Goal& goal : goals_) {
        least = std::min(least, Distance(cell, goal));
      }
    }
    return least;
  }
  Cost Distance(Cell cell, const Goal& goal) const {
    const Cell at = Unpack(goal.cell);
    return ground_.CostOf(at.x - cell.x, at.y - cell.y);
  }

  // Returns the first of the goals on the cell, or null if there is none.
  const Goal* At(Cell cell) const {
    const auto found = std::lower_bound(goals_.begin(), goals_.end(), Goal{Pack(cell), 0});
    return found != goals_.end() && found->cell == Pack(cell) ? &*found : nullptr;
  }

  // Returns whether a way of that cost to the goal would be better than any found so far.
  bool Improves(Cost cost, const Goal& goal) const {
    return cost < best_cost_ || (cost == best_cost_ && goal.index < best_index_);
  }
  void Improve(Cost cost, const Goal& goal) {
    best_cost_ = cost;
    best_index_ = goal.index;
  }

  bool is_found() const { return best_cost_ != std::numeric_limits<Cost>::max(); }
  Cost best_cost() const { return best_cost_; }
  std::size_t best_index() const { return best_index_; }

 private:
  static constexpr std::size_t kFew = 16;

  std::vector<Goal> goals_;
  OpenGround<Cost> ground_;
  Cost best_cost_ = std::numeric_limits<Cost>::max();
  std::size_t best_index_ = 0;
};

}  // namespace waystar::core
