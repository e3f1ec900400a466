#include "server/core/query/route_query_check.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/nearest/nearest_goal.h"
#include "server/core/query/location_check.h"

namespace waystar::core {

std::string GoalField(std::size_t index) { return absl::StrCat("goals[", index, "]"); }

absl::Status CheckOnGrid(const RouteQuery& query) {
  WAYSTAR_RETURN_IF_ERROR(CheckLocationOnGrid("start", query.start));
  WAYSTAR_RETURN_IF_ERROR(CheckGoalCount(query.goals.size()));
  for (std::size_t i = 0; i < query.goals.size(); ++i) {
    const Location& goal = query.goals[i];
    // The field's name is made for what is refused alone.
    if (!CheckLocationOnGrid("", goal).ok()) {
      return CheckLocationOnGrid(GoalField(i), goal);
    }
  }
  WAYSTAR_RETURN_IF_ERROR(CheckSnap(query.snap));
  if (query.algorithm == Algorithm::kLazyThetaStar && query.path_form == PathForm::kDirections) {
    return MakeError(ErrorReason::kBadValue, "path_form",
                     "a path that goes at any angle has no directions: ask for points");
  }
  return absl::OkStatus();
}

absl::Status NotOnGraph(absl::string_view field) {
  return MakeError(ErrorReason::kWrongMapKind, field,
                   absl::StrCat(field, " is for grids; the map is a waypoint graph"));
}

absl::Status CheckOnGraph(const RouteQuery& query, absl::string_view map) {
  if (!query.goal_map.empty() && query.goal_map != map) {
    return NotOnGraph("goal_map");
  }
  if (query.path_form != PathForm::kEveryCell) {
    return NotOnGraph("path_form");
  }
  WAYSTAR_RETURN_IF_ERROR(CheckLocationOnGraph("start", query.start));
  WAYSTAR_RETURN_IF_ERROR(CheckGoalCount(query.goals.size()));
  for (std::size_t i = 0; i < query.goals.size(); ++i) {
    // The field's name is made for what is refused alone.
    if (!CheckLocationOnGraph("", query.goals[i]).ok()) {
      return CheckLocationOnGraph(GoalField(i), query.goals[i]);
    }
  }
  return CheckSnap(query.snap);
}

absl::Status CheckOneGoal(const RouteQuery& query) {
  return query.goals.size() <= 1
             ? absl::OkStatus()
             : MakeError(ErrorReason::kBadValue, "goals", "only one goal can be asked for here");
}

}  // namespace waystar::core
