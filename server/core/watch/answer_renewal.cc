#include "server/core/watch/answer_renewal.h"

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/query/solve.h"
#include "server/core/watch/graph_answer.h"
#include "server/core/watch/grid_answer.h"
#include "server/core/watch/mesh_answer.h"

namespace waystar::core {
namespace {

// Returns false if the queries differ: a named profile was redefined, or a location snaps to another cell.
bool IsSameQuery(const PathQuery& a, const PathQuery& b) {
  return a.start == b.start && a.goal == b.goal && a.footprint == b.footprint &&
         a.corner_rule == b.corner_rule;
}

// An answer depends on more than its path if the start snaps to a cell or if obstacles are ignored.
GridAnswer::Basis BasisOf(const RouteQuery& query, const GridMap& seen, const GridMap& map) {
  const std::optional<Overlay>& overlay = query.agent.overlay;
  if (query.snap.has_value() || (overlay.has_value() && !overlay->ignored_obstacles.empty())) {
    return GridAnswer::Basis::kMore;
  }
  return seen.settings() == map.settings() ? GridAnswer::Basis::kMap : GridAnswer::Basis::kView;
}

absl::StatusOr<GraphPathResult> OnGraph(const absl::StatusOr<Route>& route) {
  if (!route.ok()) {
    return route.status();
  }
  return GraphPathResult{.outcome = route->path.outcome, .cost = route->path.cost, .nodes = route->nodes};
}

}  // namespace

AnswerRenewal::AnswerRenewal(const MapStore& store, const MapSnapshot& snapshot,
                             const PathSubscription& subscription)
    : store_(store), snapshot_(snapshot), query_(subscription.query), last_(subscription.answer()) {}

absl::StatusOr<Route> AnswerRenewal::Search(const Budget& budget, QueryScratch& scratch) {
  const OtherMaps none{.store = store_, .may_visit = [](absl::string_view /*id*/) { return false; }};
  WAYSTAR_ASSIGN_OR_RETURN(resolved_, Resolve(snapshot_, query_, none, budget));
  absl::StatusOr<Route> route = Solve(*resolved_, budget, scratch);
  // The path must be read before the scratch is reused.
  if (const auto* on_graph = std::get_if<GraphRouteQuery>(&resolved_->query)) {
    Judge(on_graph->agent->graph(), on_graph->path, OnGraph(route));
  } else if (std::holds_alternative<MeshRouteQuery>(resolved_->query)) {
    JudgeOnMesh(route);
  } else {
    const GridRouteQuery& query = resolved_->grid();
    Judge(query.agent->map(), query.path, query.agent->required_tags(),
          route.ok() ? absl::StatusOr<PortalPath>(route->portal_path()) : route.status());
  }
  return route;
}

void AnswerRenewal::TakeError(const absl::Status& error) {
  if (const WaypointGraph* const graph = snapshot_.as_graph()) {
    Judge(*graph, GraphQuery(), error);
    return;
  }
  if (snapshot_.as_mesh() != nullptr) {
    JudgeOnMesh(error);
    return;
  }
  const Location goal = query_.goals.empty() ? Location() : query_.goals.front();
  Judge(snapshot_.grid(), {.start = query_.start.cell.value_or(Cell()), .goal = goal.cell.value_or(Cell())},
        {}, error);
}

void AnswerRenewal::Judge(const GridMap& map, const PathQuery& query,
                          absl::Span<const std::string> required_tags,
                          const absl::StatusOr<PortalPath>& result) {
  // A map never changes its kind.
  const auto* const last = static_cast<const GridAnswer*>(last_.get());
  is_news_ = last == nullptr || !IsSameQuery(last->query(), query) ||
             last->connectivity() != map.settings().connectivity ||
             last->IsOutdatedBy(map, result, required_tags);
  const GridAnswer::Basis basis = BasisOf(query_, map, snapshot_.grid());
  // The subscriber keeps the path that it was sent, even if another of the same cost was found.
  answer_ = is_news_ || !last->has_path() ? std::make_shared<const GridAnswer>(map, query, result, basis)
                                          : std::make_shared<const GridAnswer>(last->On(map, basis));
}

void AnswerRenewal::Judge(const WaypointGraph& graph, const GraphQuery& query,
                          const absl::StatusOr<GraphPathResult>& result) {
  const auto* const last = static_cast<const GraphAnswer*>(last_.get());
  is_news_ = last == nullptr || last->IsOutdatedBy(graph, result);
  answer_ = is_news_
                ? std::make_shared<const GraphAnswer>(graph, query, result, &graph != snapshot_.as_graph())
                : last_;
}

void AnswerRenewal::JudgeOnMesh(const absl::StatusOr<Route>& route) {
  const auto* const last = static_cast<const MeshAnswer*>(last_.get());
  auto answer = std::make_shared<const MeshAnswer>(route);
  is_news_ = last == nullptr || !last->IsSameAs(*answer);
  answer_ = is_news_ ? std::move(answer) : last_;
}

}  // namespace waystar::core
