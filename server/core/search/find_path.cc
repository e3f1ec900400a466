#include "server/core/search/find_path.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/search/astar.h"
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

// Follows the steps that the search left in `scratch` from `end` back to `start`.
void TraceBack(Cell start, Cell end, Scratch& scratch) {
  std::vector<Direction>& directions = scratch.directions();
  for (Cell cell = end; cell != start;) {
    const Direction entered_by = scratch.Find(cell)->entered_by;
    directions.push_back(entered_by);
    cell = Step(cell, Opposite(entered_by));
  }
  std::reverse(directions.begin(), directions.end());
}

// Sums by kind of step and not along the path: two paths of the same steps cost the same to the last bit.
double CostOf(const GridMap& map, Cell start, const std::vector<Direction>& directions) {
  std::array<std::array<std::uint32_t, 2>, kMaxTerrains> counts{};
  Cell cell = start;
  for (const Direction direction : directions) {
    cell = Step(cell, direction);
    ++counts[map.TerrainAt(cell)][IsDiagonal(direction) ? 1 : 0];
  }
  const GridSettings& settings = map.settings();
  double cost = 0.0;
  for (std::size_t i = 0; i < settings.terrains.size(); ++i) {
    // Rounded once, so that 10 straight steps and 7 diagonal ones of 1.4 make 19.8 and
    // not 19.799999999999997.
    cost += settings.terrains[i].cost * std::fma(counts[i][1], settings.diagonal_cost, counts[i][0]);
  }
  return cost;
}

void WritePoints(Cell start, PathForm form, Scratch& scratch) {
  const std::vector<Direction>& directions = scratch.directions();
  std::vector<Cell>& points = scratch.points();
  points.push_back(start);
  Cell cell = start;
  for (std::size_t i = 0; i < directions.size(); ++i) {
    cell = Step(cell, directions[i]);
    const bool turns = i + 1 == directions.size() || directions[i + 1] != directions[i];
    if (form == PathForm::kEveryCell || turns) {
      points.push_back(cell);
    }
  }
}

void WritePath(const GridMap& map, const PathQuery& query, Cell end, Scratch& scratch, PathResult& result) {
  TraceBack(query.start, end, scratch);
  result.end = end;
  result.cost = CostOf(map, query.start, scratch.directions());
  if (query.path_form == PathForm::kDirections) {
    result.directions = scratch.directions();
    return;
  }
  WritePoints(query.start, query.path_form, scratch);
  result.points = scratch.points();
}

OutcomeReason WhyUnreachable(const GridMap& map, Cell goal) {
  return map.IsWalkable(goal) ? OutcomeReason::kNoRoute : OutcomeReason::kGoalBlocked;
}

template <typename Recorder>
absl::StatusOr<PathResult> FindPathWith(const GridMap& map, const PathQuery& query, const Budget& budget,
                                        Scratch& scratch, Recorder& recorder) {
  WAYSTAR_RETURN_IF_ERROR(CheckQuery(map, query));
  PathQuery resolved = query;
  if (query.algorithm == Algorithm::kAuto) {
    resolved.algorithm = Algorithm::kAStar;
  }
  const SearchReport report = RunAStar(map, resolved, budget, scratch, recorder);

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
