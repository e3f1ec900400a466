#include "server/core/query/resolve.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/core/grid/engines/goal_search.h"
#include "server/core/grid/walk/footprint_grids.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

// Converts the cell of a location on another map from the map's own layout to the plane.
Location OnPlane(const WorldFrame& frame, Location location) {
  if (location.cell.has_value()) {
    location.cell = frame.PlaneCellOf(*location.cell);
  }
  return location;
}

// Resolves the start on the query's own map, and the goals on theirs, if that exists.
absl::Status ResolveEndpoints(const RouteQuery& query, const Budget& budget, GridRouteQuery& resolved) {
  const GridMap& home = resolved.agent->map();
  const GridMap* goal_map = resolved.goal_map.empty() ? &home : resolved.agent->Find(resolved.goal_map);
  const int footprint = resolved.path.footprint;
  WAYSTAR_ASSIGN_OR_RETURN(
      resolved.path.start,
      LocationResolver(home, footprint, query.snap, budget).Resolve("start", query.start));
  const bool has_several = query.goals.size() > 1;
  if (has_several) {
    WAYSTAR_RETURN_IF_ERROR(CheckNearestQuery(resolved.path));
    resolved.goals.resize(query.goals.size());
  }
  if (goal_map == nullptr) {
    return absl::OkStatus();
  }
  const LocationResolver resolver(*goal_map, footprint, query.snap, budget);
  const auto resolve = [&](absl::string_view field, const Location& goal) {
    return goal_map == &home ? resolver.Resolve(field, goal)
                             : resolver.Resolve(field, OnPlane(goal_map->settings().frame, goal));
  };
  for (std::size_t i = 0; i < query.goals.size(); ++i) {
    absl::StatusOr<Cell> goal = resolve("", query.goals[i]);
    if (!goal.ok()) {
      return resolve(IndexedField("goals", i), query.goals[i]).status();
    }
    (has_several ? resolved.goals[i] : resolved.path.goal) = *goal;
  }
  return absl::OkStatus();
}

bool SearchesByJumps(Algorithm algorithm) {
  return algorithm == Algorithm::kAuto || algorithm == Algorithm::kJumpPoint;
}

double ToleranceOf(const RouteQuery& query, bool has_portals) {
  return has_portals || query.max_cost ? 0.0 : query.tolerance;
}

ResolvedRoute WithWishes(const MapSnapshot& snapshot, const RouteQuery& query) {
  const auto has_position = [](const Location& location) { return location.position.has_value(); };
  return {.snapshot = &snapshot,
          .max_expansions = query.max_expansions,
          .max_cost = ToMaxCost(query.max_cost).value_or(0),
          .clip = query.clip,
          .with_positions = query.with_positions || query.start.position.has_value() ||
                            std::ranges::any_of(query.goals, has_position),
          .with_summary = query.with_summary};
}

// These overloads resolve a checked query with an agent on a map of its kind.
absl::StatusOr<ResolvedRoute> ResolveWith(const std::shared_ptr<ResolvedAgent>& agent,
                                          const MapSnapshot& snapshot, const RouteQuery& query,
                                          const Budget& budget) {
  absl::StatusOr<ResolvedRoute> resolved(WithWishes(snapshot, query));
  GridRouteQuery& grid = resolved->query.emplace<GridRouteQuery>();
  grid.agent = agent;
  grid.path = {.corner_rule = agent->agent().corner_rule,
               .algorithm = query.algorithm,
               .unreachable_policy = query.unreachable_policy,
               .path_form = query.path_form,
               .footprint = agent->agent().footprint};
  if (query.goal_map != snapshot.id) {
    grid.goal_map = query.goal_map;
  }
  grid.path.tolerance = ToleranceOf(query, grid.HasPortals());
  WAYSTAR_RETURN_IF_ERROR(ResolveEndpoints(query, BudgetOn(snapshot, budget), grid));
  return resolved;
}

absl::StatusOr<ResolvedRoute> ResolveWith(const std::shared_ptr<const GraphAgent>& agent,
                                          const MapSnapshot& snapshot, const RouteQuery& query,
                                          const Budget& budget) {
  absl::StatusOr<ResolvedRoute> resolved(WithWishes(snapshot, query));
  GraphRouteQuery& graph = resolved->query.emplace<GraphRouteQuery>();
  graph.agent = agent;
  graph.path = {.start = ToPlace(query.start),
                .snap_radius = query.snap.value_or(Snap()).radius,
                .algorithm = query.algorithm,
                .unreachable_policy = query.unreachable_policy,
                .required_tags = agent->required_tags(),
                .tolerance = ToleranceOf(query, false)};
  std::size_t positions = 0;
  for (const Location& goal : query.goals) {
    positions += goal.position.has_value() ? 1 : 0;
    graph.path.goals.push_back(ToPlace(goal));
  }
  WAYSTAR_RETURN_IF_ERROR(BeginToPlace(positions, budget));
  return resolved;
}

absl::StatusOr<ResolvedRoute> ResolveWith(const std::shared_ptr<MeshAgent>& agent,
                                          const MapSnapshot& snapshot, const RouteQuery& query,
                                          const Budget& budget) {
  absl::StatusOr<ResolvedRoute> resolved(WithWishes(snapshot, query));
  MeshRouteQuery& mesh = resolved->query.emplace<MeshRouteQuery>();
  mesh.agent = agent;
  mesh.path.start = *query.start.position;
  mesh.path.snap = ToMeshSnap(query.snap);
  mesh.path.algorithm = query.algorithm;
  mesh.path.unreachable_policy = query.unreachable_policy;
  for (const Location& goal : query.goals) {
    mesh.path.goals.push_back(*goal.position);
  }
  if (query.goal_map != snapshot.id) {
    mesh.goal_map = query.goal_map;
  }
  mesh.path.tolerance = ToleranceOf(query, mesh.HasPortals());
  mesh.with_corridor = query.with_corridor;
  mesh.with_surface = query.with_surface;
  mesh.with_polygons = query.with_polygons;
  WAYSTAR_RETURN_IF_ERROR(BeginToPlace(query.goals.size(), budget));
  return resolved;
}

}  // namespace

MeshSnap ToMeshSnap(const std::optional<Snap>& snap) {
  MeshSnap out;
  if (snap.has_value()) {
    out.radius = snap->radius;
    out.height = snap->height.value_or(out.height);
  }
  return out;
}

GraphPlace ToPlace(const Location& location) {
  if (location.position.has_value()) {
    return *location.position;
  }
  return location.node;
}

absl::Status BeginToPlace(std::size_t positions, const Budget& budget) {
  constexpr std::size_t kFew = 16;
  // Cost of finding the node of one position, in cells of upkeep.
  constexpr std::uint64_t kWork = 8'192;
  return positions <= kFew ? absl::OkStatus() : BeginUpkeep(budget, positions * kWork);
}

bool MeshRouteQuery::HasPortals() const { return !goal_map.empty() || !agent->mesh().portals().empty(); }

bool GridRouteQuery::HasPortals() const { return !goal_map.empty() || !agent->map().portals().empty(); }

PortalQuery GridRouteQuery::ToPortalQuery() const {
  return {.path = path, .goal_map = goal_map, .goals = goals, .required_tags = agent->required_tags()};
}

absl::StatusOr<ResolvedRoute> Resolve(const MapSnapshot& snapshot, const RouteQuery& query, OtherMaps others,
                                      const Budget& budget) {
  WAYSTAR_RETURN_IF_ERROR(CheckQuery(query, snapshot.kind(), snapshot.id));
  WAYSTAR_ASSIGN_OR_RETURN(const SharedAgent agent, ResolveAgent(snapshot, query.agent, std::move(others),
                                                                 budget, SearchesByJumps(query.algorithm)));
  return std::visit([&](const auto& of_kind) { return ResolveWith(of_kind, snapshot, query, budget); },
                    agent);
}

absl::StatusOr<SharedAgent> ResolveAgent(const MapSnapshot& snapshot, const AgentQuery& query,
                                         OtherMaps others, const Budget& budget, bool by_jumps) {
  switch (snapshot.kind()) {
    case MapKind::kSquares:
    case MapKind::kHexagons:
      return ResolvedAgent::Make(snapshot, query, std::move(others), by_jumps, budget);
    case MapKind::kWaypointGraph:
      return GraphAgent::Make(snapshot, query, others.store.memory(), budget);
    case MapKind::kMesh:
      break;
  }
  return MeshAgent::Make(snapshot, query, std::move(others), budget);
}

absl::StatusOr<ResolvedRoute> ResolveFor(const SharedAgent& agent, const MapSnapshot& snapshot,
                                         const RouteQuery& query, const Budget& budget) {
  WAYSTAR_RETURN_IF_ERROR(CheckQuery(query, snapshot.kind(), snapshot.id));
  return std::visit([&](const auto& of_kind) { return ResolveWith(of_kind, snapshot, query, budget); },
                    agent);
}

absl::Status InQuery(const absl::Status& status) {
  const std::string field = ErrorFieldOf(status);
  if (field == "goal") {
    return WithField(status, IndexedField("goals", 0));
  }
  return field == "footprint" ? WithField(status, "agent.footprint") : status;
}

Budget BudgetOn(const MapSnapshot& snapshot, const Budget& budget) {
  Budget own = budget;
  own.evicted = &snapshot.eviction.flag();
  return own;
}

}  // namespace waystar::core
