#include "server/core/query/route_query_check.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/grid/engines/goal_search.h"
#include "server/core/query/location_check.h"

namespace waystar::core {
namespace {

absl::Status CheckWantsNoCorridor(const RouteQuery& query) {
  return query.with_corridor ? MakeError(ErrorReason::kWrongMapKind, "with_corridor",
                                         "only paths on navigation meshes have a corridor")
                             : absl::OkStatus();
}

// Checks the fields of a query on a map without cells.
absl::Status CheckFreeOfCells(const RouteQuery& query, absl::Status (*refuse)(absl::string_view field),
                              absl::Status (*check_location)(absl::string_view field, const Location&)) {
  if (query.path_form != PathForm::kEveryCell) {
    return refuse("path_form");
  }
  WAYSTAR_RETURN_IF_ERROR(check_location("start", query.start));
  WAYSTAR_RETURN_IF_ERROR(CheckGoalCount(query.goals.size()));
  for (std::size_t i = 0; i < query.goals.size(); ++i) {
    // Build the field name only for an error.
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
    // Build the field name only for an error.
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

absl::Status CheckHasTagsAlone(const AgentQuery& agent, absl::Status (*refuse)(absl::string_view field)) {
  const auto profile_has = [&](auto is_given) {
    return agent.profile.has_value() && is_given(*agent.profile);
  };
  for (const auto& [is_given, field] :
       {std::pair(agent.profile_name.has_value(), "agent.profile_name"),
        {agent.footprint.has_value(), "agent.footprint"},
        {agent.corner_rule.has_value(), "agent.corner_rule"},
        {profile_has([](const MovementProfile& profile) { return profile.footprint != 1; }),
         "agent.profile.footprint"},
        {profile_has([](const MovementProfile& profile) {
           return profile.corner_rule != CornerRule::kNoCornerCutting;
         }),
         "agent.profile.corner_rule"},
        {profile_has([](const MovementProfile& profile) { return profile.no_diagonals; }),
         "agent.profile.no_diagonals"},
        {profile_has([](const MovementProfile& profile) { return !profile.terrain_costs.empty(); }),
         "agent.profile.terrain_costs"},
        {profile_has([](const MovementProfile& profile) { return !profile.forbidden_terrains.empty(); }),
         "agent.profile.forbidden_terrains"}}) {
    if (is_given) {
      return refuse(field);
    }
  }
  return absl::OkStatus();
}

absl::Status NotOnGraph(absl::string_view field) {
  return MakeError(ErrorReason::kWrongMapKind, field,
                   absl::StrCat(field, " is for grids; the map is a waypoint graph"));
}

absl::Status CheckOnGraph(const RouteQuery& query, absl::string_view map) {
  WAYSTAR_RETURN_IF_ERROR(CheckWantsNoCorridor(query));
  if (!query.goal_map.empty() && query.goal_map != map) {
    return NotOnGraph("goal_map");
  }
  WAYSTAR_RETURN_IF_ERROR(CheckFreeOfCells(query, NotOnGraph, CheckLocationOnGraph));
  return CheckSnap(query.snap, MapKind::kWaypointGraph);
}

absl::Status NotOnMesh(absl::string_view field) {
  return MakeError(ErrorReason::kWrongMapKind, field,
                   absl::StrCat(field, " is for other maps; this one is a navigation mesh"));
}

absl::Status CheckOnMesh(const RouteQuery& query) {
  WAYSTAR_RETURN_IF_ERROR(CheckFreeOfCells(query, NotOnMesh, CheckLocationOnMesh));
  return CheckSnap(query.snap, MapKind::kMesh);
}

absl::Status CheckOneGoal(const RouteQuery& query) {
  return query.goals.size() <= 1
             ? absl::OkStatus()
             : MakeError(ErrorReason::kBadValue, "goals", "only one goal can be asked for here");
}

}  // namespace waystar::core
