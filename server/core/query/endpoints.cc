#include "server/core/query/endpoints.h"

#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/nearest/nearest_goal.h"
#include "server/core/search/interruption.h"
#include "server/core/search/snap.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {
namespace {

absl::Status CheckEnd(absl::string_view field, const RouteEnd& end) {
  if (end.cell.has_value() && end.position.has_value()) {
    return InvalidArgument(ErrorReason::kBadValue, absl::StrCat(field, "_position"),
                           absl::StrCat("give ", field, " or ", field, "_position, not both"));
  }
  return end.cell.has_value() || end.position.has_value()
             ? absl::OkStatus()
             : InvalidArgument(ErrorReason::kMissingField, field, absl::StrCat(field, " is required"));
}

absl::Status CheckPosition(absl::string_view field, const Position& position) {
  const std::pair<absl::string_view, double> parts[] = {
      {".x", position.x}, {".y", position.y}, {".z", position.z}};
  for (const auto& [part, value] : parts) {
    if (!std::isfinite(value)) {
      return InvalidArgument(ErrorReason::kBadValue, absl::StrCat(field, part), "is a finite number");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckGoals(const RouteQuery& query) {
  const bool has_one = query.goal.cell.has_value() || query.goal.position.has_value();
  if (!query.goals.empty() && has_one) {
    return InvalidArgument(ErrorReason::kBadValue, "goals", "give one goal or several goals, not both");
  }
  if (!query.goal_positions.empty() && (has_one || !query.goals.empty())) {
    return InvalidArgument(ErrorReason::kBadValue, "goal_positions",
                           "give one goal, several goals or the positions of several, not two of these");
  }
  for (std::size_t i = 0; i < query.goal_positions.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckPosition(absl::StrCat("goal_positions[", i, "]"), query.goal_positions[i]));
  }
  return query.HasSeveralGoals() ? absl::OkStatus() : CheckEnd("goal", query.goal);
}

// Resolves ends on one map.
class EndpointResolver {
 public:
  EndpointResolver(const GridMap& map, int footprint, double snap_radius, const Budget& budget)
      : map_(map), footprint_(footprint), snap_radius_(snap_radius), budget_(budget) {}

  absl::StatusOr<Cell> OfCell(Cell cell) const {
    return snap_radius_ > 0 ? Snap(map_.settings().frame.CenterOf(cell), cell) : cell;
  }

  absl::StatusOr<Cell> OfPosition(absl::string_view field, const Position& position) const {
    Cell cell = map_.settings().frame.CellAt(position);
    if (snap_radius_ > 0) {
      WAYSTAR_ASSIGN_OR_RETURN(cell, Snap(position, cell));
    }
    if (!map_.Contains(cell)) {
      return MakeError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, field,
                       absl::StrCat("(", position.x, ", ", position.y, ") is off the map"));
    }
    return cell;
  }

  absl::StatusOr<Cell> Of(absl::string_view field, const RouteEnd& end) const {
    return end.position.has_value() ? OfPosition(field, *end.position) : OfCell(*end.cell);
  }

 private:
  absl::StatusOr<Cell> Snap(const Position& from, Cell cell) const {
    const std::shared_ptr<const WalkGrid> walk = map_.walk(footprint_);
    if (walk->IsWalkable(cell)) {
      return cell;
    }
    if (const std::optional<SearchEnd> end = Interruption(budget_)) {
      return InterruptionError(*end, 0);
    }
    return NearestFree(*walk, map_.settings().frame, from, snap_radius_).value_or(cell);
  }

  const GridMap& map_;
  const int footprint_;
  const double snap_radius_;
  const Budget& budget_;
};

absl::Status ResolveGoals(const RouteQuery& query, const EndpointResolver* resolver,
                          GridRouteQuery& resolved) {
  resolved.goals = query.goals;
  resolved.goals.resize(std::max(query.goals.size(), query.goal_positions.size()));
  resolved.goals_were_positions = !query.goal_positions.empty();
  WAYSTAR_RETURN_IF_ERROR(BlamePositionField(CheckNearestQuery(resolved.path, resolved.goals), resolved));
  if (resolver == nullptr) {
    return absl::OkStatus();
  }
  for (std::size_t i = 0; i < resolved.goals.size(); ++i) {
    WAYSTAR_ASSIGN_OR_RETURN(
        resolved.goals[i],
        resolved.goals_were_positions
            ? resolver->OfPosition(absl::StrCat("goal_positions[", i, "]"), query.goal_positions[i])
            : resolver->OfCell(query.goals[i]));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckEndpoints(const RouteQuery& query) {
  WAYSTAR_RETURN_IF_ERROR(CheckEnd("start", query.start));
  WAYSTAR_RETURN_IF_ERROR(CheckGoals(query));
  WAYSTAR_RETURN_IF_ERROR(CheckPosition("start_position", query.start.position.value_or(Position())));
  WAYSTAR_RETURN_IF_ERROR(CheckPosition("goal_position", query.goal.position.value_or(Position())));
  if (!std::isfinite(query.snap_radius) || query.snap_radius < 0) {
    return InvalidArgument(ErrorReason::kBadValue, "snap_radius", "is a finite number, 0 or more");
  }
  return absl::OkStatus();
}

absl::Status ResolveEndpoints(const RouteQuery& query, const Budget& budget, GridRouteQuery& resolved) {
  const GridMap& home = resolved.agent->map();
  const GridMap* goal_map = resolved.goal_map.empty() ? &home : resolved.agent->Find(resolved.goal_map);
  const int footprint = resolved.path.footprint;
  resolved.start_was_position = query.start.position.has_value();
  resolved.goal_was_position = query.goal.position.has_value();
  const EndpointResolver at_home(home, footprint, query.snap_radius, budget);
  WAYSTAR_ASSIGN_OR_RETURN(resolved.path.start, at_home.Of("start_position", query.start));
  std::optional<EndpointResolver> at_goal;
  if (goal_map != nullptr) {
    at_goal.emplace(*goal_map, footprint, query.snap_radius, budget);
  }
  if (query.HasSeveralGoals()) {
    return ResolveGoals(query, at_goal.has_value() ? &*at_goal : nullptr, resolved);
  }
  if (at_goal.has_value()) {
    WAYSTAR_ASSIGN_OR_RETURN(resolved.path.goal, at_goal->Of("goal_position", query.goal));
  } else {
    resolved.path.goal = query.goal.cell.value_or(Cell());
  }
  return absl::OkStatus();
}

absl::Status BlamePositionField(const absl::Status& status, const GridRouteQuery& query) {
  const std::string field = ErrorFieldOf(status);
  const bool is_position =
      (field == "start" && query.start_was_position) || (field == "goal" && query.goal_was_position);
  if (is_position) {
    return WithField(status, absl::StrCat(field, "_position"));
  }
  return field == "goals" && query.goals_were_positions ? WithField(status, "goal_positions") : status;
}

}  // namespace waystar::core
