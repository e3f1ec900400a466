#include "server/core/query/find_paths.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "server/base/error.h"
#include "server/core/grid/components/components.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/field/flood.h"
#include "server/core/grid/path/path.h"
#include "server/core/grid/search/agent.h"
#include "server/core/grid/walk/footprint_grids.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/query/solve.h"
#include "server/core/search/checks.h"

namespace waystar::core {
namespace {

// Answers parts of a plan on one thread.
class PathsFinder {
 public:
  PathsFinder(const GridMap& map, absl::Span<const PathTask> tasks, const PathPlan& plan,
              const Budget& budget, Scratch& scratch, FieldScratch& field_scratch, PathSink sink)
      : map_(map),
        tasks_(tasks),
        plan_(plan),
        budget_(budget),
        scratch_(scratch),
        field_(field_scratch),
        sink_(sink) {}

  absl::Status AnswerGroup(std::size_t group) {
    return Answer(plan_.hubs.groups[group].hub, plan_.hubs.groups[group].members);
  }

  absl::Status AnswerSingles(absl::Span<const std::size_t> singles) {
    for (const std::size_t task : singles) {
      WAYSTAR_RETURN_IF_ERROR(AnswerAlone(task));
    }
    return absl::OkStatus();
  }

 private:
  using Clock = std::chrono::steady_clock;

  // Minimum number of members searched individually to estimate whether a flood is cheaper.
  static constexpr std::size_t kLeastProbes = 2;

  absl::Status Answer(const Hub& hub, const std::vector<std::size_t>& members) {
    std::uint64_t expanded = 0;
    for (std::size_t i = 0; i < members.size(); ++i) {
      // A single probe could be an unusually short path.
      if (i >= kLeastProbes && IsFloodBetter(hub, expanded / i * (members.size() - i))) {
        return FloodFrom(hub, {members.data() + i, members.size() - i});
      }
      WAYSTAR_RETURN_IF_ERROR(AnswerAlone(members[i]));
      expanded += last_expanded_;
    }
    return absl::OkStatus();
  }

  // Returns true if a flood is faster than single searches with this many expansions in total.
  bool IsFloodBetter(const Hub& hub, std::uint64_t expansions) const {
    return map_.bounds().area() <= kMaxFieldCells && IsFloodQuicker(map_, hub.footprint, expansions);
  }

  absl::Status AnswerAlone(std::size_t task) {
    const Clock::time_point begin = Clock::now();
    const PathTask& asked = tasks_[task];
    Budget budget = budget_;
    budget.max_expansions = std::min(budget.max_expansions, asked.max_expansions);
    budget.max_cost = asked.max_cost;
    absl::StatusOr<NearestGoalResult> answer;
    if (asked.goals.empty()) {
      const absl::StatusOr<PathResult> path = FindPath(map_, asked.query, budget, scratch_);
      if (path.ok()) {
        answer = NearestGoalResult{.path = *path};
      } else {
        answer = path.status();
      }
    } else {
      answer = FindPathToNearest(map_, asked.query, asked.goals, budget, scratch_);
    }
    last_expanded_ = answer.ok() ? answer->path.statistics.expanded : 0;
    return Deliver(task, answer, Clock::now() - begin);
  }

  // Passes the answer to the sink, unless it ends the batch.
  absl::Status Deliver(std::size_t task, const absl::StatusOr<NearestGoalResult>& answer,
                       std::chrono::nanoseconds took) {
    if (EndsAll(answer.status())) {
      return answer.status();
    }
    for (std::size_t asker = task; asker != PathPlan::kNone; asker = plan_.next_alike[asker]) {
      WAYSTAR_RETURN_IF_ERROR(sink_(asker, answer, took));
    }
    return absl::OkStatus();
  }

  absl::Status FloodFrom(const Hub& hub, absl::Span<const std::size_t> members) {
    // The first answer is charged with the time of the flood.
    Clock::time_point begin = Clock::now();
    const std::shared_ptr<const WalkGrid> walk = map_.walk(hub.footprint);
    const Components& components = walk->components(AdjacencyOf(map_, hub.rule));
    FloodGround& ground = field_.ground();
    if (!read_.has_value() || *read_ != std::pair(hub.footprint, hub.rule)) {
      ground.Read(map_, *walk, hub.footprint, hub.rule, map_.bounds());
      read_.emplace(hub.footprint, hub.rule);
    }
    std::vector<std::uint32_t> until;
    for (const std::size_t member : members) {
      const PathQuery& query = tasks_[member].query;
      if (components.AreConnected(query.start, query.goal)) {
        until.push_back(ground.IndexOf(hub.sense == FloodSense::kFromSeeds ? query.goal : query.start));
      }
    }
    std::uint64_t expanded = 0;
    if (!until.empty()) {
      const FloodSpec spec{.seeds = {&hub.cell, 1}, .sense = hub.sense, .until = until};
      WAYSTAR_RETURN_IF_ERROR(StatusOfEnd(field_.flood().Run(ground, spec, budget_, expanded), expanded));
    }
    for (const std::size_t member : members) {
      const PathQuery& query = tasks_[member].query;
      if (!components.AreConnected(query.start, query.goal)) {
        WAYSTAR_RETURN_IF_ERROR(AnswerAlone(member));
        continue;
      }
      NearestGoalResult answer{.path = {.outcome = Outcome::kFound,
                                        .reason = OutcomeReason::kGoalReached,
                                        .end = query.goal,
                                        .statistics = {.expanded = std::exchange(expanded, 0),
                                                       .algorithm = Algorithm::kDijkstra}}};
      Trace(hub.sense, query);
      WritePathForm(map_, *walk, query, scratch_, answer.path);
      const Clock::time_point now = Clock::now();
      WAYSTAR_RETURN_IF_ERROR(Deliver(member, answer, now - std::exchange(begin, now)));
    }
    return absl::OkStatus();
  }

  // Writes the corners of the flooded path into the scratch.
  void Trace(FloodSense sense, const PathQuery& query) {
    scratch_.ClearPath();
    std::vector<Cell>& corners = scratch_.corners();
    const bool is_forward = sense == FloodSense::kToSeeds;
    Cell cell = is_forward ? query.start : query.goal;
    const Cell last = is_forward ? query.goal : query.start;
    std::optional<Direction> before;
    while (cell != last) {
      const Direction step = *field_.flood().StepAt(field_.ground().IndexOf(cell));
      if (before != step) {
        corners.push_back(cell);
      }
      before = step;
      cell = Step(cell, is_forward ? step : Opposite(step));
    }
    corners.push_back(last);
    if (!is_forward) {
      std::reverse(corners.begin(), corners.end());
    }
  }

  const GridMap& map_;
  const absl::Span<const PathTask> tasks_;
  const PathPlan& plan_;
  const Budget& budget_;
  Scratch& scratch_;
  FieldScratch& field_;
  const PathSink sink_;
  std::uint64_t last_expanded_ = 0;
  // Footprint and corner rule that the flood ground was read for.
  std::optional<std::pair<int, CornerRule>> read_;
};

class Alone final : public PathCrew {
 public:
  Alone(Scratch& scratch, FieldScratch& field_scratch) : scratch_(scratch), field_scratch_(field_scratch) {}

  void Run(std::size_t count, Work work) override {
    for (std::size_t unit = 0; unit < count; ++unit) {
      work(unit, scratch_, field_scratch_);
    }
  }

 private:
  Scratch& scratch_;
  FieldScratch& field_scratch_;
};

}  // namespace

absl::Status FindPaths(const GridMap& map, absl::Span<const PathTask> tasks, const Budget& budget,
                       PathCrew& crew, PathSink sink) {
  // Large enough to be worth handing out, small enough to keep all threads busy.
  constexpr std::size_t kSinglesOfUnit = 16;
  const PathPlan plan = MakePlan(map, tasks);
  const std::size_t groups = plan.hubs.groups.size();
  const std::size_t units = groups + (plan.hubs.singles.size() + kSinglesOfUnit - 1) / kSinglesOfUnit;
  std::vector<absl::Status> ends(units);
  std::atomic<bool> has_failed = false;
  crew.Run(units, [&](std::size_t unit, Scratch& scratch, FieldScratch& field_scratch) {
    if (has_failed.load(std::memory_order_relaxed)) {
      return;
    }
    PathsFinder finder(map, tasks, plan, budget, scratch, field_scratch, sink);
    if (unit < groups) {
      ends[unit] = finder.AnswerGroup(unit);
      field_scratch.Trim();
    } else {
      const absl::Span<const std::size_t> singles = plan.hubs.singles;
      ends[unit] = finder.AnswerSingles(singles.subspan((unit - groups) * kSinglesOfUnit, kSinglesOfUnit));
    }
    if (!ends[unit].ok()) {
      has_failed.store(true, std::memory_order_relaxed);
    }
  });
  for (const absl::Status& end : ends) {
    WAYSTAR_RETURN_IF_ERROR(end);
  }
  return absl::OkStatus();
}

absl::Status FindPaths(const GridMap& map, absl::Span<const PathTask> tasks, const Budget& budget,
                       Scratch& scratch, FieldScratch& field_scratch, PathSink sink) {
  Alone alone(scratch, field_scratch);
  return FindPaths(map, tasks, budget, alone, sink);
}

namespace {

// Hashes every field of a task.
struct TaskHash {
  std::size_t operator()(const PathTask* task) const {
    const PathQuery& query = task->query;
    std::size_t hash = absl::HashOf(Pack(query.start), Pack(query.goal), query.corner_rule, query.algorithm,
                                    query.unreachable_policy, query.path_form, query.footprint,
                                    query.tolerance, task->max_expansions, task->max_cost);
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
         task.max_expansions == std::numeric_limits<std::uint64_t>::max() &&
         task.max_cost == std::numeric_limits<Cost>::max() && map.Contains(query.start) &&
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

}  // namespace

PathPlan MakePlan(const GridMap& map, absl::Span<const PathTask> tasks) {
  // Smaller groups do not pay.
  constexpr std::size_t kLeastGroup = 4;
  PathPlan plan;
  const std::vector<std::size_t> firsts = FindFirsts(tasks, plan);
  std::vector<std::optional<std::pair<Hub, Hub>>> ends(firsts.size());
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    const PathTask& task = tasks[firsts[i]];
    if (MayShare(map, task)) {
      ends[i].emplace(StartOf(task.query), GoalOf(task.query));
    }
  }
  plan.hubs = GroupByHub<Hub>(ends, kLeastGroup);
  const auto to_task = [&](std::size_t& first) { first = firsts[first]; };
  std::ranges::for_each(plan.hubs.singles, to_task);
  for (auto& group : plan.hubs.groups) {
    std::ranges::for_each(group.members, to_task);
  }
  return plan;
}

}  // namespace waystar::core
