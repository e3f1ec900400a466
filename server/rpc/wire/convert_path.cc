#include "server/rpc/wire/convert_path.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/grid/cost.h"
#include "server/core/walk/footprint.h"
#include "server/rpc/wire/convert.h"

namespace waystar::rpc {
namespace {

absl::Status CheckEnd(absl::string_view field, bool has_cell, bool has_position) {
  if (has_cell && has_position) {
    return InvalidArgument(ErrorReason::kBadValue, absl::StrCat(field, "_position"),
                           absl::StrCat("give ", field, " or ", field, "_position, not both"));
  }
  return has_cell || has_position ? absl::OkStatus() : MissingField(field);
}

absl::Status CheckPosition(absl::string_view field, const v1::Position& position) {
  const std::pair<absl::string_view, double> parts[] = {
      {".x", position.x()}, {".y", position.y()}, {".z", position.z()}};
  for (const auto& [part, value] : parts) {
    if (!std::isfinite(value)) {
      return InvalidArgument(ErrorReason::kBadValue, absl::StrCat(field, part), "is a finite number");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckGoals(const v1::FindPathRequest& request) {
  const bool has_one = request.has_goal() || request.has_goal_position();
  if (!request.goals().empty() && has_one) {
    return InvalidArgument(ErrorReason::kBadValue, "goals", "give one goal or several goals, not both");
  }
  if (!request.goal_positions().empty() && (has_one || !request.goals().empty())) {
    return InvalidArgument(ErrorReason::kBadValue, "goal_positions",
                           "give one goal, several goals or the positions of several, not two of these");
  }
  for (int i = 0; i < request.goal_positions_size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(
        CheckPosition(absl::StrCat("goal_positions[", i, "]"), request.goal_positions(i)));
  }
  return HasSeveralGoals(request) ? absl::OkStatus()
                                  : CheckEnd("goal", request.has_goal(), request.has_goal_position());
}

}  // namespace

absl::StatusOr<core::Algorithm> ToAlgorithm(v1::Algorithm algorithm) {
  switch (algorithm) {
    case v1::ALGORITHM_UNSPECIFIED:
    case v1::ALGORITHM_AUTO:
      return core::Algorithm::kAuto;
    case v1::ALGORITHM_ASTAR:
      return core::Algorithm::kAStar;
    case v1::ALGORITHM_DIJKSTRA:
      return core::Algorithm::kDijkstra;
    case v1::ALGORITHM_JUMP_POINT_SEARCH:
      return core::Algorithm::kJumpPoint;
    case v1::ALGORITHM_LAZY_THETA_STAR:
      return core::Algorithm::kLazyThetaStar;
    case v1::ALGORITHM_SUBGOAL_HIERARCHY:
      return core::Algorithm::kSubgoalHierarchy;
    default:
      return UnknownEnumValue("algorithm", algorithm);
  }
}

absl::StatusOr<core::UnreachablePolicy> ToUnreachablePolicy(v1::UnreachablePolicy policy) {
  switch (policy) {
    case v1::UNREACHABLE_POLICY_UNSPECIFIED:
    case v1::UNREACHABLE_POLICY_REPORT:
      return core::UnreachablePolicy::kReport;
    case v1::UNREACHABLE_POLICY_NEAREST_BY_DISTANCE:
      return core::UnreachablePolicy::kNearestByDistance;
    default:
      return UnknownEnumValue("unreachable_policy", policy);
  }
}

v1::Outcome FromOutcome(core::Outcome outcome) {
  switch (outcome) {
    case core::Outcome::kFound:
      return v1::OUTCOME_FOUND;
    case core::Outcome::kPartial:
      return v1::OUTCOME_PARTIAL;
    case core::Outcome::kUnreachable:
      return v1::OUTCOME_UNREACHABLE;
    case core::Outcome::kBudgetExhausted:
      return v1::OUTCOME_BUDGET_EXHAUSTED;
  }
  return v1::OUTCOME_UNSPECIFIED;
}

v1::Reason FromReason(core::OutcomeReason reason) {
  switch (reason) {
    case core::OutcomeReason::kGoalReached:
      return v1::REASON_GOAL_REACHED;
    case core::OutcomeReason::kNoRoute:
      return v1::REASON_NO_ROUTE;
    case core::OutcomeReason::kGoalBlocked:
      return v1::REASON_GOAL_BLOCKED;
    case core::OutcomeReason::kExpansionLimit:
      return v1::REASON_EXPANSION_LIMIT;
    case core::OutcomeReason::kScratchLimit:
      return v1::REASON_SCRATCH_LIMIT;
  }
  return v1::REASON_UNSPECIFIED;
}

v1::Algorithm FromAlgorithm(core::Algorithm algorithm) {
  switch (algorithm) {
    case core::Algorithm::kAuto:
      return v1::ALGORITHM_AUTO;
    case core::Algorithm::kAStar:
      return v1::ALGORITHM_ASTAR;
    case core::Algorithm::kDijkstra:
      return v1::ALGORITHM_DIJKSTRA;
    case core::Algorithm::kJumpPoint:
      return v1::ALGORITHM_JUMP_POINT_SEARCH;
    case core::Algorithm::kLazyThetaStar:
      return v1::ALGORITHM_LAZY_THETA_STAR;
    case core::Algorithm::kSubgoalHierarchy:
      return v1::ALGORITHM_SUBGOAL_HIERARCHY;
  }
  return v1::ALGORITHM_UNSPECIFIED;
}

absl::StatusOr<core::CornerRule> ToCornerRule(v1::CornerRule rule) {
  switch (rule) {
    case v1::CORNER_RULE_UNSPECIFIED:
    case v1::CORNER_RULE_NO_CORNER_CUTTING:
      return core::CornerRule::kNoCornerCutting;
    case v1::CORNER_RULE_ONE_SIDE_FREE:
      return core::CornerRule::kOneSideFree;
    case v1::CORNER_RULE_ALWAYS:
      return core::CornerRule::kAlways;
    default:
      return UnknownEnumValue("corner_rule", rule);
  }
}

absl::StatusOr<core::PathForm> ToPathForm(v1::PathForm form) {
  switch (form) {
    case v1::PATH_FORM_UNSPECIFIED:
    case v1::PATH_FORM_EVERY_CELL:
      return core::PathForm::kEveryCell;
    case v1::PATH_FORM_CORNERS:
      return core::PathForm::kCorners;
    case v1::PATH_FORM_DIRECTIONS:
      return core::PathForm::kDirections;
    case v1::PATH_FORM_SMOOTHED:
      return core::PathForm::kSmoothed;
    default:
      return UnknownEnumValue("path_form", form);
  }
}

absl::StatusOr<int> ToFootprint(std::int32_t footprint) {
  const int side = footprint == 0 ? 1 : footprint;
  WAYSTAR_RETURN_IF_ERROR(core::CheckFootprint(side));
  return side;
}

absl::StatusOr<core::PathQuery> ToPathQuery(const v1::FindPathRequest& request) {
  WAYSTAR_RETURN_IF_ERROR(CheckNoCoordinates(request.coordinates()));
  if (!request.start_node().empty() || !request.goal_node().empty()) {
    return MakeError(absl::StatusCode::kFailedPrecondition, ErrorReason::kWrongMapKind,
                     request.start_node().empty() ? "goal_node" : "start_node",
                     "is for FindPath on waypoint graphs; this is a query on a grid");
  }
  WAYSTAR_RETURN_IF_ERROR(CheckEnd("start", request.has_start(), request.has_start_position()));
  WAYSTAR_RETURN_IF_ERROR(CheckGoals(request));
  WAYSTAR_RETURN_IF_ERROR(CheckPosition("start_position", request.start_position()));
  WAYSTAR_RETURN_IF_ERROR(CheckPosition("goal_position", request.goal_position()));
  if (!std::isfinite(request.snap_radius()) || request.snap_radius() < 0) {
    return InvalidArgument(ErrorReason::kBadValue, "snap_radius", "is a finite number, 0 or more");
  }
  core::PathQuery query{.start = ToCell(request.start()), .goal = ToCell(request.goal())};
  WAYSTAR_ASSIGN_OR_RETURN(query.corner_rule, ToCornerRule(request.corner_rule()));
  WAYSTAR_ASSIGN_OR_RETURN(query.algorithm, ToAlgorithm(request.algorithm()));
  WAYSTAR_ASSIGN_OR_RETURN(query.unreachable_policy, ToUnreachablePolicy(request.unreachable_policy()));
  WAYSTAR_ASSIGN_OR_RETURN(query.path_form, ToPathForm(request.path_form()));
  WAYSTAR_ASSIGN_OR_RETURN(query.footprint, ToFootprint(request.footprint()));
  if (query.algorithm == core::Algorithm::kLazyThetaStar && query.path_form == core::PathForm::kDirections) {
    return InvalidArgument(ErrorReason::kBadValue, "path_form",
                           "a path that goes at any angle has no directions: ask for points");
  }
  return query;
}

bool HasSeveralGoals(const v1::FindPathRequest& request) {
  return !request.goals().empty() || !request.goal_positions().empty();
}

absl::Status CheckOneGoal(const v1::FindPathRequest& request) {
  if (!HasSeveralGoals(request)) {
    return absl::OkStatus();
  }
  return InvalidArgument(ErrorReason::kBadValue, request.goals().empty() ? "goal_positions" : "goals",
                         "only one goal can be asked for here");
}

std::uint64_t MaxExpansionsOf(const v1::FindPathRequest& request) {
  return request.max_expansions() > 0 ? request.max_expansions() : std::numeric_limits<std::uint64_t>::max();
}

absl::StatusOr<std::size_t> ToMaxEvents(const v1::TraceSearchRequest& request) {
  constexpr int kDefault = 100'000;
  constexpr int kMost = 1'000'000;
  const int max_events = request.max_events();
  if (max_events < 0 || max_events > kMost) {
    return InvalidArgument(ErrorReason::kBadValue, "max_events",
                           absl::StrCat("a trace has from 1 to ", kMost, " events, not ", max_events));
  }
  return static_cast<std::size_t>(max_events == 0 ? kDefault : max_events);
}

void FillCell(core::Cell cell, v1::Cell& out) {
  out.set_x(cell.x);
  out.set_y(cell.y);
}

void FillPathResult(const core::PathResult& result, v1::FindPathResponse& response) {
  response.set_outcome(FromOutcome(result.outcome));
  response.set_reason(FromReason(result.reason));
  response.set_cost(result.cost);
  response.mutable_directions()->Reserve(static_cast<int>(result.directions.size()));
  for (const core::Direction direction : result.directions) {
    response.add_directions(static_cast<v1::Direction>(static_cast<int>(direction) + 1));
  }
  if (result.outcome != core::Outcome::kUnreachable) {
    FillCell(result.end, *response.mutable_end());
  }
  FillStatistics(result.statistics, *response.mutable_statistics());
}

void FillPoints(absl::Span<const core::Cell> points, v1::FindPathResponse& response) {
  response.mutable_points()->Reserve(static_cast<int>(points.size()));
  for (const core::Cell point : points) {
    FillCell(point, *response.add_points());
  }
}

void FillStatistics(const core::SearchStatistics& statistics, v1::SearchStatistics& out) {
  out.set_expanded(statistics.expanded);
  out.set_generated(statistics.generated);
  out.set_algorithm(FromAlgorithm(statistics.algorithm));
}

void FillPositions(absl::Span<const core::Cell> points, const core::WorldFrame& frame,
                   v1::FindPathResponse& response) {
  response.mutable_positions()->Reserve(response.positions_size() + static_cast<int>(points.size()));
  for (const core::Cell point : points) {
    FillPosition(frame.CenterOf(point), *response.add_positions());
  }
}

void AddSummary(const core::PathSummary& summary, const core::GridSettings& settings, v1::PathSummary& out) {
  const double cell_size = settings.frame.cell_size;
  out.set_length(out.length() + summary.length * cell_size);
  out.set_turns(out.turns() + summary.turns);
  for (const core::PathLeg& leg : summary.legs) {
    v1::PathSummary::Leg& written = *out.add_legs();
    written.set_terrain(std::string(1, settings.terrains[leg.terrain].symbol));
    written.set_cells(leg.cells);
    written.set_length(leg.length * cell_size);
    written.set_cost(leg.cost);
  }
}

void FillSearchEvent(const core::SearchEvent& event, v1::SearchEvent& out) {
  const bool is_generated = event.kind == core::SearchEvent::Kind::kGenerated;
  out.set_kind(is_generated ? v1::SearchEvent::KIND_GENERATED : v1::SearchEvent::KIND_EXPANDED);
  FillCell(event.cell, *out.mutable_cell());
  if (is_generated && event.parent != event.cell) {
    FillCell(event.parent, *out.mutable_parent());
  }
  out.set_g(core::CostToDouble(event.g));
  out.set_f(core::CostToDouble(event.f));
}

}  // namespace waystar::rpc
