#include "server/core/query/resolve.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/map/portal.h"
#include "server/core/query/endpoints.h"
#include "server/core/walk/footprint.h"

namespace waystar::core {
namespace {

absl::Status WrongKind(absl::string_view field, absl::string_view message) {
  return MakeError(absl::StatusCode::kFailedPrecondition, ErrorReason::kWrongMapKind, field, message);
}

absl::Status CheckHasNoNodes(const RouteQuery& query) {
  if (query.start.node.empty() && query.goal.node.empty()) {
    return absl::OkStatus();
  }
  return WrongKind(query.start.node.empty() ? "goal_node" : "start_node",
                   "is for FindPath on waypoint graphs; this is a query on a grid");
}

absl::Status CheckHasNoGridFields(const RouteQuery& query, absl::string_view map) {
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
      return WrongKind(field, "is for grids; the map is a waypoint graph");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<GraphPlace> ToPlace(const RouteEnd& end, absl::string_view name) {
  if (!end.node.empty() && end.position.has_value()) {
    return InvalidArgument(ErrorReason::kBadValue, absl::StrCat(name, "_position"),
                           absl::StrCat("give ", name, "_node or ", name, "_position, not both"));
  }
  if (end.position.has_value()) {
    return WorldPoint{end.position->x, end.position->y, end.position->z};
  }
  if (end.node.empty()) {
    const std::string field = absl::StrCat(name, "_node");
    return InvalidArgument(ErrorReason::kMissingField, field, absl::StrCat(field, " is required"));
  }
  return end.node;
}

absl::StatusOr<GraphQuery> ResolveOnGraph(const RouteQuery& query, absl::string_view map) {
  WAYSTAR_RETURN_IF_ERROR(CheckHasNoGridFields(query, map));
  GraphQuery resolved{.snap_radius = query.snap_radius,
                      .algorithm = query.algorithm,
                      .unreachable_policy = query.unreachable_policy};
  WAYSTAR_ASSIGN_OR_RETURN(resolved.start, ToPlace(query.start, "start"));
  WAYSTAR_ASSIGN_OR_RETURN(resolved.goal, ToPlace(query.goal, "goal"));
  if (query.agent.profile.has_value()) {
    resolved.required_tags = query.agent.profile->required_tags;
  }
  return resolved;
}

absl::Status CheckGridQuery(const RouteQuery& query) {
  WAYSTAR_RETURN_IF_ERROR(CheckHasNoNodes(query));
  WAYSTAR_RETURN_IF_ERROR(CheckEndpoints(query));
  if (query.algorithm == Algorithm::kLazyThetaStar && query.path_form == PathForm::kDirections) {
    return InvalidArgument(ErrorReason::kBadValue, "path_form",
                           "a path that goes at any angle has no directions: ask for points");
  }
  return absl::OkStatus();
}

absl::Status ResolveOnGrid(const std::shared_ptr<ResolvedAgent>& agent, const MapSnapshot& snapshot,
                           const RouteQuery& query, const Budget& budget, GridRouteQuery& resolved) {
  resolved.agent = agent;
  resolved.path = {.corner_rule = query.agent.corner_rule.value_or(agent->corner_rule()),
                   .algorithm = query.algorithm,
                   .unreachable_policy = query.unreachable_policy,
                   .path_form = query.path_form,
                   .footprint = query.agent.footprint.value_or(agent->footprint())};
  WAYSTAR_RETURN_IF_ERROR(CheckFootprint(resolved.path.footprint));
  if (query.goal_map != snapshot.id) {
    resolved.goal_map = query.goal_map;
  }
  return ResolveEndpoints(query, BudgetOn(snapshot, budget), resolved);
}

ResolvedRoute WithWishes(const MapSnapshot& snapshot, const RouteQuery& query) {
  return {.snapshot = &snapshot,
          .max_expansions = query.max_expansions,
          .with_positions = query.with_positions || query.start.position.has_value() ||
                            query.goal.position.has_value() || !query.goal_positions.empty(),
          .with_summary = query.with_summary};
}

absl::StatusOr<ResolvedRoute> ResolveWith(const std::shared_ptr<ResolvedAgent>& agent,
                                          const MapSnapshot& snapshot, const RouteQuery& query,
                                          const Budget& budget) {
  absl::StatusOr<ResolvedRoute> resolved(WithWishes(snapshot, query));
  WAYSTAR_RETURN_IF_ERROR(ResolveOnGrid(agent, snapshot, query, budget, resolved->grid()));
  return resolved;
}

}  // namespace

bool GridRouteQuery::HasPortals() const { return !goal_map.empty() || !agent->map().portals().empty(); }

PortalQuery GridRouteQuery::ToPortalQuery() const {
  return {.path = path, .goal_map = goal_map, .goals = goals, .required_tags = agent->required_tags()};
}

absl::StatusOr<ResolvedRoute> Resolve(const MapSnapshot& snapshot, const RouteQuery& query, OtherMaps others,
                                      const Budget& budget) {
  if (snapshot.is_graph()) {
    ResolvedRoute resolved = WithWishes(snapshot, query);
    WAYSTAR_ASSIGN_OR_RETURN(resolved.query, ResolveOnGraph(query, snapshot.id));
    return resolved;
  }
  WAYSTAR_RETURN_IF_ERROR(CheckGridQuery(query));
  WAYSTAR_ASSIGN_OR_RETURN(std::shared_ptr<ResolvedAgent> agent,
                           ResolvedAgent::Make(snapshot, query.agent, std::move(others)));
  return ResolveWith(agent, snapshot, query, budget);
}

absl::StatusOr<ResolvedRoute> ResolveFor(const std::shared_ptr<ResolvedAgent>& agent,
                                         const MapSnapshot& snapshot, const RouteQuery& query,
                                         const Budget& budget) {
  WAYSTAR_RETURN_IF_ERROR(CheckGridQuery(query));
  return ResolveWith(agent, snapshot, query, budget);
}

absl::Status CheckOneGoal(const RouteQuery& query) {
  if (!query.HasSeveralGoals()) {
    return absl::OkStatus();
  }
  return InvalidArgument(ErrorReason::kBadValue, query.goals.empty() ? "goal_positions" : "goals",
                         "only one goal can be asked for here");
}

Budget BudgetOn(const MapSnapshot& snapshot, const Budget& budget) {
  Budget own = budget;
  own.evicted = &snapshot.eviction.flag();
  return own;
}

}  // namespace waystar::core
