#include "server/core/query/solve.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "server/base/error.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/engines/goal_search.h"
#include "server/core/mesh/search/mesh_path.h"
#include "server/core/query/clip.h"
#include "server/core/query/find_mesh_paths.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

using Clock = std::chrono::steady_clock;

Budget BudgetOf(const ResolvedRoute& resolved, const Budget& budget) {
  Budget own = BudgetOn(*resolved.snapshot, budget);
  own.max_expansions = std::min(own.max_expansions, resolved.max_expansions);
  own.max_cost = resolved.max_cost;
  return own;
}

// Returns the query to search for. Every cell of a path that is to be clipped is needed.
PathQuery SearchedQuery(const ResolvedRoute& resolved) {
  PathQuery query = resolved.grid().path;
  if (!resolved.clip.empty()) {
    query.path_form = PathForm::kEveryCell;
  }
  return query;
}

absl::StatusOr<Route> ToRoute(const ResolvedRoute& resolved, const PortalPath& found,
                              std::chrono::nanoseconds searching) {
  const GridRouteQuery& query = resolved.grid();
  const bool is_any_angle = found.path.statistics.algorithm == Algorithm::kLazyThetaStar;
  Route route{.path = found.path,
              .form = is_any_angle ? PathForm::kSmoothed : query.path.path_form,
              .start = query.path.start,
              .crossings = found.crossings,
              .searching = searching};
  for (const PortalCrossing& crossing : found.crossings) {
    route.crossing_versions.push_back(query.agent->VersionOf(crossing.portal->to_map));
    // A portal within another map stays there.
    const bool stays = crossing.portal->to_map.empty() && !route.crossing_boards.empty();
    route.crossing_boards.push_back(stays ? route.crossing_boards.back()
                                          : query.agent->BoardOf(crossing.portal->to_map));
  }
  if (!query.goals.empty() && found.path.outcome == Outcome::kFound) {
    route.goal_index = found.goal_index;
  }
  if (!resolved.clip.empty()) {
    WAYSTAR_RETURN_IF_ERROR(ClipOnGrid(resolved, route));
  }
  AddExtras(resolved, route);
  return route;
}

absl::StatusOr<Route> SolveOn(const GridRouteQuery& query, const ResolvedRoute& resolved,
                              const Budget& budget, QueryScratch& scratch, SearchRecorder* recorder) {
  const Clock::time_point begin = Clock::now();
  EventRecorder* const cells = recorder == nullptr ? nullptr : &recorder->cells;
  const Budget own = BudgetOf(resolved, budget);
  // Short searches do not check the deadline themselves.
  if (begin >= own.deadline) {
    return InterruptionError(SearchEnd::kDeadline, 0);
  }
  const PathQuery path = SearchedQuery(resolved);
  const auto search = [&]() -> absl::StatusOr<PortalPath> {
    const GridMap& map = query.agent->map();
    if (query.HasPortals()) {
      PortalQuery portal_query = query.ToPortalQuery();
      portal_query.path = path;
      return FindPathThroughPortals(map, *query.agent, portal_query, own, scratch.scratch, cells);
    }
    PortalPath found;
    if (!query.goals.empty()) {
      WAYSTAR_ASSIGN_OR_RETURN(const NearestGoalResult nearest,
                               FindPathToNearest(map, path, query.goals, own, scratch.scratch));
      found = {.path = nearest.path, .goal_index = nearest.goal_index};
    } else if (cells == nullptr) {
      WAYSTAR_ASSIGN_OR_RETURN(found.path, FindPath(map, path, own, scratch.scratch));
    } else {
      cells->OnMap(kSameMap);
      WAYSTAR_ASSIGN_OR_RETURN(found.path, TraceSearch(map, path, own, scratch.scratch, *cells));
    }
    return found;
  };
  const absl::StatusOr<PortalPath> found = search();
  if (!found.ok()) {
    return InQuery(found.status());
  }
  return ToRoute(resolved, *found, Clock::now() - begin);
}

absl::StatusOr<Route> SolveOn(const GraphRouteQuery& asked, const ResolvedRoute& resolved,
                              const Budget& budget, QueryScratch& scratch, SearchRecorder* recorder) {
  const WaypointGraph& graph = asked.agent->graph();
  const GraphQuery& query = asked.path;
  const Clock::time_point begin = Clock::now();
  WAYSTAR_ASSIGN_OR_RETURN(const GraphPathResult found,
                           FindGraphPath(graph, query, BudgetOf(resolved, budget), scratch.graph_scratch,
                                         recorder == nullptr ? nullptr : &recorder->nodes));
  Route route{.path = {.outcome = found.outcome,
                       .reason = found.reason,
                       .cost = found.cost,
                       .bound = found.bound,
                       .least_cost = found.least_cost,
                       .statistics = found.statistics},
              .goal_index = found.outcome == Outcome::kFound ? found.goal_index : 0,
              .graph = &graph,
              .nodes = found.nodes,
              .starts_at_position = std::holds_alternative<WorldPoint>(query.start),
              .ends_at_position =
                  found.reaches_goal && std::holds_alternative<WorldPoint>(query.goals[found.goal_index]),
              .positions = PositionsOnGraph(graph, query, found),
              .searching = Clock::now() - begin};
  if (!resolved.clip.empty()) {
    WAYSTAR_RETURN_IF_ERROR(ClipOnGraph(graph, resolved.clip, route));
  }
  if (resolved.with_summary && !route.positions.empty()) {
    route.summary = SummaryOf(route.positions);
  }
  return route;
}

absl::StatusOr<Route> ToRoute(const MeshRouteQuery& asked, const ResolvedRoute& resolved,
                              MeshPortalPath whole, std::chrono::nanoseconds searching) {
  const MeshPathResult& found = whole.path;
  Route route;
  std::vector<WorldPoint> corners;
  if (!resolved.clip.empty()) {
    WAYSTAR_RETURN_IF_ERROR(ClipOnMesh(*asked.agent, resolved.clip, whole, corners, route));
  }
  route.path = {.outcome = found.outcome,
                .reason = found.reason,
                .cost = found.cost,
                .bound = found.bound,
                .least_cost = found.least_cost,
                .statistics = found.statistics};
  route.goal_index = found.outcome == Outcome::kFound ? found.goal_index : 0;
  route.mesh_crossings = std::move(whole.crossings);
  route.mesh_agent = asked.agent.get();
  route.searching = searching;
  for (const MeshCrossing& crossing : route.mesh_crossings) {
    route.crossing_versions.push_back(asked.agent->VersionOf(crossing.portal->to_map));
  }
  route.positions.assign(found.corners.begin(), found.corners.end());
  if (asked.with_corridor) {
    route.corridor = found.corridor;
  }
  if (asked.with_polygons) {
    route.polygons = found.corridor;
  }
  if (asked.with_surface && !found.corners.empty()) {
    route.surface = SurfaceOnMesh(*asked.agent, found, route.mesh_crossings);
  }
  if (resolved.with_summary && !found.corners.empty()) {
    route.summary = SummaryOnMesh(*asked.agent, found, route.mesh_crossings);
  }
  return route;
}

absl::StatusOr<Route> SolveOn(const MeshRouteQuery& asked, const ResolvedRoute& resolved,
                              const Budget& budget, QueryScratch& scratch, SearchRecorder* recorder) {
  const Budget own = BudgetOf(resolved, budget);
  IntervalRecorder* const intervals = recorder == nullptr ? nullptr : &recorder->intervals;
  const Clock::time_point begin = Clock::now();
  MeshPortalPath whole;
  if (asked.HasPortals() || recorder != nullptr) {
    WAYSTAR_RETURN_IF_ERROR(CheckUnweighted(*asked.agent));
  }
  if (asked.HasPortals()) {
    absl::StatusOr<MeshPortalPath> found =
        FindMeshPathThroughPortals(asked.agent->portals(), {.path = asked.path, .goal_map = asked.goal_map},
                                   own, scratch.mesh_scratch, intervals);
    // The other maps are known now.
    WAYSTAR_RETURN_IF_ERROR(CheckUnweighted(*asked.agent));
    WAYSTAR_ASSIGN_OR_RETURN(whole, std::move(found));
  } else {
    WAYSTAR_ASSIGN_OR_RETURN(
        whole.path, FindMeshPath(asked.agent->mesh(), asked.path, own, scratch.mesh_scratch, intervals));
  }
  if (recorder != nullptr) {
    recorder->intervals.Renumber([&](PolygonNumber polygon) { return asked.agent->NumberOnMap(polygon); });
  }
  return ToRoute(asked, resolved, std::move(whole), Clock::now() - begin);
}

}  // namespace

absl::StatusOr<Route> Solve(const ResolvedRoute& resolved, const Budget& budget, QueryScratch& scratch,
                            SearchRecorder* recorder) {
  return std::visit([&](const auto& query) { return SolveOn(query, resolved, budget, scratch, recorder); },
                    resolved.query);
}

absl::Status SolveMany(absl::Span<const ResolvedRoute* const> queries, const SharedAgent& shared,
                       const Budget& budget, QueryScratch& scratch, PathCrew* crew, RouteSink sink) {
  const auto* const on_grid = std::get_if<std::shared_ptr<ResolvedAgent>>(&shared);
  const auto* const on_mesh = std::get_if<std::shared_ptr<MeshAgent>>(&shared);
  std::vector<PathTask> tasks;
  std::vector<MeshPathTask> mesh_tasks;
  std::vector<std::size_t> indexes;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    if (queries[i] == nullptr) {
      continue;
    }
    const ResolvedRoute& resolved = *queries[i];
    if (on_grid != nullptr && !resolved.grid().HasPortals()) {
      const GridRouteQuery& query = resolved.grid();
      tasks.push_back({.query = SearchedQuery(resolved),
                       .goals = query.goals,
                       .max_expansions = resolved.max_expansions,
                       .max_cost = resolved.max_cost});
      indexes.push_back(i);
    } else if (on_mesh != nullptr && !resolved.mesh().HasPortals()) {
      mesh_tasks.push_back({.query = &resolved.mesh().path,
                            .max_expansions = resolved.max_expansions,
                            .max_cost = resolved.max_cost});
      indexes.push_back(i);
    } else {
      const absl::StatusOr<Route> route = Solve(resolved, budget, scratch);
      WAYSTAR_RETURN_IF_ERROR(EndsAll(route.status()) ? route.status() : sink(i, route));
    }
  }
  if (!mesh_tasks.empty()) {
    const auto take = [&](std::size_t task, const absl::StatusOr<MeshPathResult>& answer,
                          std::chrono::nanoseconds took) {
      const std::size_t index = indexes[task];
      return sink(index, answer.ok()
                             ? ToRoute(queries[index]->mesh(), *queries[index], {.path = *answer}, took)
                             : answer.status());
    };
    return FindMeshPaths((*on_mesh)->mesh(), mesh_tasks, BudgetOn((*on_mesh)->snapshot(), budget),
                         scratch.mesh_scratch, take);
  }
  if (tasks.empty()) {
    return absl::OkStatus();
  }
  const auto take = [&](std::size_t task, const absl::StatusOr<NearestGoalResult>& answer,
                        std::chrono::nanoseconds took) {
    if (!answer.ok()) {
      return sink(indexes[task], InQuery(answer.status()));
    }
    return sink(indexes[task], ToRoute(*queries[indexes[task]],
                                       {.path = answer->path, .goal_index = answer->goal_index}, took));
  };
  const ResolvedAgent& agent = **on_grid;
  const Budget own = BudgetOn(agent.snapshot(), budget);
  return crew != nullptr ? FindPaths(agent.map(), tasks, own, *crew, take)
                         : FindPaths(agent.map(), tasks, own, scratch.scratch, scratch.field_scratch, take);
}

bool EndsAll(const absl::Status& status) {
  return absl::IsDeadlineExceeded(status) || absl::IsCancelled(status) || absl::IsAborted(status);
}

}  // namespace waystar::core
