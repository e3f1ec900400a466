#include "server/core/field/find_paths.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/field/checks.h"
#include "server/core/field/flood.h"
#include "server/core/field/flood_worth.h"
#include "server/core/search/find_path.h"
#include "server/core/search/path_form.h"
#include "server/core/search/reachability.h"
#include "server/core/walk/components.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {
namespace {

using CellKey = std::pair<std::int32_t, std::int32_t>;
CellKey KeyOf(Cell cell) { return {cell.y, cell.x}; }

// All that a task says: equal tasks have equal answers.
using TaskKey = std::tuple<CellKey, CellKey, CornerRule, Algorithm, UnreachablePolicy, PathForm, int,
                           std::uint64_t, std::vector<CellKey>>;
TaskKey KeyOf(const PathTask& task) {
  std::vector<CellKey> goals;
  for (const Cell goal : task.goals) {
    goals.push_back(KeyOf(goal));
  }
  const PathQuery& query = task.query;
  return {KeyOf(query.start), KeyOf(query.goal),        query.corner_rule,
          query.algorithm,    query.unreachable_policy, query.path_form,
          query.footprint,    task.max_expansions,      std::move(goals)};
}

// A cell that several agents of one kind start from or go to.
struct Hub {
  FloodSense sense = FloodSense::kFromSeeds;
  Cell cell;
  CornerRule rule = CornerRule::kNoCornerCutting;
  int footprint = 1;

  auto Key() const { return std::tuple(footprint, rule, sense, KeyOf(cell)); }
  bool operator<(const Hub& other) const { return Key() < other.Key(); }
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

class PathsFinder {
 public:
  PathsFinder(const GridMap& map, absl::Span<const PathTask> tasks, const Budget& budget, Scratch& scratch,
              FieldScratch& field_scratch, PathSink sink)
      : map_(map), tasks_(tasks), budget_(budget), scratch_(scratch), field_(field_scratch), sink_(sink) {}

  absl::Status Find() {
    std::map<TaskKey, std::size_t> firsts;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      asked_by_[firsts.try_emplace(KeyOf(tasks_[i]), i).first->second].push_back(i);
    }
    for (const auto& [hub, members] : GroupByHub(firsts)) {
      WAYSTAR_RETURN_IF_ERROR(Answer(hub, members));
    }
    for (const std::size_t task : singles_) {
      WAYSTAR_RETURN_IF_ERROR(AnswerAlone(task));
    }
    return absl::OkStatus();
  }

 private:
  // Fewer are not worth the trouble.
  static constexpr std::size_t kLeastGroup = 4;
  // Of a group, searched for one by one to see what that takes.
  static constexpr std::size_t kProbes = 2;

  using Groups = std::map<Hub, std::vector<std::size_t>>;

  // Each task goes to the larger of the two groups that it could be in.
  Groups GroupByHub(const std::map<TaskKey, std::size_t>& firsts) {
    std::map<Hub, std::size_t> sizes;
    for (const auto& [key, task] : firsts) {
      if (MayShare(map_, tasks_[task])) {
        ++sizes[StartOf(tasks_[task].query)];
        ++sizes[GoalOf(tasks_[task].query)];
      }
    }
    Groups groups;
    for (const auto& [key, task] : firsts) {
      const PathQuery& query = tasks_[task].query;
      const Hub start = StartOf(query);
      const Hub goal = GoalOf(query);
      if (!MayShare(map_, tasks_[task]) || std::max(sizes[start], sizes[goal]) < kLeastGroup) {
        singles_.push_back(task);
      } else {
        groups[sizes[start] >= sizes[goal] ? start : goal].push_back(task);
      }
    }
    return groups;
  }

  absl::Status Answer(const Hub& hub, const std::vector<std::size_t>& members) {
    std::uint64_t expanded = 0;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (i == kProbes && IsFloodBetter(hub, expanded / kProbes * (members.size() - i))) {
        return FloodFrom(hub, {members.data() + i, members.size() - i});
      }
      WAYSTAR_RETURN_IF_ERROR(AnswerAlone(members[i]));
      expanded += last_expanded_;
    }
    return absl::OkStatus();
  }

  // Than single searches of so many expansions.
  bool IsFloodBetter(const Hub& hub, std::uint64_t expansions) const {
    return map_.bounds().area() <= kMaxFieldCells && IsFloodQuicker(map_, hub.footprint, expansions);
  }

  absl::Status AnswerAlone(std::size_t task) {
    const PathTask& asked = tasks_[task];
    Budget budget = budget_;
    budget.max_expansions = std::min(budget.max_expansions, asked.max_expansions);
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
    return Deliver(task, answer);
  }

  // What ends one search early ends all.
  absl::Status Deliver(std::size_t task, const absl::StatusOr<NearestGoalResult>& answer) {
    const absl::StatusCode code = answer.status().code();
    if (code == absl::StatusCode::kDeadlineExceeded || code == absl::StatusCode::kCancelled ||
        code == absl::StatusCode::kAborted) {
      return answer.status();
    }
    for (const std::size_t asker : asked_by_[task]) {
      WAYSTAR_RETURN_IF_ERROR(sink_(asker, answer));
    }
    return absl::OkStatus();
  }

  absl::Status FloodFrom(const Hub& hub, absl::Span<const std::size_t> members) {
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
      WAYSTAR_RETURN_IF_ERROR(Deliver(member, answer));
    }
    return absl::OkStatus();
  }

  // The corners of the path that the flood left, into the scratch.
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
  const Budget& budget_;
  Scratch& scratch_;
  FieldScratch& field_;
  const PathSink sink_;
  // By the first task of its kind: all that are alike.
  std::map<std::size_t, std::vector<std::size_t>> asked_by_;
  // Those that share nothing.
  std::vector<std::size_t> singles_;
  std::uint64_t last_expanded_ = 0;
  // What the ground was read for.
  std::optional<std::pair<int, CornerRule>> read_;
};

}  // namespace

absl::Status FindPaths(const GridMap& map, absl::Span<const PathTask> tasks, const Budget& budget,
                       Scratch& scratch, FieldScratch& field_scratch, PathSink sink) {
  const absl::Status status = PathsFinder(map, tasks, budget, scratch, field_scratch, sink).Find();
  field_scratch.Trim();
  return status;
}

}  // namespace waystar::core
