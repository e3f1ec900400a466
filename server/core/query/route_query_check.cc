#include "server/core/query/route_query_check.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/nearest/nearest_goal.h"
#include "server/core/query/location_check.h"

namespace waystar::core {
namespace {

absl::Status CheckWantsNoCorridor(const RouteQuery& query) {
  return query.with_corridor ? MakeError(ErrorReason::kWrongMapKind, "with_corridor",
                                         "only paths on navigation meshes have a corridor")
                             : absl::OkStatus();
}

// Checks a query on a map of a kind that has neither portals nor path forms.
absl::Status CheckFreeOfCells(const RouteQuery& query, absl::string_view map,
                              absl::Status (*refuse)(absl::string_view field),
                              absl::Status (*check_location)(absl::string_view field, const Location&)) {
  if (!query.goal_map.empty() && query.goal_map != map) {
    return refuse("goal_map");
  }
  if (query.path_form != PathForm::kEveryCell) {
    return refuse("path_form");
  }
  WAYSTAR_RETURN_IF_ERROR(check_location("start", query.start));
  WAYSTAR_RETURN_IF_ERROR(CheckGoalCount(query.goals.size()));
  for (std::size_t i = 0; i < query.goals.size(); ++i) {
    // The field's name is made for what is refused alone.
    if (!check_location("", query.goals[i]).ok()) {
      return check_location(GoalField(i), query.goals[i]);
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string GoalField(std::size_t index) { return absl::StrCat("goals[", index, "]"); }

absl::Status CheckOnGrid(const RouteQuery& query) {
  WAYSTAR_RETURN_IF_ERROR(CheckWantsNoCorridor(query));
  WAYSTAR_RETURN_IF_ERROR(CheckLocationOnGrid("start", query.start));
  WAYSTAR_RETURN_IF_ERROR(CheckGoalCount(query.goals.size()));
  for (std::size_t i = 0; i < query.goals.size(); ++i) {
    const Location& goal = query.goals[i];
    // The field's name is made for what is refused alone.
    if (!CheckLocationOnGrid("", goal).ok()) {
      return CheckLocationOnGrid(GoalField(i), goal);
    }
  }
  WAYSTAR_RETURN_IF_ERROR(CheckSnap(query.snap, MapKind::kSquares));
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
  WAYSTAR_RETURN_IF_ERROR(CheckWantsNoCorridor(query));
  WAYSTAR_RETURN_IF_ERROR(CheckFreeOfCells(query, map, NotOnGraph, CheckLocationOnGraph));
  return CheckSnap(query.snap, MapKind::kWaypointGraph);
}

absl::Status NotOnMesh(absl::string_view field) {
  return MakeError(ErrorReason::kWrongMapKind, field,
                   absl::StrCat(field, " is for other maps; this one is a navigation mesh"));
}

absl::Status CheckOnMesh(const RouteQuery& query, absl::string_view map) {
  WAYSTAR_RETURN_IF_ERROR(CheckFreeOfCells(query, map, NotOnMesh, CheckLocationOnMesh));
  return CheckSnap(query.snap, MapKind::kMesh);
}

absl::Status CheckOneGoal(const RouteQuery& query) {
  return query.goals.size() <= 1
             ? absl::OkStatus()
             : MakeError(ErrorReason::kBadValue, "goals", "only one goal can be asked for here");
}

}  // namespace waystar::core
