#include "server/core/query/path_plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "server/core/grid/walk/footprint_grids.h"

namespace waystar::core {
namespace {

// Hashes every field of a task.
struct TaskHash {
  std::size_t operator()(const PathTask* task) const {
    const PathQuery& query = task->query;
    std::size_t hash =
        absl::HashOf(Pack(query.start), Pack(query.goal), query.corner_rule, query.algorithm,
                     query.unreachable_policy, query.path_form, query.footprint, task->max_expansions);
    for (const Cell goal : task->goals) {
      hash = absl::HashOf(hash, Pack(goal));
    }
    return hash;
  }
};

// Equal tasks have equal answers.
struct AreAlike {
  bool operator()(const PathTask* a, const PathTask* b) const { return *a == *b; }
};

Hub StartOf(const PathQuery& query) {
  return {FloodSense::kFromSeeds, query.start, query.corner_rule, query.footprint};
}
Hub GoalOf(const PathQuery& query) {
  return {FloodSense::kToSeeds, query.goal, query.corner_rule, query.footprint};
}

bool MayShare(const GridMap& map, const PathTask& task) {
  const PathQuery& query = task.query;
  return task.goals.empty() && query.algorithm == Algorithm::kAuto &&
         query.unreachable_policy == UnreachablePolicy::kReport &&
         task.max_expansions == std::numeric_limits<std::uint64_t>::max() && map.Contains(query.start) &&
         map.Contains(query.goal) && query.footprint >= 1 && query.footprint <= kMaxFootprint;
}

// Links equal tasks, and returns the first of each in order.
std::vector<std::size_t> FindFirsts(absl::Span<const PathTask> tasks, PathPlan& plan) {
  absl::flat_hash_map<const PathTask*, std::size_t, TaskHash, AreAlike> lasts;
  lasts.reserve(tasks.size());
  plan.next_alike.assign(tasks.size(), PathPlan::kNone);
  std::vector<std::size_t> firsts;
  firsts.reserve(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto [last, is_new] = lasts.try_emplace(&tasks[i], i);
    if (is_new) {
      firsts.push_back(i);
    } else {
      plan.next_alike[std::exchange(last->second, i)] = i;
    }
  }
  return firsts;
}

// Numbers the hubs of tasks.
class HubTable {
 public:
  static constexpr std::size_t kNone = PathPlan::kNone;

  struct Entry {
    Hub hub;
    // Number of tasks that could join its group.
    std::size_t tasks = 0;
    // Index of its group, once created.
    std::size_t group = kNone;
  };

  explicit HubTable(std::size_t tasks) {
    numbers_.reserve(2 * tasks);
    entries_.reserve(2 * tasks);
  }

  // Counts a task of the hub, and returns the hub's number.
  std::size_t Count(const Hub& hub) {
    const auto [number, is_new] = numbers_.try_emplace(hub, entries_.size());
    if (is_new) {
      entries_.push_back({.hub = hub});
    }
    ++entries_[number->second].tasks;
    return number->second;
  }

  Entry& operator[](std::size_t number) { return entries_[number]; }

 private:
  absl::flat_hash_map<Hub, std::size_t> numbers_;
  std::vector<Entry> entries_;
};

}  // namespace

PathPlan MakePlan(const GridMap& map, absl::Span<const PathTask> tasks) {
  // Smaller groups do not pay.
  constexpr std::size_t kLeastGroup = 4;
  PathPlan plan;
  const std::vector<std::size_t> firsts = FindFirsts(tasks, plan);
  HubTable hubs(firsts.size());
  // For each task, the hub numbers of its start and its goal.
  std::vector<std::pair<std::size_t, std::size_t>> ends(firsts.size(), {HubTable::kNone, HubTable::kNone});
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    const PathTask& task = tasks[firsts[i]];
    if (MayShare(map, task)) {
      ends[i] = {hubs.Count(StartOf(task.query)), hubs.Count(GoalOf(task.query))};
    }
  }
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    const auto [start, goal] = ends[i];
    if (start == HubTable::kNone || std::max(hubs[start].tasks, hubs[goal].tasks) < kLeastGroup) {
      plan.singles.push_back(firsts[i]);
      continue;
    }
    HubTable::Entry& hub = hubs[hubs[start].tasks >= hubs[goal].tasks ? start : goal];
    if (hub.group == HubTable::kNone) {
      hub.group = plan.groups.size();
      plan.groups.push_back({.hub = hub.hub, .members = {}});
    }
    plan.groups[hub.group].members.push_back(firsts[i]);
  }
  return plan;
}

}  // namespace waystar::core
