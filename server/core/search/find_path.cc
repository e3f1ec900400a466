#include "server/core/search/find_path.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/search/astar.h"
#include "server/core/search/jps.h"
#include "server/core/search/path.h"
#include "server/core/search/recorder.h"

namespace waystar::core {
namespace {

absl::Status CheckOnMap(const GridMap& map, absl::string_view field, Cell cell) {
  if (map.Contains(cell)) {
    return absl::OkStatus();
  }
  return MakeError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, field,
                   absl::StrCat("the ", field, " (", cell.x, ", ", cell.y, ") is off the map, which is ",
                                map.width(), " x ", map.height(), " cells"));
}

absl::Status CheckWalkable(const GridMap& map, absl::string_view field, Cell cell, ErrorReason reason) {
  if (map.IsWalkable(cell)) {
    return absl::OkStatus();
  }
  const Terrain& terrain = map.settings().terrains[map.TerrainAt(cell)];
  return MakeError(
      absl::StatusCode::kFailedPrecondition, reason, field,
      absl::StrCat("the ", field, " (", cell.x, ", ", cell.y, ") is blocked by ",
                   map.HasObstacle(cell) ? "an obstacle" : "impassable terrain: " + terrain.name));
}

absl::Status CheckQuery(const GridMap& map, const PathQuery& query) {
  WAYSTAR_RETURN_IF_ERROR(CheckOnMap(map, "start", query.start));
  WAYSTAR_RETURN_IF_ERROR(CheckOnMap(map, "goal", query.goal));
  WAYSTAR_RETURN_IF_ERROR(CheckWalkable(map, "start", query.start, ErrorReason::kStartBlocked));
  if (query.unreachable_policy == UnreachablePolicy::kReport) {
    WAYSTAR_RETURN_IF_ERROR(CheckWalkable(map, "goal", query.goal, ErrorReason::kGoalBlocked));
  }
  return absl::OkStatus();
}

void WritePath(const GridMap& map, const PathQuery& query, Cell end, Scratch& scratch, PathResult& result) {
  std::vector<Cell>& corners = scratch.corners();
  if (result.statistics.algorithm == Algorithm::kJumpPoint) {
    TraceJumps(map.settings().connectivity, end, scratch.nodes(), corners);
  } else {
    TraceSteps(query.start, end, scratch, corners);
  }
  result.end = end;
  result.cost = CostOf(map, corners);
  switch (query.path_form) {
    case PathForm::kEveryCell:
      ExpandCells(corners, scratch.points());
      result.points = scratch.points();
      break;
    case PathForm::kDirections:
      ExpandDirections(corners, scratch.directions());
      result.directions = scratch.directions();
      break;
    case PathForm::kCorners:
    case PathForm::kSmoothed:
      result.points = corners;
      break;
  }
}

Algorithm Resolve(const GridMap& map, Algorithm algorithm) {
  if (algorithm == Algorithm::kAuto || algorithm == Algorithm::kJumpPoint) {
    return map.step_costs().uniform ? Algorithm::kJumpPoint : Algorithm::kAStar;
  }
  return algorithm;
}

template <typename Recorder>
SearchReport Search(const GridMap& map, const PathQuery& query, const Budget& budget, Scratch& scratch,
                    Recorder& recorder) {
  PathQuery resolved = query;
  resolved.algorithm = Resolve(map, query.algorithm);
  if (resolved.algorithm == Algorithm::kJumpPoint) {
    const SearchReport report = RunJps(map, resolved, budget, scratch, recorder);
    if (report.end != SearchEnd::kExhausted || query.unreachable_policy == UnreachablePolicy::kReport) {
      return report;
    }
    resolved.algorithm = Algorithm::kAStar;
  }
  return RunAStar(map, resolved, budget, scratch, recorder);
}

OutcomeReason WhyUnreachable(const GridMap& map, Cell goal) {
  return map.IsWalkable(goal) ? OutcomeReason::kNoRoute : OutcomeReason::kGoalBlocked;
}

template <typename Recorder>
absl::StatusOr<PathResult> FindPathWith(const GridMap& map, const PathQuery& query, const Budget& budget,
                                        Scratch& scratch, Recorder& recorder) {
  WAYSTAR_RETURN_IF_ERROR(CheckQuery(map, query));
  const SearchReport report = Search(map, query, budget, scratch, recorder);

  PathResult result{.statistics = report.statistics};
  switch (report.end) {
    case SearchEnd::kGoalReached:
      result.outcome = Outcome::kFound;
      result.reason = OutcomeReason::kGoalReached;
      break;
    case SearchEnd::kExhausted:
      result.reason = WhyUnreachable(map, query.goal);
      if (query.unreachable_policy == UnreachablePolicy::kReport) {
        result.outcome = Outcome::kUnreachable;
        return result;
      }
      result.outcome = Outcome::kPartial;
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
      return MakeError(absl::StatusCode::kDeadlineExceeded, ErrorReason::kDeadlineExceeded, "",
                       absl::StrCat("the deadline passed after ", report.statistics.expanded, " expansions"));
    case SearchEnd::kCancelled:
      return MakeError(absl::StatusCode::kCancelled, ErrorReason::kCancelled, "",
                       absl::StrCat("cancelled after ", report.statistics.expanded, " expansions"));
  }
  WritePath(map, query, report.nearest, scratch, result);
  return result;
}

}  // namespace

absl::StatusOr<PathResult> FindPath(const GridMap& map, const PathQuery& query, const Budget& budget,
                                    Scratch& scratch) {
  NoRecorder recorder;
  return FindPathWith(map, query, budget, scratch, recorder);
}

absl::StatusOr<PathResult> TraceSearch(const GridMap& map, const PathQuery& query, const Budget& budget,
                                       Scratch& scratch, EventRecorder& recorder) {
  return FindPathWith(map, query, budget, scratch, recorder);
}

}  // namespace waystar::core
