#include "server/core/graph/search/graph_search.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"
#include "server/core/search/query.h"
#include "server/geometry/world_point.h"

namespace waystar::core {
namespace {

struct GraphSearchTask {
  NodeNumber start = 0;
  // kNoNodeNumber for no goal: every reachable node is then expanded.
  NodeNumber goal = 0;
  // Position of the goal.
  WorldPoint goal_position;
  // An arc must carry all of these tags.
  TagSet required_tags = 0;
  // If true, a heuristic is used, times `weight`.
  bool is_guided = true;
  double weight = 1.0;
  // Cost of the lines to the start and from the goal, which counts for the limit of the budget.
  Cost lines = 0;
  // If true, the search also determines the expanded node nearest to the goal.
  bool wants_nearest = false;
};

struct GraphSearchReport {
  SearchEnd end = SearchEnd::kExhausted;
  // The goal with kGoalReached; otherwise the expanded node nearest to the goal, if requested.
  NodeNumber last = 0;
  Cost cost = 0;
  // Lower bound of the cost to the goal: with a weight, or with kCostLimit.
  Cost least_cost = 0;
  SearchStatistics statistics;
};

// Covers the rounding errors of sums of costs.
constexpr double kMargin = 1.0 - 1e-12;

// Cost of the cheapest path to the goal through free space, in which a unit of length costs as much as on the
// graph's cheapest arc, except for the few much cheaper arcs (ArcCostBound), which are used individually. It
// is exact for that space and therefore consistent, apart from the rounding of distances.
class GraphHeuristic {
 public:
  // Makes the zero heuristic, for Dijkstra's algorithm.
  GraphHeuristic() = default;
  // With a weight above 1 it is the heuristic times the weight. Since GraphLoop expands a node again that is
  // reached more cheaply, the path then costs at most that many times the least (Pohl, "Heuristic Search
  // Viewed as Path Finding in a Graph", 1970).
  GraphHeuristic(const WaypointGraph& graph, const WorldPoint& goal, double weight);

  Cost Estimate(const WorldPoint& position) const {
    if (per_length_ == 0.0) {
      return 0;
    }
    double least = Distance(position, goal_) * per_length_;
    for (std::size_t i = 0; i < count_; ++i) {
      const Shortcut& shortcut = shortcuts_[i];
      if (shortcut.cost_to_goal < least) {
        least = std::min(least, Distance(position, shortcut.from) * per_length_ + shortcut.cost_to_goal);
      }
    }
    return static_cast<Cost>(std::min(least, kMaxEstimate));
  }

 private:
  // Keeps estimated totals below 2^63. The minimum of this constant and a consistent heuristic is consistent.
  static constexpr double kMaxEstimate = 8e17;

  // A cheap arc that shortens the path to the goal.
  struct Shortcut {
    WorldPoint from;
    double cost_to_goal = 0.0;
  };

  double per_length_ = 0.0;
  WorldPoint goal_;
  std::array<Shortcut, ArcCostBound::kMostCheap> shortcuts_;
  std::size_t count_ = 0;
};

GraphHeuristic::GraphHeuristic(const WaypointGraph& graph, const WorldPoint& goal, double weight)
    : per_length_(graph.least_cost_per_length()), goal_(goal) {
  const std::vector<CheapArc>& arcs = graph.cheap_arcs();
  std::array<double, ArcCostBound::kMostCheap> cost_to_goal{};
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    cost_to_goal[i] = static_cast<double>(arcs[i].cost) + per_length_ * Distance(arcs[i].to, goal);
  }
  // As many rounds as a path can have cheap arcs (Bellman, 1958).
  for (std::size_t round = 1; round < arcs.size(); ++round) {
    for (std::size_t i = 0; i < arcs.size(); ++i) {
      for (std::size_t next = 0; next < arcs.size(); ++next) {
        cost_to_goal[i] = std::min(cost_to_goal[i], static_cast<double>(arcs[i].cost) +
                                                        per_length_ * Distance(arcs[i].to, arcs[next].from) +
                                                        cost_to_goal[next]);
      }
    }
  }
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    if (cost_to_goal[i] < per_length_ * Distance(arcs[i].from, goal)) {
      shortcuts_[count_++] = {.from = arcs[i].from, .cost_to_goal = cost_to_goal[i] * kMargin * weight};
    }
  }
  per_length_ *= weight;
}

template <typename Recorder>
class GraphAStar : private GraphLoop<GraphAStar<Recorder>> {
  using Loop = GraphLoop<GraphAStar<Recorder>>;
  friend Loop;

 public:
  GraphAStar(const WaypointGraph& graph, const GraphSearchTask& task, const Budget& budget,
             GraphScratch& scratch, Recorder& recorder)
      : Loop(graph, task.required_tags, GraphSense::kFromSeeds, budget, scratch),
        task_(task),
        recorder_(recorder),
        heuristic_(task.is_guided ? GraphHeuristic(graph, task.goal_position, task.weight)
                                  : GraphHeuristic()) {
    if (budget.max_cost != Budget().max_cost) {
      beyond_goal_ = heuristic_.Estimate(graph.PositionOf(task.goal));
      max_f_ = budget.max_cost - task.lines + beyond_goal_;
    }
  }

  GraphSearchReport Search() {
    const GraphSeed seed{.node = task_.start};
    report_.end = this->Run({&seed, 1});
    if (task_.weight > 1.0 && report_.end == SearchEnd::kGoalReached) {
      const GraphHeuristic heuristic(this->graph_, task_.goal_position, 1.0);
      const auto estimate = [&](NodeNumber node) {
        return heuristic.Estimate(this->graph_.PositionOf(node));
      };
      // The goal's node may lie elsewhere than the goal.
      report_.least_cost = std::max<Cost>(0, estimate(task_.start) - estimate(task_.goal));
    }
    report_.statistics = this->statistics_;
    report_.statistics.algorithm = task_.is_guided ? Algorithm::kAStar : Algorithm::kDijkstra;
    return report_;
  }

 private:
  Cost Estimate(const NodeHead& head) const { return heuristic_.Estimate(head.position); }
  bool IsTooCostly(Cost f) {
    if (f <= max_f_) {
      return false;
    }
    report_.least_cost = f - beyond_goal_;
    return true;
  }
  static constexpr bool MayReach(Cost /*g*/) { return true; }
  static constexpr bool MayEnter(const NodeHead& /*head*/) { return true; }

  bool EndsAt(NodeNumber node, Cost g) {
    if (node != task_.goal) {
      return false;
    }
    report_.last = node;
    report_.cost = g;
    return true;
  }

  void Generated(NodeNumber node, NodeNumber parent, Cost g, Cost f) {
    recorder_.Generated(node, parent, g, f);
  }

  void Expanded(NodeNumber node, Cost g, Cost f) {
    recorder_.Expanded(node, g, f);
    if (task_.wants_nearest) {
      NoteNearest(node, g);
    }
  }

  void NoteNearest(NodeNumber node, Cost g) {
    const double distance = SquaredDistance(this->graph_.PositionOf(node), task_.goal_position);
    const bool is_first = this->statistics_.expanded == 1;
    if (is_first || distance < nearest_distance_ ||
        (distance == nearest_distance_ && (g < report_.cost || (g == report_.cost && node < report_.last)))) {
      nearest_distance_ = distance;
      report_.last = node;
      report_.cost = g;
    }
  }

  const GraphSearchTask& task_;
  Recorder& recorder_;
  const GraphHeuristic heuristic_;
  // Estimate at the node of the goal, which may lie elsewhere than the goal; and the highest f of a path to
  // that node within the budget.
  Cost beyond_goal_ = 0;
  Cost max_f_ = std::numeric_limits<Cost>::max();
  GraphSearchReport report_;
  double nearest_distance_ = 0.0;
};

// Recorder that drops all events. The search is a template over its recorder, so that unrecorded searches pay
// nothing.
struct NoNodeRecorder {
  static constexpr void Generated(NodeNumber /*node*/, NodeNumber /*parent*/, Cost /*g*/, Cost /*f*/) {}
  static constexpr void Expanded(NodeNumber /*node*/, Cost /*g*/, Cost /*f*/) {}
};

// Searches for a cheapest path. The recorder, which may be null, gets each step of the search.
//
// REQUIRES: the start is enabled; scratch.Start(graph.number_limit()) returned true.
GraphSearchReport SearchGraph(const WaypointGraph& graph, const GraphSearchTask& task, const Budget& budget,
                              GraphScratch& scratch, NodeRecorder* recorder) {
  if (recorder != nullptr) {
    return GraphAStar(graph, task, budget, scratch, *recorder).Search();
  }
  NoNodeRecorder none;
  return GraphAStar(graph, task, budget, scratch, none).Search();
}

// Fields of the query.
constexpr absl::string_view kStartField = "start";
constexpr absl::string_view kGoalField = "goals[0]";

struct GraphGoal {
  GraphSeat seat;
  std::size_t index = 0;
};

struct NearestGraphGoal {
  std::size_t index = 0;
  Cost cost = 0;

  bool IsBefore(const NearestGraphGoal& other) const {
    return cost != other.cost ? cost < other.cost : index < other.index;
  }
};

// Goals that the flood has not reached yet. Of several goals at one node only the best is kept, since all are
// reached at once.
class OpenGoals {
 public:
  OpenGoals(const WaypointGraph& graph, absl::Span<const GraphGoal> goals)
      : goals_(goals), nodes_(graph.number_limit()), is_open_(goals.size(), false) {
    std::vector<NodeNumber> nodes;
    nodes.reserve(goals.size());
    for (const GraphGoal& goal : goals) {
      nodes.push_back(goal.seat.node);
    }
    nodes_.Assign(std::move(nodes));
    count_ = nodes_.size();
    best_at_.assign(count_, goals.size());
    for (std::size_t i = 0; i < goals.size(); ++i) {
      std::size_t& best = best_at_[nodes_.IndexOf(goals[i].seat.node)];
      if (best == goals.size() || goals[i].seat.cost < goals[best].seat.cost) {
        best = i;
      }
    }
    for (const std::size_t best : best_at_) {
      is_open_[best] = true;
    }
  }

  bool HasNode(NodeNumber node) const { return nodes_.Contains(node); }
  bool empty() const { return count_ == 0; }

  // Returns the best goal at the node and closes it.
  // REQUIRES: HasNode(node).
  const GraphGoal& Take(NodeNumber node) {
    const std::size_t best = best_at_[nodes_.IndexOf(node)];
    is_open_[best] = false;
    --count_;
    return goals_[best];
  }

  // Returns the minimum index of an open goal.
  // REQUIRES: !empty().
  std::size_t FirstIndex() {
    while (!is_open_[first_]) {
      ++first_;
    }
    return goals_[first_].index;
  }

 private:
  const absl::Span<const GraphGoal> goals_;
  NodeSet nodes_;
  // Index of the best goal, by index of the node in the set.
  std::vector<std::size_t> best_at_;
  std::vector<bool> is_open_;
  std::size_t count_ = 0;
  std::size_t first_ = 0;
};

// Floods from the start until no other goal can be cheaper. `nearest` is the best goal found so far, if any,
// and becomes the best of it and these. It is final unless the report ends with a limit or an interruption.
// If the flood ends because all others cost more than the budget's max_cost, `beyond` is set to a lower bound
// of their cost.
// REQUIRES: the goals are enabled and in the order of their indices.
GraphFloodReport FindNearestGraphGoal(const WaypointGraph& graph, const GraphSeat& start,
                                      absl::Span<const GraphGoal> goals, TagSet required_tags,
                                      const Budget& budget, GraphScratch& scratch,
                                      std::optional<NearestGraphGoal>& nearest, std::optional<Cost>& beyond) {
  OpenGoals open(graph, goals);
  const GraphSeed seed{.node = start.node, .cost = start.cost};
  const GraphFloodTask task{.seeds = {&seed, 1},
                            .required_tags = required_tags,
                            .max_cost = nearest ? nearest->cost : std::numeric_limits<Cost>::max()};
  return FloodGraph(graph, task, budget, scratch, [&](NodeNumber node, Cost cost) {
    if (open.HasNode(node)) {
      const GraphGoal& goal = open.Take(node);
      const NearestGraphGoal reached{.index = goal.index, .cost = cost + goal.seat.cost};
      if (!nearest || reached.IsBefore(*nearest)) {
        nearest = reached;
      }
    }
    if (cost > budget.max_cost && !open.empty()) {
      beyond = cost;
      return false;
    }
    // Nodes visited from here on cost at least as much.
    return !open.empty() && !(nearest && nearest->IsBefore({.index = open.FirstIndex(), .cost = cost}));
  });
}

class GraphPathFinder {
 public:
  GraphPathFinder(const WaypointGraph& graph, const GraphQuery& query, const Budget& budget,
                  GraphScratch& scratch, NodeRecorder* recorder)
      : graph_(graph),
        query_(query),
        budget_(budget),
        stop_(budget),
        scratch_(scratch),
        recorder_(recorder) {}

  absl::StatusOr<GraphPathResult> Run() {
    WAYSTAR_RETURN_IF_ERROR(Check());
    return query_.goals.size() == 1 ? FindTheGoal() : FindNearestGoal();
  }

 private:
  Algorithm AlgorithmToRun() const {
    return query_.algorithm == Algorithm::kAuto ? Algorithm::kAStar : query_.algorithm;
  }

  double Tolerance() const { return AlgorithmToRun() == Algorithm::kAStar ? query_.tolerance : 0.0; }

  absl::Status Check() {
    if (AlgorithmToRun() != Algorithm::kAStar && AlgorithmToRun() != Algorithm::kDijkstra) {
      return MakeError(ErrorReason::kAlgorithmUnsuited, "algorithm",
                       "only A* and Dijkstra's algorithm search waypoint graphs");
    }
    WAYSTAR_ASSIGN_OR_RETURN(required_tags_, FindRequiredTags(graph_, query_.required_tags));
    WAYSTAR_RETURN_IF_ERROR(CheckPlace(query_.start, kStartField));
    for (std::size_t i = 0; i < query_.goals.size(); ++i) {
      WAYSTAR_RETURN_IF_ERROR_AT(IndexedField("goals", i), CheckPlace(query_.goals[i], ""));
    }
    return absl::OkStatus();
  }

  bool IsDirect(const GraphPlace& goal) const {
    return SeeEachOther(graph_, query_.start, goal, !query_.required_tags.empty());
  }

  GraphPathResult AlongLine(const GraphPlace& goal) const {
    return {.outcome = Outcome::kFound,
            .reason = OutcomeReason::kGoalReached,
            .cost = CostToDouble(LineCost(query_.start, goal)),
            .reaches_goal = true,
            .statistics = {.algorithm = AlgorithmToRun()}};
  }

  static GraphPathResult NoCheapPath(Cost least, const SearchStatistics& statistics) {
    return {.outcome = Outcome::kTooCostly,
            .reason = OutcomeReason::kCostLimit,
            .least_cost = CostToDouble(least),
            .statistics = statistics};
  }

  absl::Status FindStart() {
    WAYSTAR_ASSIGN_OR_RETURN(start_, FindSeat(graph_, query_.start, query_.snap_radius, kStartField, &stop_));
    return absl::OkStatus();
  }

  absl::Status CheckStart() const {
    return graph_.IsEnabled(start_.node)
               ? absl::OkStatus()
               : MakeError(ErrorReason::kStartBlocked, kStartField, "the node is not enabled");
  }

  absl::StatusOr<GraphPathResult> FindTheGoal() {
    if (IsDirect(query_.goals.front())) {
      const Cost cost = LineCost(query_.start, query_.goals.front());
      return cost > budget_.max_cost ? NoCheapPath(cost, {.algorithm = AlgorithmToRun()})
                                     : AlongLine(query_.goals.front());
    }
    WAYSTAR_RETURN_IF_ERROR(FindStart());
    WAYSTAR_ASSIGN_OR_RETURN(goal_,
                             FindSeat(graph_, query_.goals.front(), query_.snap_radius, kGoalField, &stop_));
    WAYSTAR_RETURN_IF_ERROR(CheckStart());
    const bool goal_blocked = !graph_.IsEnabled(goal_.node);
    if (goal_blocked && query_.unreachable_policy == UnreachablePolicy::kReport) {
      return MakeError(ErrorReason::kGoalBlocked, kGoalField, "the node is not enabled");
    }
    return Search(budget_, goal_blocked);
  }

  absl::StatusOr<GraphPathResult> FindNearestGoal() {
    if (query_.unreachable_policy != UnreachablePolicy::kReport) {
      return MakeError(ErrorReason::kBadValue, "goals",
                       "with several goals unreachable_policy can only be REPORT");
    }
    // Enabled goals that need a search, unlike direct ones.
    std::vector<GraphGoal> goals;
    std::optional<NearestGraphGoal> direct;
    bool is_start_found = false;
    for (std::size_t i = 0; i < query_.goals.size(); ++i) {
      if (i % kPlacesPerPoll == kPlacesPerPoll - 1) {
        WAYSTAR_RETURN_IF_ERROR(stop_.Check());
      }
      if (IsDirect(query_.goals[i])) {
        const NearestGraphGoal goal{.index = i, .cost = LineCost(query_.start, query_.goals[i])};
        if (!direct || goal.IsBefore(*direct)) {
          direct = goal;
        }
        continue;
      }
      if (!std::exchange(is_start_found, true)) {
        WAYSTAR_RETURN_IF_ERROR(FindStart());
      }
      absl::StatusOr<GraphSeat> seat = FindSeat(graph_, query_.goals[i], query_.snap_radius, "", &stop_);
      WAYSTAR_RETURN_IF_ERROR_AT(IndexedField("goals", i), seat.status());
      if (graph_.IsEnabled(seat->node)) {
        goals.push_back({.seat = *seat, .index = i});
      }
    }
    if (is_start_found) {
      WAYSTAR_RETURN_IF_ERROR(CheckStart());
    }
    if (goals.empty() && !direct) {
      return MakeError(ErrorReason::kGoalBlocked, "goals", "all goals are blocked");
    }
    return PathToNearest(goals, direct);
  }

  // Returns the path to the nearest of `goals` and `direct`.
  absl::StatusOr<GraphPathResult> PathToNearest(absl::Span<const GraphGoal> goals,
                                                const std::optional<NearestGraphGoal>& direct) {
    std::optional<NearestGraphGoal> nearest = direct;
    SearchStatistics spent;
    std::optional<Cost> beyond;
    if (goals.size() + (direct ? 1 : 0) == 1) {
      nearest = direct ? *direct : NearestGraphGoal{.index = goals.front().index};
    } else if (!goals.empty()) {
      const GraphFloodReport flood =
          FindNearestGraphGoal(graph_, start_, goals, required_tags_, budget_, scratch_, nearest, beyond);
      spent = {.expanded = flood.expanded, .generated = flood.generated, .algorithm = Algorithm::kDijkstra};
      WAYSTAR_RETURN_IF_ERROR(StatusOfEnd(flood.end, flood.expanded));
      if (flood.end == SearchEnd::kExpansionLimit || flood.end == SearchEnd::kScratchLimit) {
        return StartAlone(flood.end, spent);
      }
    }
    if (beyond && (!nearest || nearest->cost > budget_.max_cost)) {
      return NoCheapPath(nearest ? std::min(nearest->cost, *beyond) : *beyond, spent);
    }
    if (!nearest) {
      return GraphPathResult{.statistics = spent};
    }
    const auto* goal = std::find_if(goals.begin(), goals.end(),
                                    [&](const GraphGoal& each) { return each.index == nearest->index; });
    GraphPathResult result;
    if (goal == goals.end()) {
      result = nearest->cost > budget_.max_cost ? NoCheapPath(nearest->cost, {.algorithm = AlgorithmToRun()})
                                                : AlongLine(query_.goals[nearest->index]);
    } else if (spent.expanded >= budget_.max_expansions) {
      return StartAlone(SearchEnd::kExpansionLimit, spent);
    } else {
      goal_ = goal->seat;
      Budget left = budget_;
      if (IsLimited(budget_)) {
        left.max_expansions -= spent.expanded;
      }
      WAYSTAR_ASSIGN_OR_RETURN(result, Search(left, false));
    }
    result.goal_index = nearest->index;
    result.statistics.expanded += spent.expanded;
    result.statistics.generated += spent.generated;
    return result;
  }

  // Returns the result if a budget ran out before the nearest goal was known.
  GraphPathResult StartAlone(SearchEnd end, const SearchStatistics& statistics) {
    GraphPathResult result{
        .outcome = Outcome::kBudgetExhausted, .reason = ReasonOfLimit(end), .statistics = statistics};
    if (statistics.expanded > 0) {
      scratch_.path().push_back(start_.node);
      result.nodes = scratch_.path();
      result.cost = CostToDouble(start_.cost);
    }
    return result;
  }

  static OutcomeReason ReasonOfLimit(SearchEnd end) {
    return end == SearchEnd::kScratchLimit ? OutcomeReason::kScratchLimit : OutcomeReason::kExpansionLimit;
  }

  static bool IsLimited(const Budget& budget) {
    return budget.max_expansions != std::numeric_limits<std::uint64_t>::max();
  }

  absl::StatusOr<GraphPathResult> Search(const Budget& budget, bool goal_blocked) {
    if (!scratch_.Start(graph_.number_limit())) {
      return GraphPathResult{.outcome = Outcome::kBudgetExhausted,
                             .reason = OutcomeReason::kScratchLimit,
                             .statistics = {.algorithm = AlgorithmToRun()}};
    }
    const bool wants_nearest = query_.unreachable_policy != UnreachablePolicy::kReport || IsLimited(budget);
    const GraphSearchReport report = SearchGraph(graph_,
                                                 {.start = start_.node,
                                                  .goal = goal_.node,
                                                  .goal_position = goal_.position,
                                                  .required_tags = required_tags_,
                                                  .is_guided = AlgorithmToRun() == Algorithm::kAStar,
                                                  .weight = 1.0 + Tolerance(),
                                                  .lines = start_.cost + goal_.cost,
                                                  .wants_nearest = wants_nearest},
                                                 budget, scratch_, recorder_);
    if (report.end == SearchEnd::kScratchLimit && !wants_nearest) {
      return StartAlone(report.end, report.statistics);
    }
    return Answer(report, goal_blocked);
  }

  absl::StatusOr<GraphPathResult> Answer(const GraphSearchReport& report, bool goal_blocked) {
    GraphPathResult result{.statistics = report.statistics};
    WAYSTAR_RETURN_IF_ERROR(StatusOfEnd(report.end, report.statistics.expanded));
    if (report.end == SearchEnd::kCostLimit) {
      return NoCheapPath(start_.cost + report.least_cost + goal_.cost, report.statistics);
    }
    if (report.end == SearchEnd::kGoalReached) {
      result.outcome = Outcome::kFound;
      result.reason = OutcomeReason::kGoalReached;
      result.reaches_goal = true;
    } else if (report.end == SearchEnd::kExhausted) {
      result.outcome =
          query_.unreachable_policy == UnreachablePolicy::kReport ? Outcome::kUnreachable : Outcome::kPartial;
      result.reason = goal_blocked ? OutcomeReason::kGoalBlocked : OutcomeReason::kNoRoute;
    } else {
      result.outcome = Outcome::kBudgetExhausted;
      result.reason = ReasonOfLimit(report.end);
    }
    const bool has_path = result.outcome == Outcome::kFound || result.outcome == Outcome::kPartial ||
                          (result.outcome == Outcome::kBudgetExhausted && report.statistics.expanded > 0);
    if (has_path) {
      WritePath(report.last);
      result.nodes = scratch_.path();
      result.cost = CostToDouble(start_.cost + report.cost + (result.reaches_goal ? goal_.cost : 0));
    }
    if (result.reaches_goal) {
      result.bound =
          ProvedBound(Tolerance(), result.cost, CostToDouble(start_.cost + report.least_cost + goal_.cost));
    }
    return result;
  }

  void WritePath(NodeNumber last) {
    std::vector<NodeNumber>& path = scratch_.path();
    for (NodeNumber node = last;; node = scratch_.At(node).parent) {
      path.push_back(node);
      if (node == start_.node) {
        break;
      }
    }
    std::reverse(path.begin(), path.end());
  }

  const WaypointGraph& graph_;
  const GraphQuery& query_;
  const Budget& budget_;
  const BudgetStop stop_;
  GraphScratch& scratch_;
  NodeRecorder* const recorder_;
  TagSet required_tags_ = 0;
  GraphSeat start_;
  GraphSeat goal_;
};

}  // namespace

absl::StatusOr<GraphPathResult> FindGraphPath(const WaypointGraph& graph, const GraphQuery& query,
                                              const Budget& budget, GraphScratch& scratch,
                                              NodeRecorder* recorder) {
  return GraphPathFinder(graph, query, budget, scratch, recorder).Run();
}

}  // namespace waystar::core
