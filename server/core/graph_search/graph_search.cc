#include "server/core/graph_search/graph_search.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/bad_number.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/graph_search/graph_astar.h"
#include "server/core/grid/cost.h"
#include "server/core/map/tags.h"

namespace waystar::core {
namespace {

absl::Status Unmet(ErrorReason reason, absl::string_view field, absl::string_view message) {
  return MakeError(reason, field, message);
}

// The query's fields.
constexpr absl::string_view kStartField = "start";
constexpr absl::string_view kGoalField = "goals[0]";

// A start or goal, and the node that stands in for it.
struct Snapped {
  NodeNumber node = kNoNodeNumber;
  // The position that was asked for.
  WorldPoint position;
  // The cost from there to the node.
  Cost cost = 0;
};

class GraphPathFinder {
 public:
  GraphPathFinder(const WaypointGraph& graph, const GraphQuery& query, const Budget& budget,
                  GraphScratch& scratch)
      : graph_(graph), query_(query), budget_(budget), scratch_(scratch) {}

  absl::StatusOr<GraphPathResult> Run() {
    WAYSTAR_RETURN_IF_ERROR(Check());
    if (IsDirect()) {
      const double length = Distance(std::get<WorldPoint>(query_.start), std::get<WorldPoint>(query_.goal));
      return GraphPathResult{.outcome = Outcome::kFound,
                             .reason = OutcomeReason::kGoalReached,
                             .cost = CostToDouble(CostFromDouble(length)),
                             .reaches_goal = true,
                             .statistics = {.algorithm = AlgorithmToRun()}};
    }
    WAYSTAR_ASSIGN_OR_RETURN(start_, Snap(query_.start, kStartField));
    WAYSTAR_ASSIGN_OR_RETURN(goal_, Snap(query_.goal, kGoalField));
    if (!graph_.IsEnabled(start_.node)) {
      return Unmet(ErrorReason::kStartBlocked, kStartField, "the node is not enabled");
    }
    const bool goal_blocked = !graph_.IsEnabled(goal_.node);
    if (goal_blocked && query_.unreachable_policy == UnreachablePolicy::kReport) {
      return Unmet(ErrorReason::kGoalBlocked, kGoalField, "the node is not enabled");
    }
    const std::optional<TagSet> tags = graph_.FindTags(query_.required_tags);
    if (!scratch_.Start(graph_.number_limit())) {
      return GraphPathResult{.outcome = Outcome::kBudgetExhausted,
                             .reason = OutcomeReason::kScratchLimit,
                             .statistics = {.algorithm = AlgorithmToRun()}};
    }
    const GraphSearchReport report =
        SearchGraph(graph_,
                    {.start = start_.node,
                     .goal = goal_.node,
                     .goal_position = goal_.position,
                     // No edge carries a tag that the graph does not know, nor all bits there are.
                     .required_tags = tags.value_or(~TagSet{0}),
                     .is_guided = AlgorithmToRun() == Algorithm::kAStar,
                     .wants_nearest = query_.unreachable_policy != UnreachablePolicy::kReport ||
                                      budget_.max_expansions != std::numeric_limits<std::uint64_t>::max()},
                    budget_, scratch_);
    return Answer(report, goal_blocked);
  }

 private:
  Algorithm AlgorithmToRun() const {
    return query_.algorithm == Algorithm::kAuto ? Algorithm::kAStar : query_.algorithm;
  }

  absl::Status Check() const {
    if (AlgorithmToRun() != Algorithm::kAStar && AlgorithmToRun() != Algorithm::kDijkstra) {
      return Unmet(ErrorReason::kAlgorithmUnsuited, "algorithm",
                   "only A* and Dijkstra's algorithm search waypoint graphs");
    }
    if (absl::Status status = CheckTags(query_.required_tags, ErrorReason::kBadProfile); !status.ok()) {
      return WithFieldPrefix(status, "agent.profile.required_tags");
    }
    for (const auto& [place, name] : {std::pair(&query_.start, kStartField), {&query_.goal, kGoalField}}) {
      if (const auto* position = std::get_if<WorldPoint>(place)) {
        if (absl::Status status = CheckPosition(*position); !status.ok()) {
          return WithFieldPrefix(status, absl::StrCat(name, ".position"));
        }
      }
    }
    return absl::OkStatus();
  }

  bool IsDirect() const {
    const auto* start = std::get_if<WorldPoint>(&query_.start);
    const auto* goal = std::get_if<WorldPoint>(&query_.goal);
    return start != nullptr && goal != nullptr && query_.required_tags.empty() && graph_.max_distance() &&
           graph_.sight().IsClear(*start, *goal);
  }

  absl::StatusOr<Snapped> Snap(const GraphPlace& place, absl::string_view name) const {
    if (const auto* id = std::get_if<std::string>(&place)) {
      const std::string field = absl::StrCat(name, ".node");
      const NodeNumber node = graph_.FindNode(*id);
      if (node == kNoNodeNumber) {
        if (absl::Status status = CheckNodeId(*id); !status.ok()) {
          return WithFieldPrefix(status, field);
        }
        return MakeError(ErrorReason::kNodeNotFound, field,
                         absl::StrCat("the map has no node \"", *id, "\""));
      }
      return Snapped{.node = node, .position = graph_.PositionOf(node)};
    }
    const WorldPoint position = Rounded(std::get<WorldPoint>(place));
    const NodeNumber node = graph_.NearestVisible(position, query_.snap_radius);
    if (node == kNoNodeNumber) {
      return Unmet(ErrorReason::kNoNodeNear, name,
                   query_.snap_radius > 0
                       ? absl::StrCat("no enabled node is seen from there within ", query_.snap_radius)
                       : "no enabled node lies there, and without a snap none is looked for near by");
    }
    return Snapped{.node = node,
                   .position = position,
                   .cost = CostFromDouble(Distance(position, graph_.PositionOf(node)))};
  }

  absl::StatusOr<GraphPathResult> Answer(const GraphSearchReport& report, bool goal_blocked) {
    GraphPathResult result{.statistics = report.statistics};
    switch (report.end) {
      case SearchEnd::kGoalReached:
        result.outcome = Outcome::kFound;
        result.reason = OutcomeReason::kGoalReached;
        result.reaches_goal = true;
        break;
      case SearchEnd::kExhausted:
        result.outcome = query_.unreachable_policy == UnreachablePolicy::kReport ? Outcome::kUnreachable
                                                                                 : Outcome::kPartial;
        result.reason = goal_blocked ? OutcomeReason::kGoalBlocked : OutcomeReason::kNoRoute;
        break;
      case SearchEnd::kExpansionLimit:
        result.outcome = Outcome::kBudgetExhausted;
        result.reason = OutcomeReason::kExpansionLimit;
        break;
      case SearchEnd::kScratchLimit:
        result.outcome = Outcome::kBudgetExhausted;
        result.reason = OutcomeReason::kScratchLimit;
        break;
      case SearchEnd::kDeadline:
      case SearchEnd::kCancelled:
      case SearchEnd::kEvicted:
        return Stopped(report);
    }
    const bool has_path = result.outcome == Outcome::kFound || result.outcome == Outcome::kPartial ||
                          (result.outcome == Outcome::kBudgetExhausted && report.statistics.expanded > 0);
    if (has_path) {
      WritePath(report.last);
      result.nodes = scratch_.path();
      result.cost = CostToDouble(start_.cost + report.cost + (result.reaches_goal ? goal_.cost : 0));
    }
    return result;
  }

  static absl::Status Stopped(const GraphSearchReport& report) {
    const std::string after = absl::StrCat(" after ", report.statistics.expanded, " expansions");
    switch (report.end) {
      case SearchEnd::kDeadline:
        return MakeError(ErrorReason::kDeadlineExceeded, "", absl::StrCat("the deadline passed", after));
      case SearchEnd::kEvicted:
        return MakeError(ErrorReason::kSnapshotEvicted, "",
                         absl::StrCat("the map changed much since the search began, and the server needs the "
                                      "memory of its old state; stopped",
                                      after));
      default:
        return MakeError(ErrorReason::kCancelled, "", absl::StrCat("cancelled", after));
    }
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
  GraphScratch& scratch_;
  Snapped start_;
  Snapped goal_;
};

}  // namespace

absl::StatusOr<GraphPathResult> FindGraphPath(const WaypointGraph& graph, const GraphQuery& query,
                                              const Budget& budget, GraphScratch& scratch) {
  return GraphPathFinder(graph, query, budget, scratch).Run();
}

}  // namespace waystar::core
