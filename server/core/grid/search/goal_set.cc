#include "server/core/grid/search/goal_set.h"

#include <tuple>

namespace waystar::core {

void GoalSet::Start(const GridMap& map) {
  ground_ = map.cost_floor().everywhere;
  places_ = CheapPlaces(map.cost_floor());
  goals_.clear();
  boxes_.clear();
  best_cost_ = std::numeric_limits<Cost>::max();
  best_index_ = kNoIndex;
}

void GoalSet::Finish() {
  if (!places_.empty()) {
    for (const Goal& goal : goals_) {
      places_.AddGoal(goal.cell);
    }
    places_.Finish();
  }
  Divide(0, static_cast<std::uint32_t>(goals_.size()));
}

std::uint32_t GoalSet::Divide(std::uint32_t begin, std::uint32_t end) {
  Box box{.first = goals_[begin].cell,
          .last = goals_[begin].cell,
          .least_index = kNoIndex,
          .begin = begin,
          .end = end};
  for (const Goal& goal : GoalsOf(box)) {
    box.first = {std::min(box.first.x, goal.cell.x), std::min(box.first.y, goal.cell.y)};
    box.last = {std::max(box.last.x, goal.cell.x), std::max(box.last.y, goal.cell.y)};
    box.least_index = std::min(box.least_index, goal.index);
  }
  const auto at = static_cast<std::uint32_t>(boxes_.size());
  boxes_.push_back(box);
  if (end - begin > kLeafGoals) {
    const std::uint32_t middle = begin + (end - begin) / 2;
    const bool is_wide = box.last.x - box.first.x > box.last.y - box.first.y;
    std::nth_element(goals_.begin() + begin, goals_.begin() + middle, goals_.begin() + end,
                     [&](const Goal& a, const Goal& b) {
                       return is_wide ? std::tie(a.cell.x, a.cell.y) < std::tie(b.cell.x, b.cell.y)
                                      : std::tie(a.cell.y, a.cell.x) < std::tie(b.cell.y, b.cell.x);
                     });
    Divide(begin, middle);
    boxes_[at].second = Divide(middle, end);
  }
  return at;
}

}  // namespace waystar::core
