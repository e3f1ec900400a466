#include "server/service/convert/convert_query.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/search/checks.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_graph.h"
#include "server/service/convert/convert_profile.h"
#include "server/service/convert/convert_shape.h"

namespace waystar::rpc {
namespace {

absl::Status SetOverlay(const v1::Overlay& overlay, const HexCoordinates& coordinates,
                        core::AgentQuery& agent) {
  absl::StatusOr<core::Shape> blocked = ToShape(overlay.blocked(), coordinates);
  if (!blocked.ok()) {
    return WithFieldPrefix(blocked.status(), "view.overlay.blocked.");
  }
  agent.overlay = core::Overlay{
      .blocked = *std::move(blocked),
      .ignored_obstacles = {overlay.ignored_obstacles().begin(), overlay.ignored_obstacles().end()},
      .blocked_nodes = {overlay.blocked_nodes().begin(), overlay.blocked_nodes().end()},
      .blocked_edges = ToEdgeNames(overlay.blocked_edges())};
  absl::StatusOr<core::HeightRange> heights = ToHeightRange(overlay.blocked_heights());
  if (!heights.ok()) {
    return WithFieldPrefix(heights.status(), "view.overlay.blocked_heights.");
  }
  agent.overlay->blocked_heights = *heights;
  return absl::OkStatus();
}

absl::Status SetMovement(const v1::Agent& from, core::AgentQuery& agent) {
  if (from.has_profile()) {
    absl::StatusOr<core::MovementProfile> profile = ToMovementProfile(from.profile());
    if (!profile.ok()) {
      return WithFieldPrefix(profile.status(), "profile.");
    }
    agent.profile = *std::move(profile);
  }
  if (from.has_profile_name()) {
    agent.profile_name = from.profile_name();
  }
  if (from.corner_rule() != v1::CORNER_RULE_UNSPECIFIED) {
    WAYSTAR_ASSIGN_OR_RETURN(agent.corner_rule, ToCornerRule(from.corner_rule()));
  }
  if (from.footprint() != 0) {
    agent.footprint = from.footprint();
  }
  return absl::OkStatus();
}

}  // namespace

core::Location ToLocation(const v1::Location& location, const HexCoordinates& coordinates) {
  core::Location converted;
  switch (location.place_case()) {
    case v1::Location::kCell:
      converted.cell = coordinates.ToPlane(ToCell(location.cell()));
      break;
    case v1::Location::kPosition:
      converted.position = ToWorldPoint(location.position());
      break;
    case v1::Location::kNode:
      converted.node = location.node();
      break;
    case v1::Location::PLACE_NOT_SET:
      break;
  }
  return converted;
}

std::optional<core::Snap> ToSnap(bool is_given, const v1::Snap& snap) {
  if (!is_given) {
    return std::nullopt;
  }
  return core::Snap{.radius = snap.radius(),
                    .height = snap.has_height() ? std::optional(snap.height()) : std::nullopt};
}

absl::StatusOr<core::AgentQuery> ToAgentQuery(const v1::Agent& agent, const v1::View& view,
                                              const HexCoordinates& coordinates) {
  absl::StatusOr<core::AgentQuery> result;
  core::AgentQuery& query = result.emplace();
  if (absl::Status status = SetMovement(agent, query); !status.ok()) {
    return WithFieldPrefix(status, "agent.");
  }
  if (view.has_overlay()) {
    WAYSTAR_RETURN_IF_ERROR(SetOverlay(view.overlay(), coordinates, query));
  }
  return result;
}

absl::StatusOr<core::RouteQuery> ToRouteQuery(const v1::FindPathRequest& request, absl::string_view map,
                                              const HexCoordinates& coordinates) {
  // Filled in place: it is large, and batches have thousands.
  absl::StatusOr<core::RouteQuery> result;
  core::RouteQuery& query = result.emplace();
  WAYSTAR_ASSIGN_OR_RETURN(query.agent, ToAgentQuery(request.agent(), request.view(), coordinates));
  query.snap = ToSnap(request.has_snap(), request.snap());
  query.start = ToLocation(request.start(), coordinates);
  // Locations are large, and messages may have a million of them.
  WAYSTAR_RETURN_IF_ERROR(
      core::CheckCount("goals", static_cast<std::size_t>(request.goals_size()), core::kMaxGoals));
  // The core knows the coordinates of other maps.
  const bool are_here = request.goal_map().empty() || request.goal_map() == map;
  const HexCoordinates at_goals = are_here ? coordinates : HexCoordinates();
  query.goals.reserve(static_cast<std::size_t>(request.goals_size()));
  for (const v1::Location& goal : request.goals()) {
    query.goals.push_back(ToLocation(goal, at_goals));
  }
  query.goal_map = request.goal_map();
  WAYSTAR_ASSIGN_OR_RETURN(query.algorithm, ToAlgorithm(request.algorithm()));
  WAYSTAR_ASSIGN_OR_RETURN(query.unreachable_policy, ToUnreachablePolicy(request.unreachable_policy()));
  WAYSTAR_ASSIGN_OR_RETURN(query.path_form, ToPathForm(request.path_form()));
  if (request.max_expansions() > 0) {
    query.max_expansions = request.max_expansions();
  }
  query.with_positions = request.with_positions();
  query.with_summary = request.with_summary();
  query.with_corridor = request.with_corridor();
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
    case v1::ALGORITHM_POLYANYA:
      return core::Algorithm::kPolyanya;
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

}  // namespace waystar::rpc
