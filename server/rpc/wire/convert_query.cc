#include "server/rpc/wire/convert_query.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/rpc/wire/convert.h"
#include "server/rpc/wire/convert_profile.h"
#include "server/rpc/wire/convert_shape.h"

namespace waystar::rpc {
namespace {

core::RouteEnd ToRouteEnd(bool has_cell, const v1::Cell& cell, bool has_position,
                          const v1::Position& position, const std::string& node,
                          const HexCoordinates& coordinates) {
  core::RouteEnd end{.node = node};
  if (has_cell) {
    end.cell = coordinates.ToPlane(ToCell(cell));
  }
  if (has_position) {
    end.position = ToPosition(position);
  }
  return end;
}

}  // namespace

absl::StatusOr<core::RouteQuery> ToRouteQuery(const v1::FindPathRequest& request,
                                              const HexCoordinates& coordinates) {
  // Filled where it is returned: it is large, and batches have thousands.
  absl::StatusOr<core::RouteQuery> result;
  core::RouteQuery& query = result.emplace();
  query.start = ToRouteEnd(request.has_start(), request.start(), request.has_start_position(),
                           request.start_position(), request.start_node(), coordinates);
  query.goal = ToRouteEnd(request.has_goal(), request.goal(), request.has_goal_position(),
                          request.goal_position(), request.goal_node(), coordinates);
  query.goals = ToCells(request.goals(), coordinates);
  query.goal_positions.reserve(static_cast<std::size_t>(request.goal_positions_size()));
  for (const v1::Position& position : request.goal_positions()) {
    query.goal_positions.push_back(ToPosition(position));
  }
  query.goal_map = request.goal_map();
  WAYSTAR_ASSIGN_OR_RETURN(query.agent, ToAgentQuery(request, coordinates));
  query.snap_radius = request.snap_radius();
  WAYSTAR_ASSIGN_OR_RETURN(query.algorithm, ToAlgorithm(request.algorithm()));
  WAYSTAR_ASSIGN_OR_RETURN(query.unreachable_policy, ToUnreachablePolicy(request.unreachable_policy()));
  WAYSTAR_ASSIGN_OR_RETURN(query.path_form, ToPathForm(request.path_form()));
  if (request.max_expansions() > 0) {
    query.max_expansions = request.max_expansions();
  }
  query.with_positions = request.with_positions();
  query.with_summary = request.with_summary();
  return result;
}

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

absl::StatusOr<std::size_t> ToMaxEvents(const v1::TraceSearchRequest& request) {
  constexpr int kDefault = 100'000;
  constexpr int kMost = 1'000'000;
  const int max_events = request.max_events();
  if (max_events < 0 || max_events > kMost) {
    return MakeError(ErrorReason::kBadValue, "max_events",
                     absl::StrCat("a trace has from 1 to ", kMost, " events, not ", max_events));
  }
  return static_cast<std::size_t>(max_events == 0 ? kDefault : max_events);
}

absl::Status SetProfile(const v1::MovementProfile& profile, core::AgentQuery& agent) {
  absl::StatusOr<core::MovementProfile> converted = ToMovementProfile(profile);
  if (!converted.ok()) {
    return WithFieldPrefix(converted.status(), "profile.");
  }
  agent.profile = *std::move(converted);
  return absl::OkStatus();
}

absl::Status SetOverlay(const v1::Overlay& overlay, const HexCoordinates& coordinates,
                        core::AgentQuery& agent) {
  absl::StatusOr<core::Shape> blocked = ToShape(overlay.blocked(), coordinates);
  if (!blocked.ok()) {
    return WithFieldPrefix(blocked.status(), "overlay.blocked.");
  }
  agent.overlay = core::Overlay{
      .blocked = *std::move(blocked),
      .ignored_obstacles = {overlay.ignored_obstacles().begin(), overlay.ignored_obstacles().end()}};
  return absl::OkStatus();
}

absl::Status SetRules(v1::CornerRule corner_rule, std::int32_t footprint, core::AgentQuery& agent) {
  if (corner_rule != v1::CORNER_RULE_UNSPECIFIED) {
    WAYSTAR_ASSIGN_OR_RETURN(agent.corner_rule, ToCornerRule(corner_rule));
  }
  if (footprint != 0) {
    agent.footprint = footprint;
  }
  return absl::OkStatus();
}

}  // namespace waystar::rpc
