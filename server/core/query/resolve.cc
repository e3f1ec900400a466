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
#include "server/core/nearest/nearest_goal.h"
#include "server/core/query/readiness.h"
#include "server/core/query/route_query_check.h"
#include "server/core/search/interruption.h"
#include "server/core/search/snap.h"
#include "server/core/walk/footprint.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {
namespace {

absl::StatusOr<GraphPlace> ToPlace(const RouteEnd& end, absl::string_view name) {
  if (!end.node.empty() && end.position.has_value()) {
    return MakeError(ErrorReason::kBadValue, absl::StrCat(name, "_position"),
                     absl::StrCat("give ", name, "_node or ", name, "_position, not both"));
  }
  if (end.position.has_value()) {
    return WorldPoint{end.position->x, end.position->y, end.position->z};
  }
  if (end.node.empty()) {
    const std::string field = absl::StrCat(name, "_node");
    return MakeError(ErrorReason::kMissingField, field, absl::StrCat(field, " is required"));
  }
  return end.node;
}

absl::StatusOr<GraphQuery> ResolveOnGraph(const RouteQuery& query, absl::string_view map) {
  WAYSTAR_RETURN_IF_ERROR(CheckOnGraph(query, map));
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
      return MakeError(ErrorReason::kOffMap, field,
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

bool SearchesByJumps(Algorithm algorithm) {
  return algorithm == Algorithm::kAuto || algorithm == Algorithm::kJumpPoint;
}

ResolvedRoute WithWishes(const MapSnapshot& snapshot, const RouteQuery& query) {
  return {.snapshot = &snapshot,
          .max_expansions = query.max_expansions,
          .with_positions = query.with_positions || query.start.position.has_value() ||
                            query.goal.position.has_value() || !query.goal_positions.empty(),
          .with_summary = query.with_summary};
}

absl::StatusOr<ResolvedRoute> ResolveOnGrid(const std::shared_ptr<ResolvedAgent>& agent,
                                            const MapSnapshot& snapshot, const RouteQuery& query,
                                            const Budget& budget) {
  absl::StatusOr<ResolvedRoute> resolved(WithWishes(snapshot, query));
  GridRouteQuery& grid = resolved->grid();
  grid.agent = agent;
  grid.path = {.corner_rule = query.agent.corner_rule.value_or(agent->corner_rule()),
               .algorithm = query.algorithm,
               .unreachable_policy = query.unreachable_policy,
               .path_form = query.path_form,
               .footprint = query.agent.footprint.value_or(agent->footprint())};
  WAYSTAR_RETURN_IF_ERROR(CheckFootprint(grid.path.footprint));
  // The agent is ready as it is; a query that shares it may move otherwise.
  WAYSTAR_RETURN_IF_ERROR(MakeReady(agent->map(), grid.path.footprint, grid.path.corner_rule,
                                    SearchesByJumps(query.algorithm), BudgetOn(snapshot, budget)));
  if (query.goal_map != snapshot.id) {
    grid.goal_map = query.goal_map;
  }
  WAYSTAR_RETURN_IF_ERROR(ResolveEndpoints(query, BudgetOn(snapshot, budget), grid));
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
  WAYSTAR_RETURN_IF_ERROR(CheckOnGrid(query));
  WAYSTAR_ASSIGN_OR_RETURN(std::shared_ptr<ResolvedAgent> agent,
                           ResolvedAgent::Make(snapshot, query.agent, std::move(others),
                                               SearchesByJumps(query.algorithm), budget));
  return ResolveOnGrid(agent, snapshot, query, budget);
}

absl::StatusOr<ResolvedRoute> ResolveFor(const std::shared_ptr<ResolvedAgent>& agent,
                                         const MapSnapshot& snapshot, const RouteQuery& query,
                                         const Budget& budget) {
  WAYSTAR_RETURN_IF_ERROR(CheckOnGrid(query));
  return ResolveOnGrid(agent, snapshot, query, budget);
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

Budget BudgetOn(const MapSnapshot& snapshot, const Budget& budget) {
  Budget own = budget;
  own.evicted = &snapshot.eviction.flag();
  return own;
}

}  // namespace waystar::core
