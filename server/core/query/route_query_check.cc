#include "server/core/query/route_query_check.h"

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/bad_number.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"

namespace waystar::core {
namespace {

absl::Status WrongKind(absl::string_view field, absl::string_view message) {
  return MakeError(ErrorReason::kWrongMapKind, field, message);
}

absl::Status CheckHasNoNodes(const RouteQuery& query) {
  if (query.start.node.empty() && query.goal.node.empty()) {
    return absl::OkStatus();
  }
  const absl::string_view field = query.start.node.empty() ? "goal_node" : "start_node";
  return WrongKind(field,
                   absl::StrCat(field, " is for FindPath on waypoint graphs; this is a query on a grid"));
}

absl::Status CheckEnd(absl::string_view field, const RouteEnd& end) {
  if (end.cell.has_value() && end.position.has_value()) {
    return MakeError(ErrorReason::kBadValue, absl::StrCat(field, "_position"),
                     absl::StrCat("give ", field, " or ", field, "_position, not both"));
  }
  return end.cell.has_value() || end.position.has_value()
             ? absl::OkStatus()
             : MakeError(ErrorReason::kMissingField, field, absl::StrCat(field, " is required"));
}

absl::Status CheckPosition(absl::string_view field, const Position& position) {
  const std::pair<absl::string_view, double> parts[] = {
      {".x", position.x}, {".y", position.y}, {".z", position.z}};
  for (const auto& [part, value] : parts) {
    if (!std::isfinite(value)) {
      return BadNumber(ErrorReason::kBadValue, absl::StrCat(field, part), value, "a finite number");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckGoals(const RouteQuery& query) {
  const bool has_one = query.goal.cell.has_value() || query.goal.position.has_value();
  if (!query.goals.empty() && has_one) {
    return MakeError(ErrorReason::kBadValue, "goals", "give one goal or several goals, not both");
  }
  if (!query.goal_positions.empty() && (has_one || !query.goals.empty())) {
    return MakeError(ErrorReason::kBadValue, "goal_positions",
                     "give one goal, several goals or the positions of several, not two of these");
  }
  for (std::size_t i = 0; i < query.goal_positions.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckPosition(absl::StrCat("goal_positions[", i, "]"), query.goal_positions[i]));
  }
  return query.HasSeveralGoals() ? absl::OkStatus() : CheckEnd("goal", query.goal);
}

absl::Status CheckEndpoints(const RouteQuery& query) {
  WAYSTAR_RETURN_IF_ERROR(CheckEnd("start", query.start));
  WAYSTAR_RETURN_IF_ERROR(CheckGoals(query));
  WAYSTAR_RETURN_IF_ERROR(CheckPosition("start_position", query.start.position.value_or(Position())));
  WAYSTAR_RETURN_IF_ERROR(CheckPosition("goal_position", query.goal.position.value_or(Position())));
  if (!std::isfinite(query.snap_radius) || query.snap_radius < 0) {
    return BadNumber(ErrorReason::kBadValue, "snap_radius", query.snap_radius, "a finite number, 0 or more");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckOnGrid(const RouteQuery& query) {
  WAYSTAR_RETURN_IF_ERROR(CheckHasNoNodes(query));
  WAYSTAR_RETURN_IF_ERROR(CheckEndpoints(query));
  if (query.algorithm == Algorithm::kLazyThetaStar && query.path_form == PathForm::kDirections) {
    return MakeError(ErrorReason::kBadValue, "path_form",
                     "a path that goes at any angle has no directions: ask for points");
  }
  return absl::OkStatus();
}

absl::Status CheckOnGraph(const RouteQuery& query, absl::string_view map) {
  const std::optional<MovementProfile>& profile = query.agent.profile;
  for (const auto& [is_given, field] :
       {std::pair(query.start.cell.has_value(), "start"),
        {query.goal.cell.has_value(), "goal"},
        {!query.goals.empty(), "goals"},
        {!query.goal_positions.empty(), "goal_positions"},
        {!query.goal_map.empty() && query.goal_map != map, "goal_map"},
        {query.agent.profile_name.has_value(), "profile_name"},
        {profile.has_value() && !profile->terrain_costs.empty(), "profile.terrain_costs"},
        {profile.has_value() && !profile->forbidden_terrains.empty(), "profile.forbidden_terrains"},
        {query.agent.overlay.has_value(), "overlay"},
        {query.with_summary, "with_summary"}}) {
    if (is_given) {
      return WrongKind(field, absl::StrCat(field, " is for grids; the map is a waypoint graph"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckOneGoal(const RouteQuery& query) {
  if (!query.HasSeveralGoals()) {
    return absl::OkStatus();
  }
  return MakeError(ErrorReason::kBadValue, query.goals.empty() ? "goal_positions" : "goals",
                   "only one goal can be asked for here");
}

}  // namespace waystar::core
